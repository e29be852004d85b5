"""Writing: values as Python source text, for scripts that a person reads, runs and keeps.

Scalars and names (`literals.py`) and NumPy arrays (`arrays.py`). What libraries add (tensors,
dtypes, their imports) belongs to those who write whole scripts.
"""

from ciguard.writing.arrays import (
    MOST_SHOWN,
    UNIT_FUNCTION,
    constant_element,
    content,
    is_shown,
    numpy_array,
)
from ciguard.writing.literals import dotted, element, is_name, nested, scalar, shape_text

__all__ = [
    "MOST_SHOWN",
    "UNIT_FUNCTION",
    "constant_element",
    "content",
    "dotted",
    "element",
    "is_name",
    "is_shown",
    "nested",
    "numpy_array",
    "scalar",
    "shape_text",
]
