"""The language of annotations: which inputs of a function are valid, and what must hold.

The language of aNNoTest (section 3), with its names. This folder needs only the standard library
and imports nothing else of ciguard. A program that must not need ciguard may carry a copy of it.
Each decorator stores its annotation on the function and returns that same function.

    @arg("size", ints(min=1, max=8))
    @arg("sizes", int_lists(min_len=1, max_len=4, min=1, max=8))
    @require("len(sizes) <= size")
    def build(size, sizes=()): ...
"""

from __future__ import annotations

# Relative imports, because a copy of this folder has another name.
from .decorators import (
    arg,
    cc_example,
    ensure,
    exclude,
    generator,
    module_test,
    raises,
    require,
    timeout,
)
from .kinds import (
    anys,
    bools,
    dicts,
    dtypes,
    floats,
    froms,
    int_lists,
    ints,
    lists,
    np_arrays,
    np_shapes,
    objs,
    ref,
    strings,
    tensors,
    tuples,
)
from .values import (
    AnnotationError,
    Range,
    Ref,
    Values,
)

__all__ = [
    "AnnotationError",
    "Range",
    "Ref",
    "Values",
    "anys",
    "arg",
    "bools",
    "cc_example",
    "dicts",
    "dtypes",
    "ensure",
    "exclude",
    "floats",
    "froms",
    "generator",
    "int_lists",
    "ints",
    "lists",
    "module_test",
    "np_arrays",
    "np_shapes",
    "objs",
    "raises",
    "ref",
    "require",
    "strings",
    "tensors",
    "timeout",
    "tuples",
]
# `import *` must not overwrite a program's own names, such as `functional as F`.
