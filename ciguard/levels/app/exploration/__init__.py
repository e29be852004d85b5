"""Calls an application's functions with one answer after the other, until its goals are met.

Answers are made from the literals that conditions compare with, beside empty and many results; they
go through the application's own code, so what it makes of them needs no model.
"""

from ciguard.levels.app.exploration.answers import StubResponse
from ciguard.levels.app.exploration.arguments import arguments_for
from ciguard.levels.app.exploration.calling import (
    CALL_LIMIT_S,
    CallEnded,
    Endless,
    FunctionCaller,
    host_of,
    providers_of,
    routines_of,
)
from ciguard.levels.app.exploration.confinement import confinement_of
from ciguard.levels.app.exploration.contents import plain_contents
from ciguard.levels.app.exploration.explore import ExploredFunction, explore
from ciguard.levels.app.exploration.failures import Crash
from ciguard.levels.app.exploration.surroundings import Surroundings

__all__ = [
    "CALL_LIMIT_S",
    "CallEnded",
    "Crash",
    "Endless",
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
