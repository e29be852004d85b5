"""Calls an application's functions with one answer after the other, until its goals are met.

Answers are made from the literals that conditions compare with, beside empty and many results; they
go through the application's own code, so what it makes of them needs no model.
"""

from ciguard.applications.exploring.answers import StubResponse
from ciguard.applications.exploring.arguments import arguments_for
from ciguard.applications.exploring.calling import (
    CALL_LIMIT_S,
    CallEnded,
    Endless,
    FunctionCaller,
    host_of,
    providers_of,
    routines_of,
)
from ciguard.applications.exploring.confinement import confinement_of
from ciguard.applications.exploring.contents import plain_contents
from ciguard.applications.exploring.explore import ExploredFunction, explore
from ciguard.applications.exploring.failures import Crash
from ciguard.applications.exploring.surroundings import Surroundings

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
