"""Functions that write parts of reproducer scripts, for all levels."""

from ciguard.triage.scripting.assembly import assembled, indented_try, source_of
from ciguard.triage.scripting.comparison import (
    comparison,
    functions,
    leaves_function,
    list_of,
    tolerances,
)
from ciguard.triage.scripting.header import comment, header
from ciguard.triage.scripting.timing import timing

__all__ = [
    "assembled",
    "comment",
    "comparison",
    "functions",
    "header",
    "indented_try",
    "leaves_function",
    "list_of",
    "source_of",
    "timing",
    "tolerances",
]
