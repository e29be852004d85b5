"""What can be told without running anything of the user.

`annotations` and `unsatisfiable` say which annotations cannot be meant, `validity` whether a call
that was changed still keeps to them, `about` what a case knows of the functions that it calls.
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
