"""`ciguard doctor`: find what keeps ciguard from working, and what to change.

Each module checks one subject and returns diagnoses. The checks write nothing, and report problems
without raising exceptions.
"""

from ciguard.actions.checkup.baseline import examine_baseline
from ciguard.actions.checkup.confinement import examine_confinement
from ciguard.actions.checkup.diagnosis import Diagnosis, Health
from ciguard.actions.checkup.hosting import examine_hosting, repository_name
from ciguard.actions.checkup.machine import examine_machine
from ciguard.actions.checkup.workflows import Workflows, examine_workflows, read_workflows

__all__ = [
    "Diagnosis",
    "Health",
    "Workflows",
    "examine_baseline",
    "examine_confinement",
    "examine_hosting",
    "examine_machine",
    "examine_workflows",
    "read_workflows",
    "repository_name",
]
