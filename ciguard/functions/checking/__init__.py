"""Static checks of annotations and calls, which run no user code.

`annotations` and `unsatisfiable` find errors in annotations, `validity` checks a changed call.
`called_program` describes the functions that a case's call needs.
"""

from ciguard.functions.checking.annotations import module_from_json, module_with_functions
from ciguard.functions.checking.called_program import called_program_from_json, called_program_json
from ciguard.functions.checking.validity import is_valid

__all__ = [
    "called_program_from_json",
    "called_program_json",
    "is_valid",
    "module_from_json",
    "module_with_functions",
]
