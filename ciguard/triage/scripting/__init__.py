"""Functions that write parts of reproducer scripts, for all levels."""

from ciguard.triage.scripting.assembly import assemble_script, indented_try, source_of
from ciguard.triage.scripting.comparison import (
    comparison,
    comparison_functions,
    leaves_function,
    tolerances,
)
from ciguard.triage.scripting.environment import environment_statements
from ciguard.triage.scripting.guarding import CALL as GUARD_CALL
from ciguard.triage.scripting.guarding import END as GUARD_END
from ciguard.triage.scripting.guarding import is_guarded
from ciguard.triage.scripting.header import comment, header
from ciguard.triage.scripting.one_tensor import list_source
from ciguard.triage.scripting.timing import timing

__all__ = [
    "GUARD_CALL",
    "GUARD_END",
    "assemble_script",
    "comment",
    "comparison",
    "comparison_functions",
    "environment_statements",
    "header",
    "indented_try",
    "is_guarded",
    "leaves_function",
    "list_source",
    "source_of",
    "timing",
    "tolerances",
]
