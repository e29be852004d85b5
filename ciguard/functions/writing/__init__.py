"""Calls and tests as source text that people read and keep.

`call_source` writes calls and scripts. The rest writes plain Hypothesis tests that need nothing of
ciguard: `bounds` reads preconditions, `strategies` writes the values of an argument, `tests` the
test of a function, `files` whole files.
"""

from ciguard.functions.writing.call_source import CallSource, quoted
from ciguard.functions.writing.files import export_tests
from ciguard.functions.writing.scripts import (
    import_of_program,
    outer_statements,
    passed_by_name,
    postconditions,
)

__all__ = [
    "CallSource",
    "export_tests",
    "import_of_program",
    "outer_statements",
    "passed_by_name",
    "postconditions",
    "quoted",
]
