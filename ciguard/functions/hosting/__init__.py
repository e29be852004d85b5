"""Runs programs and their calls in a separate process, and returns verdicts.

`host` starts the process and outlives it. `collecting` requests the functions of a program from it,
`executing` requests calls, and `verdicts` are the results. `session_coverage` shares coverage.py's
settings with the process and merges what it measures.
"""

from ciguard.functions.hosting.collecting import (
    Broken,
    Collected,
    Hosts,
    Mark,
    SkippedProgram,
    collect,
)
from ciguard.functions.hosting.executing import Execution
from ciguard.functions.hosting.host import ProgramSettings
from ciguard.functions.hosting.session_coverage import measured_options, merge_measured
from ciguard.functions.hosting.verdicts import FailureKind

__all__ = [
    "Broken",
    "Collected",
    "Execution",
    "FailureKind",
    "Hosts",
    "Mark",
    "ProgramSettings",
    "SkippedProgram",
    "collect",
    "measured_options",
    "merge_measured",
]
