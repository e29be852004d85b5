"""Runs programs and their calls in a separate process, and returns verdicts.

`host` starts the process, and restarts it after a crash. `collecting` requests the functions of a
program from the process, `executing` requests calls, and `verdicts` are the results.
`session_coverage` shares coverage.py's settings with the process and merges its measurements.
"""

from ciguard.functions.hosting.collecting import (
    CollectedProgram,
    Mark,
    ProgramHosts,
    SkippedProgram,
    UnimportableProgram,
    collect,
)
from ciguard.functions.hosting.executing import Execution
from ciguard.functions.hosting.host import ProgramSettings
from ciguard.functions.hosting.session_coverage import coverage_options, merge_coverage
from ciguard.functions.hosting.verdicts import FailureKind

__all__ = [
    "CollectedProgram",
    "Execution",
    "FailureKind",
    "Mark",
    "ProgramHosts",
    "ProgramSettings",
    "SkippedProgram",
    "UnimportableProgram",
    "collect",
    "coverage_options",
    "merge_coverage",
]
