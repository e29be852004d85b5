"""Writes calls and tests as source text for users to read and keep.

`call_source` writes calls, `scripts` whole scripts. The other modules write plain Hypothesis tests
that do not need ciguard. `bounds` reads preconditions, `strategies` writes the values of an
argument, `tests` writes the test of a function and `files` whole files. `expression_text` writes
arithmetic, and `definitions` holds the functions that written files define.
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
