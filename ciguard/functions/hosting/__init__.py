"""Programs in a process of their own, and what is said of their calls.

`host` starts the process and outlives it, `collecting` asks it for the functions of a program,
`executing` for a call; `verdicts` are the answers. What coverage.py measures there is taken back by
`measured`.
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
from ciguard.functions.hosting.measured import measured_options, merge_measured
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
