"""Exploration: call an application's functions with stub responses, until its goals are met.

Stub responses are enumerated from the literals that conditions compare with, then searched for at
random. The application's own code processes them, so that no model of it is needed.
"""

from ciguard.levels.app.exploration.answers import StubResponse
from ciguard.levels.app.exploration.arguments import arguments_for
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
from ciguard.levels.app.exploration.surroundings import Surroundings

__all__ = [
    "CALL_LIMIT_S",
    "CallDidNotReturn",
    "CallEnded",
    "Crash",
    "ExploredFunction",
    "FunctionCaller",
    "StubResponse",
    "Surroundings",
    "arguments_for",
    "confinement_of",
    "explore",
    "host_of",
    "plain_contents",
    "providers_of",
    "routines_of",
]
