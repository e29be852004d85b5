"""Converts hints of jaxtyping, such as `Float[Tensor, "batch channels 3"]`, to constraints.

The hints are recognised by their attributes, so that jaxtyping is not imported.
"""

from __future__ import annotations

import re
from typing import Any

from ciguard.libraries.in_target.arrays import ArrayLibrary, arrays_by_library

Json = Any


def is_jaxtyping_hint(hint: Any) -> bool:
    """Return whether a hint is one of jaxtyping."""
    return isinstance(getattr(hint, "dim_str", None), str) and hasattr(hint, "dtypes")


def jaxtyping_spec(hint: Any, array: Json) -> Json | None:
    """Return the JSON form of the constraint that a hint of jaxtyping states.

    Args:
        hint: the hint.
        array: JSON form of the constraint for the hint's class of arrays.

    Returns:
        None if no constraint is equivalent: a size is an attribute of `self`, or ciguard cannot
        make arrays of the dtype.
    """
    dims = [_dim(word) for word in hint.dim_str.split()]
    dtype = _dtype_of(hint, array.get("library", "numpy"))
    if dtype is None or "self." in hint.dim_str:
        return None
    return {**array, "shape": {"dims": dims}, "dtype": [dtype]}


def _dtype_of(hint: Any, library: str) -> str | None:
    """Return the name of the dtype to draw; None if ciguard cannot make arrays of it.

    For a group of dtypes, such as all floats, it is the library's preferred dtype. Tensors of
    different dtypes are not drawn, because most operations require equal dtypes.
    """
    array_library = arrays_by_library().get(library, ArrayLibrary())
    usual = _USUAL_IN_NUMPY if library == "numpy" else array_library.usual_dtypes
    if not isinstance(hint.dtypes, (list, tuple)):  # `Shaped` accepts any dtype
        return usual[0]
    listed = [getattr(name, "pattern", name) for name in hint.dtypes]
    return next((name for name in (*usual, *_UNUSUAL) if name in listed), None)


_USUAL_IN_NUMPY = ("float64", "int64", "bool", "uint8", "complex128")
"""Dtypes that numpy uses for Python's numbers; those of a library are in its `usual_dtypes`."""
_UNUSUAL = ("float32", "float64", "float16", "int32", "int64", "int16", "int8", "complex64")


def _dim(word: str) -> Json:
    """Return the JSON form of one dimension in jaxtyping's notation.

    `several` stands for any number of dimensions; with a name, they are equal in all arguments.
    """
    # These prefixes only allow further sizes (by broadcasting, or in other leaves of a tree).
    word = word.lstrip("#?")
    word = word.partition("=")[2] or word
    if word == "...":
        return {"several": ""}
    if word.startswith("*"):
        return {"several": word.lstrip("*#").lstrip("_")}
    if word.startswith("_"):
        return None
    if re.fullmatch(r"\d+", word):
        return int(word)
    if "{" in word:
        return {"ref": re.sub(r"[{}]", "", word)}
    return {"size": word}
