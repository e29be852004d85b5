"""Applications around cognitive services: who calls them, and what branches make of the answers.

`providers` has one folder for each provider; `finding` reads an application's text, runs nothing of
it, and tells which functions call them and which branches depend on what they answer; `judging`
tells which of their conditions no answer can change; `exploring` calls them with one made answer
after the other, in a process where `in_target` stands between the application and its clients.
`inverting` makes inputs in which people recognise something, `answering` answers in the place of a
service, `emulating` as a service of its own, `assessing` runs functions with both and judges them,
`repairing` suggests what to change.
Here live no levels and no reports.
"""

from __future__ import annotations

from ciguard.applications.answering.engine import Engine
from ciguard.applications.assessing.assess import Assessed, Verdict, assess
from ciguard.applications.assessing.robustness import Robustness
from ciguard.applications.assessing.trying import Trying, settings_for
from ciguard.applications.emulating.emulation import Emulating, Emulation, emulation
from ciguard.applications.emulating.remote import Silent, Speaking
from ciguard.applications.emulating.rest import Asked
from ciguard.applications.exploring.answers import Answered
from ciguard.applications.exploring.arguments import arguments_for
from ciguard.applications.exploring.calling import (
    CALL_LIMIT_S,
    Caller,
    Ended,
    Endless,
    host_of,
    providers_of,
    routines_of,
)
from ciguard.applications.exploring.confinement import confinement_of
from ciguard.applications.exploring.contents import plain_contents
from ciguard.applications.exploring.explore import Crash, Explored, explore
from ciguard.applications.exploring.surroundings import Surroundings
from ciguard.applications.finding.application import Application, Unread, read_application
from ciguard.applications.finding.conditions import Branch, Goal, LiteralTest
from ciguard.applications.finding.findings import Decided, Found, Given, Reach, find
from ciguard.applications.finding.values import Answer
from ciguard.applications.inverting.inputs import Input, Wanted
from ciguard.applications.judging import can_prove, contradictory_conditions
from ciguard.applications.judging.dead_code import Cause, Dead, dead_conditions
from ciguard.applications.judging.vocabulary import Vocabulary, read_vocabulary
from ciguard.applications.providers.description import (
    Field,
    Operation,
    Task,
    read_provider,
)
from ciguard.applications.providers.registered import known_providers, outside_hooks
from ciguard.applications.repairing.combining import combined_patches
from ciguard.applications.repairing.dead_conditions import nearest_in, repairs
from ciguard.applications.repairing.suggestions import Suggestion

__all__ = [
    "CALL_LIMIT_S",
    "Answer",
    "Answered",
    "Application",
    "Asked",
    "Assessed",
    "Branch",
    "Caller",
    "Cause",
    "Crash",
    "Dead",
    "Decided",
    "Emulating",
    "Emulation",
    "Ended",
    "Endless",
    "Engine",
    "Explored",
    "Field",
    "Found",
    "Given",
    "Goal",
    "Input",
    "LiteralTest",
    "Operation",
    "Reach",
    "Robustness",
    "Silent",
    "Speaking",
    "Suggestion",
    "Surroundings",
    "Task",
    "Trying",
    "Unread",
    "Verdict",
    "Vocabulary",
    "Wanted",
    "arguments_for",
    "assess",
    "can_prove",
    "combined_patches",
    "confinement_of",
    "contradictory_conditions",
    "dead_conditions",
    "emulation",
    "explore",
    "find",
    "host_of",
    "known_providers",
    "nearest_in",
    "outside_hooks",
    "plain_contents",
    "providers_of",
    "read_application",
    "read_provider",
    "read_vocabulary",
    "repairs",
    "routines_of",
    "settings_for",
]
