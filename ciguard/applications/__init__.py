"""Applications around cognitive services: who calls them, and what branches make of the answers.

`providers` say what services offer, as data; `finding` reads an application's text, runs nothing of
it, and tells which functions call them and which branches depend on what they answer; `judging`
tells which of their conditions no answer can change; `exploring` calls them with one made answer
after the other, in a process where `in_target` stands between the application and its clients. Here
live no levels and no reports.
"""

from __future__ import annotations

from ciguard.applications.exploring.explore import Crash, Explored, explore
from ciguard.applications.finding.application import Application, Unread, read_application
from ciguard.applications.finding.conditions import Branch, Goal, LiteralTest
from ciguard.applications.finding.findings import Decided, Found, Reach, find
from ciguard.applications.finding.values import Answer
from ciguard.applications.judging.dead_code import Dead, dead_conditions
from ciguard.applications.judging.vocabulary import Vocabulary, read_vocabulary
from ciguard.applications.providers.description import (
    Field,
    Operation,
    Provider,
    Task,
    known_providers,
    read_provider,
)

__all__ = [
    "Answer",
    "Application",
    "Branch",
    "Crash",
    "Dead",
    "Decided",
    "Explored",
    "Field",
    "Found",
    "Goal",
    "LiteralTest",
    "Operation",
    "Provider",
    "Reach",
    "Task",
    "Unread",
    "Vocabulary",
    "dead_conditions",
    "explore",
    "find",
    "known_providers",
    "read_application",
    "read_provider",
    "read_vocabulary",
]
