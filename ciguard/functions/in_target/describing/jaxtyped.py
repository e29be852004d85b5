"""Shapes of jaxtyping, such as `Float[Tensor, "batch channels 3"]`, read as constraints.

Nothing of jaxtyping is imported: its hints are recognised by their attributes.
"""

from __future__ import annotations

import re
from typing import Any

from ciguard.libraries.in_target.arrays import ArrayLibrary, every_library

Json = Any


def is_shaped(hint: Any) -> bool:
    """Return whether a hint is of jaxtyping."""
    return isinstance(getattr(hint, "dim_str", None), str) and hasattr(hint, "dtypes")


def shaped(hint: Any, array: Json) -> Json | None:
    """Return the constraint that a hint is.

    Args:
        hint: one of jaxtyping.
        array: what its class of arrays alone says.

    Returns:
        None for what a constraint cannot express: what follows from an attribute of `self`, a dtype
        that is not made.
    """
    dims = [_dim(word) for word in hint.dim_str.split()]
    dtype = _dtype_of(hint, array.get("library", "numpy"))
    if dtype is None or "self." in hint.dim_str:
        return None
    return {**array, "shape": {"dims": dims}, "dtype": [dtype]}


def _dtype_of(hint: Any, library: str) -> str | None:
    """Return the dtype to draw: of a group, such as all floats, the one that the library prefers.

    One, since operations want tensors of equal dtypes, which a hint does not say.
    """
    known = every_library().get(library, ArrayLibrary())
    usual = _USUAL_OF_NUMPY if library == "numpy" else known.usual
    if not isinstance(hint.dtypes, (list, tuple)):  # `Shaped`: any
        return usual[0]
    listed = [getattr(name, "pattern", name) for name in hint.dtypes]
    return next((name for name in (*usual, *_UNUSUAL) if name in listed), None)


_USUAL_OF_NUMPY = ("float64", "int64", "bool", "uint8", "complex128")
"""What numpy makes of Python's numbers; a library says of itself what it makes."""
_UNUSUAL = ("float32", "float64", "float16", "int32", "int64", "int16", "int8", "complex64")


def _dim(word: str) -> Json:
    """Return the form of one dimension; `several` is a run of them, shared where it has a name."""
    word = word.lstrip("#?")  # that it may be broadcast, or differ per leaf, is a freedom
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
