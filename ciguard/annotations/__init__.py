"""Annotations of functions: the valid inputs, and conditions that hold before and after a call.

The names are those of the aNNoTest paper (section 3). This package needs only the standard
library and imports no other package of ciguard. A program that must not depend on ciguard may
contain a copy of this package.
Each decorator stores its annotation on the function and returns the same function.

    @arg("size", ints(min=1, max=8))
    @arg("sizes", int_lists(min_len=1, max_len=4, min=1, max=8))
    @require("len(sizes) <= size")
    def build(size, sizes=()): ...
"""

from __future__ import annotations

# Relative imports, because a copy of this package has another name.
from .decorators import (
    arg,
    cc_example,
    ensure,
    exclude,
    generator,
    include,
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
    "include",
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
# The list is explicit: `import *` must not overwrite names such as `F` in the annotated program.
