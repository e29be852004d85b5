"""Shapes of jaxtyping, such as `Float[Tensor, "batch channels 3"]`, as constraints.

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


def jaxtyping_spec(hint: Any, array: Json) -> Json | None:
    """Return the constraint of a hint.

    Args:
        hint: a hint of jaxtyping.
        array: constraint of its class of arrays alone.

    Returns:
        The constraint. None if constraints cannot express it: a size from an attribute of `self`,
            or
        a dtype that ciguard does not make.
    """
    dims = [_dim(word) for word in hint.dim_str.split()]
    dtype = _dtype_of(hint, array.get("library", "numpy"))
    if dtype is None or "self." in hint.dim_str:
        return None
    return {**array, "shape": {"dims": dims}, "dtype": [dtype]}


def _dtype_of(hint: Any, library: str) -> str | None:
    """Return the dtype to draw: of a group, such as all floats, the library's preferred one.

    Only one is drawn, since operations require tensors of equal dtypes, which hints do not state.
    """
    array_library = every_library().get(library, ArrayLibrary())
    usual = _USUAL_IN_NUMPY if library == "numpy" else array_library.usual
    if not isinstance(hint.dtypes, (list, tuple)):  # `Shaped` accepts any dtype
        return usual[0]
    listed = [getattr(name, "pattern", name) for name in hint.dtypes]
    return next((name for name in (*usual, *_UNUSUAL) if name in listed), None)


_USUAL_IN_NUMPY = ("float64", "int64", "bool", "uint8", "complex128")
"""Dtypes that numpy gives to Python's numbers; a library's `usual` lists its own."""
_UNUSUAL = ("float32", "float64", "float16", "int32", "int64", "int16", "int8", "complex64")


def _dim(word: str) -> Json:
    """Return the JSON form of one dimension.

    `several` is a run of dimensions, shared between arguments if it has a name.
    """
    word = word.lstrip(
        "#?"
    )  # prefixes that only permit more (broadcasting, differing leaves) are ignored
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
