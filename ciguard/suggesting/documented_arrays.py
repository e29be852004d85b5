"""Reads shapes, numbers of dimensions and dtypes of arrays in the text of a docstring."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import Ranks, SameShape
from ciguard.suggesting.documented_numbers import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.suggesting.clues import ArrayShape, Shape

ARRAY = r"(?:(?:np|numpy)\.)?(?:nd)?arrays?(?:[-_ ]like)?\b|matrix\b|matrices\b|vector\b|image\b"
TENSOR = r"(?:(?:tf|torch|keras)\.)?(?:(?:Bool|Byte|Int|Long|Float|Double|Half))?tensors?\b"
_NOUN = rf"(?:{ARRAY}|{TENSOR}|mask\b)"
_MAX_DIMS = 5
_RANKS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_COUNT = rf"(?:{'|'.join(_RANKS)}|[1-5])"
_OPEN, _CLOSE = r"(?::math:)?`{0,2}[(\[]", r"[)\]]"
_SHAPE_AFTER = re.compile(
    rf"\bshape[ds]?(?: of| is)?\s*[:=]?\s*{_OPEN}(?P<shape>[^()\[\]]{{1,80}}){_CLOSE}",
    re.IGNORECASE,
)
_SHAPE_AROUND = re.compile(
    rf"{_OPEN}(?P<before>[^()\[\]]{{1,60}},[^()\[\]]{{0,60}}){_CLOSE}[- ]+(?:{ARRAY}|{TENSOR})"
    rf"|(?:{ARRAY}|{TENSOR})[ ,]*{_OPEN}(?P<after>[^()\[\]]{{1,60}},[^()\[\]]{{0,60}}){_CLOSE}",
    re.IGNORECASE,
)
_TIMES = re.compile(r"(?:[A-Z]+|\d+)(?:x(?:[A-Z_]+|\d+))+")
_ANY_DIMS = {"...", "*", "…", "\\*"}
_SAME_SHAPE = re.compile(
    r"\b(?:(?:the )?same (?:shape|size|dimensions)(?: and \w+)? (?:as|of|like)|"
    r"(?:of )?(?:the )?shape of)\s+(?:the )?`{0,2}(?P<argument>[A-Za-z_]\w*)`{0,2}",
    re.IGNORECASE,
)
_RANK_ITEM = rf"{_COUNT}(?:[- ]?D\b)?"
_RANK = re.compile(
    rf"(?P<limit>\b(?:at most|up to|at least) )?(?<!than )(?<!last )(?<!first )(?<!other )"
    rf"\b(?P<ranks>{_RANK_ITEM}(?:\s*(?:/|,? or|,)\s*{_RANK_ITEM})*)"
    r"(?:(?<=D)|[- ]?dim(?:s|ensions?|ensional)?\b)",
    re.IGNORECASE,
)
_ANY_RANK = re.compile(
    r"\b(?:any|arbitrary) (?:shape|size|number of dim(?:ension)?s|dimensions)\b"
    r"|\bshape[: (]+(?:\*|\.\.\.)\)?(?!\w)",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|when|where)\b", re.IGNORECASE)
_USUAL_RANKS = (1, 3)
"""Range of the numbers of dimensions to test of arrays that may have any."""
_DTYPES = {
    "bool": "bool",
    "boolean": "bool",
    "byte": "uint8",
    "uint8": "uint8",
    "int": "int64",
    "integer": "int64",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "long": "int64",
    "half": "float16",
    "float16": "float16",
    "float32": "float32",
    "float64": "float64",
    "double": "float64",
    "complex": "complex64",
    "complex64": "complex64",
    "complex128": "complex128",
}
"""Dtypes by the words of documentation; `float` is no word, since it means any of them."""
_ADJECTIVES = {"byte", "half", "long"}
"""Words that are dtypes only directly before a noun."""


def _any_of(words: Iterable[str]) -> str:
    return rf"(?P<dtype>{'|'.join(sorted(words, key=len, reverse=True))})"


_NAME = _any_of(_DTYPES.keys() - _ADJECTIVES)
_DTYPE_TEXTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_any_of(_DTYPES)}(?:s|-valued| valued)?[- ]?{_NOUN}",
        rf"{_NOUN} (?:of|with) (?:dtype |type )?{_NAME}s?\b",
        rf"\bdtype\s*(?:=|:|of|is)?\s*[`'\"]*(?:(?:np|numpy|torch)\.)?{_NAME}\b",
    )
)


def documented_shape(text: str, others: frozenset[str]) -> ArrayShape | None:
    """Return the shape of an array that a text states; None if it states none.

    Args:
        text: documented type and description.
        others: names of the function's other arguments.
    """
    exact = _exact_shape(text)
    if exact is not None:
        return exact
    same = _SAME_SHAPE.search(text)
    if same and same["argument"] in others:
        return SameShape(same["argument"])
    rank = _RANK.search(" ".join(s for s in sentences(text) if not _CONDITION.search(s)))
    if rank:
        return _ranks(rank)
    if _ANY_RANK.search(text):
        return Ranks(*_USUAL_RANKS)
    return _shape_of_noun(text.partition(".")[0].lower())


def _ranks(match: re.Match[str]) -> ArrayShape:
    """Return the numbers of dimensions that a match of `_RANK` states."""
    words = re.findall(_COUNT, match["ranks"].lower())
    ranks = sorted({_RANKS.get(word) or int(word) for word in words})
    limit = (match["limit"] or "").strip().lower()
    low = 1 if limit in {"at most", "up to"} else ranks[0]
    high = ranks[-1] + 1 if limit == "at least" else ranks[-1]
    return Ranks(low, high) if low < high else (None,) * low


def _exact_shape(text: str) -> Shape | None:
    match = _SHAPE_AFTER.search(text)
    written = match["shape"] if match else ""
    if not written:
        match = _SHAPE_AROUND.search(text)
        written = (match["before"] or match["after"]) if match else ""
    if _TIMES.fullmatch(written):
        written = written.replace("x", ",")
    dims = [part.strip().strip("`'\"") for part in written.split(",") if part.strip()]
    dims = [dim for dim in dims if dim not in _ANY_DIMS]
    if 0 < len(dims) <= _MAX_DIMS and all(
        re.fullmatch(r"\d+|[A-Za-z_]\w*|-1|None|\?", dim) for dim in dims
    ):
        return tuple(_dim(dim) for dim in dims)
    return None


def _dim(text: str) -> int | str | None:
    if text.isdigit():
        return int(text)
    return None if text in {"-1", "None", "?", "none"} else text


def _shape_of_noun(first_sentence: str) -> Shape | None:
    if re.search(r"\bvector\b", first_sentence):
        return (None,)
    return (None, None) if re.search(r"\bmatrix\b", first_sentence) else None


def documented_dtype(text: str) -> str:
    """Return the dtype of an array that a text states; empty if it states none."""
    for pattern in _DTYPE_TEXTS:
        match = pattern.search(text)
        if match:
            return _DTYPES[match["dtype"].lower()]
    return ""
