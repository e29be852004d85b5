"""Static checks of annotations and calls, which run no user code.

`annotations` and `unsatisfiable` find errors in annotations, `validity` checks a changed call.
`about` describes, inside a case, the functions that its call needs.
"""

from ciguard.functions.checking.about import about_call, about_from_json
from ciguard.functions.checking.annotations import module_from_json, with_functions
from ciguard.functions.checking.validity import is_valid

__all__ = [
    "about_call",
    "about_from_json",
    "is_valid",
    "module_from_json",
    "with_functions",
]
