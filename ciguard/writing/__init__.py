"""Writing: conversion of values and calls into readable Python source text, for scripts.

`literals.py` writes scalars and names, `arrays.py` NumPy arrays, and `source.py` complete calls
with their imports. `writers.py` returns the templates of each library.
"""

from ciguard.writing.arrays import (
    MAX_EXPLICIT_ELEMENTS,
    UNIT_FUNCTION,
    constant_element,
    content,
    has_explicit_elements,
    numpy_array,
)
from ciguard.writing.literals import (
    dotted_expression,
    element,
    is_name,
    nested_lists,
    scalar,
    shape_text,
)
from ciguard.writing.source import WIDTH, ScriptSource
from ciguard.writing.writers import PLAIN_DTYPES, writer_of

__all__ = [
    "MAX_EXPLICIT_ELEMENTS",
    "PLAIN_DTYPES",
    "UNIT_FUNCTION",
    "WIDTH",
    "ScriptSource",
    "constant_element",
    "content",
    "dotted_expression",
    "element",
    "has_explicit_elements",
    "is_name",
    "nested_lists",
    "numpy_array",
    "scalar",
    "shape_text",
    "writer_of",
]
