"""Exploration: call an application's functions with stub responses to reach their goals.

Stub responses are enumerated from the literals that conditions compare with, then drawn at random.
The application's own code processes the responses, so that no model of the code is needed.
"""

from ciguard.levels.app.exploration.arguments import ONLY_CALLS_FUNCTIONS, arguments_for
from ciguard.levels.app.exploration.confinement import confinement_of
from ciguard.levels.app.exploration.contents import plain_contents
from ciguard.levels.app.exploration.explore import ExploredFunction, explore
from ciguard.levels.app.exploration.failures import Crash
from ciguard.levels.app.exploration.function_caller import (
    CALL_LIMIT_S,
    CallDidNotReturn,
    CallEnded,
    FunctionCaller,
    host_of,
    providers_of,
    routines_of,
)
from ciguard.levels.app.exploration.process_environment import ProcessEnvironment
from ciguard.levels.app.exploration.stub_response import StubResponse

__all__ = [
    "CALL_LIMIT_S",
    "ONLY_CALLS_FUNCTIONS",
    "CallDidNotReturn",
    "CallEnded",
    "Crash",
    "ExploredFunction",
    "FunctionCaller",
    "ProcessEnvironment",
    "StubResponse",
    "arguments_for",
    "confinement_of",
    "explore",
    "host_of",
    "plain_contents",
    "providers_of",
    "routines_of",
]
