"""Programs, their annotated functions, and calls of these functions, as data.

`kinds` are the constraints of arguments, `functions` the annotated functions. `reading` converts
the JSON that a target sends into constraints and functions.
"""

from ciguard.functions.specs.calls import Call
from ciguard.functions.specs.functions import FunctionSpec, MainSpec, ModuleSpec, Problem
from ciguard.functions.specs.programs import ProgramFile, has_plain_tests, is_annotated, sidecar_of

__all__ = [
    "Call",
    "FunctionSpec",
    "MainSpec",
    "ModuleSpec",
    "Problem",
    "ProgramFile",
    "has_plain_tests",
    "is_annotated",
    "sidecar_of",
]
