"""Writes calls and tests as source text for users.

`call_source` writes calls, and `scripts` whole scripts. The other modules write Hypothesis tests
that do not need ciguard. `bounds` reads preconditions, `strategies` writes the strategy of an
argument, `tests` the test of a function and `files` whole files. `expression_text` writes
expressions, and `definitions` contains helper functions for the written files. `listed` locates
objects in annotations.
"""

from ciguard.functions.writing.call_source import CallSource, string_literal
from ciguard.functions.writing.definitions import (
    ANNOTATIONS_STAND_IN,
    ELEMENTS_HELPER,
    NAN_HELPER,
    STATE_HELPER,
)
from ciguard.functions.writing.files import export_tests
from ciguard.functions.writing.scripts import (
    import_of_program,
    outer_statements,
    passed_by_name,
    postconditions,
)

__all__ = [
    "ANNOTATIONS_STAND_IN",
    "ELEMENTS_HELPER",
    "NAN_HELPER",
    "STATE_HELPER",
    "CallSource",
    "export_tests",
    "import_of_program",
    "outer_statements",
    "passed_by_name",
    "postconditions",
    "string_literal",
]
