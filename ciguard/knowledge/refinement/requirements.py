"""Requirements in messages: `3D or 4D`, `one of sum, mean`, `>= 0`, `tuple of ints`, `Long`."""

from __future__ import annotations

import math
import re
from typing import Any, TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import LiteralValue
from ciguard.knowledge.clues import Structure
from ciguard.knowledge.doc_types import structures_in

Fields: TypeAlias = dict[str, Any]
"""Fields of a clue."""

_MAX_DIMENSIONS = 8
_MAX_ALLOWED = 24
_MAX_ELEMENTS = 512
_MAX_DIGITS = 9
_FARTHEST = 2.0**62
_DTYPES = {
    "half": "float16", "float": "float32", "double": "float64", "byte": "uint8", "char": "int8",
    "short": "int16", "int": "int32", "long": "int64", "bool": "bool", "str": "string",
    "complexfloat": "complex64", "complexdouble": "complex128", "bfloat": "bfloat16",
    "floattensor": "float32", "longtensor": "int64", "inttensor": "int32",
}  # fmt: skip
"""Names in messages that differ from the common ones; torch's enumeration first of all."""
_KNOWN = frozenset((*element_types.NUMERIC, *element_types.BOOLEAN, "string"))
_FLOATS = ("float32", "float64", "float16", "bfloat16")
_INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
_FAMILIES = (
    (re.compile(r"floating[- ]?(?:point)? or (?:a )?complex|float or complex", re.IGNORECASE),
     (*_FLOATS, "complex64", "complex128")),
    (re.compile(r"floating[- ]?(?:point)?\b|\bfloat dtype|a float tensor", re.IGNORECASE), _FLOATS),
    (re.compile(r"\bcomplex\b", re.IGNORECASE), ("complex64", "complex128")),
    (re.compile(r"\bintegral\b|\binteger (?:tensor|type|dtype)|integer or bool", re.IGNORECASE),
     _INTEGERS),
    (re.compile(r"\bbool(?:ean)? (?:tensor|type|dtype|mask)|dtype bool", re.IGNORECASE), ("bool",)),
    (re.compile(r"\bstring (?:tensor|type|dtype)|dtype string", re.IGNORECASE), ("string",)),
)  # fmt: skip
_ABOUT_DTYPES = re.compile(r"dtype|\btypes?\b|tensors? of|scalar type|index", re.IGNORECASE)
_NUMBERS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_COUNT = rf"(\d|{'|'.join(_NUMBERS)})"
_RANKS = re.compile(rf"\b{_COUNT}-?\s?d\b|\brank(?: of)?:? (\d)\b|\b{_COUNT}[- ]dim", re.IGNORECASE)
_AT_LEAST = re.compile(
    rf"rank (?:of )?(?:at least|>=) ?{_COUNT}|(?:at least|>=|minimum|no less than) (?:a )?"
    rf"(?:rank(?: of)? )?{_COUNT}[- ]?(?:d\b|dim)|\b{_COUNT}[- ]?d? or (?:more|higher|greater)",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    rf"(?:at most|<=|no more than) ?{_COUNT}[- ]?(?:d\b|dim)|rank (?:of )?(?:at most|<=) ?{_COUNT}|"
    rf"\b{_COUNT} or (?:fewer|less)",
    re.IGNORECASE,
)
_FORMS = (
    (re.compile(r"\bscalars?\b(?! type)", re.IGNORECASE), (0, 0)),
    (re.compile(r"\bvectors?\b|\bone[- ]dimensional\b", re.IGNORECASE), (1, 1)),
    (re.compile(r"\b(?:be|a|square) matri(?:x|ces)\b", re.IGNORECASE), (2, 2)),
)
_SHAPE = re.compile(r"(?:have|be of|of|has) (?:the )?shape[: ]*[\[(]((?:\d+(?:, ?)?)+)[\])]")
_ELEMENTS = re.compile(
    rf"(?:have|contain|specify|(?:be )?of (?:size|length)|length) (?:exactly )?{_COUNT}"
    rf"(?: elements?| values?| numbers?| integers?| entries|$|[,.])|tuple of {_COUNT} ",
    re.IGNORECASE,
)
_ABOUT_RANKS = re.compile(r"\drank|\brank|dimension|\b\d-?d\b|-dim", re.IGNORECASE)
_ANY_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w^]|\.\d)"
"""A number and the end of it: the 2 of `2^31` is not what is meant."""
_NUMBER = _ANY_NUMBER + r"(?!,\d)"
"""The 1 of `1,000` is not what is meant either; in `[0,1]` the comma separates."""
_RANGE = re.compile(
    rf"(?:in|range|interval|between)(?: (?:the )?(?:range|interval))?(?: of)? ?[\[(]?{_ANY_NUMBER}"
    rf"(?:, ?| and | to )(?:<=? ?)?{_NUMBER}([\])]?)", re.IGNORECASE,
)  # fmt: skip
_LEAST = re.compile(rf"(?:>=|at least|not less than|no less than) ?{_NUMBER}", re.IGNORECASE)
_MORE = re.compile(rf"(?:>|greater than|larger than|bigger than) ?{_NUMBER}", re.IGNORECASE)
_MOST = re.compile(rf"(?:<=|at most|no more than|less than or equal to) ?{_NUMBER}", re.IGNORECASE)
_LESS = re.compile(rf"(?:<|less than|smaller than) ?{_NUMBER}", re.IGNORECASE)
_QUOTE = r"['\"`]{1,2}[\w\-]+['\"`]{1,2}"
_QUOTED_LIST = re.compile(rf"{_QUOTE}(?:(?:,? (?:or|and) |, ?| ?\| ?){_QUOTE})+", re.IGNORECASE)
_ONE_OF = re.compile(
    r"(?:one of|be either|allowed values:?|valid (?:options|values|modes) (?:are|include):?|"
    r"supported (?:modes|values):?|choose (?:from|between)|in the set) ?:?"
    r"[\[({]?([\w, |/\-]+)[\])}]?", re.IGNORECASE,
)  # fmt: skip
_OTHER_THAN = re.compile(rf"other than ({_QUOTE})", re.IGNORECASE)
_MULTIPLE = re.compile(r"multiple of (\d+)", re.IGNORECASE)
_QUOTED = re.compile(r"['\"`]{1,2}([\w\-]+)['\"`]{1,2}")
_WORDS_IN_LIST = re.compile(r"[\w\-]+")
_BE = re.compile(r"\b(?:be|expected|expects|required?s?|needs|type)\b:? (.+)", re.IGNORECASE)
_NEXT = 0.001
_JOINTS = frozenset({"or", "and", "one", "of", "the", "a"})


def dtype_named(word: str) -> str:
    """Return the common name of a dtype that a message names; empty for another word."""
    lowered = word.lower().removeprefix("dt_").removesuffix("_ref")
    known = _DTYPES.get(lowered, lowered)
    return known if known in _KNOWN else ""


def requirement(text: str) -> Fields:
    """Return the fields of a clue that say what a message demands; empty for what is not read."""
    for read in (_allowed, _size, _ndim):
        # Their numbers and words say nothing else: "at least 3 dimensions" is no range.
        decisive = read(text)
        if decisive:
            return decisive | (_sign(text) if decisive.get("ndim") == (0, 0) else {})
    return _dtypes(text) or _structures(text) | _near(_range(text))


def _near(fields: Fields) -> Fields:
    """Return the range, unless it ends where no argument lies."""
    return fields if all(abs(end) < _FARTHEST for end in fields.values()) else {}


def _below(end: float, *, than: float = -math.inf) -> float:
    """Return the greatest argument to draw that is less than `end` and, if possible, not `than`."""
    is_count = abs(end) < _FARTHEST and end == int(end) and end - than > 1
    return end - 1 if is_count else end - _NEXT


def _count(text: str) -> int:
    return int(text) if text.isdecimal() else _NUMBERS[text.lower()]


def _first(match: re.Match[str]) -> int:
    return _count(next(group for group in match.groups() if group))


def _size(text: str) -> Fields:
    """Read an exact shape, or the number of elements of a vector or a list."""
    found = _SHAPE.search(text)
    if found:
        sizes = tuple(map(int, re.findall(r"\d+", found.group(1))))
        if math.prod(sizes) > _MAX_ELEMENTS or len(sizes) > _MAX_DIMENSIONS:
            return {}
        length = {"length": (sizes[0],) * 2} if len(sizes) == 1 else {}
        return {"shape": sizes, **length}
    found = _ELEMENTS.search(text)
    if not found:
        return {}
    size = _first(found)
    return {"shape": (size,), "length": (size, size)}


def _ndim(text: str) -> Fields:
    for pattern, ndim in _FORMS:
        if pattern.search(text):
            return {"ndim": ndim}
    if not _ABOUT_RANKS.search(text):
        return {}
    least, most = _AT_LEAST.search(text), _AT_MOST.search(text)
    if least:
        return {"ndim": (_first(least), max(_first(least) + 2, 4))}
    if most:
        return {"ndim": (0, _first(most))}
    ranks = [_first(match) for match in _RANKS.finditer(text) if next(filter(None, match.groups()))]
    # "3D or 4D tensor with optional 0 dim batch size": the batch may be empty, the tensor is none.
    ranks = [rank for rank in ranks if rank] or ranks
    return {"ndim": (min(ranks), max(ranks))} if ranks and max(ranks) <= _MAX_DIMENSIONS else {}


def _dtypes(text: str) -> Fields:
    for pattern, family in _FAMILIES:
        if pattern.search(text):
            return {"dtypes": family}
    exact = [word for word in _WORDS_IN_LIST.findall(text) if word.lower() in _KNOWN - {"string"}]
    if exact:
        return {"dtypes": tuple(dict.fromkeys(word.lower() for word in exact))}
    if not _ABOUT_DTYPES.search(text):
        return {}
    spoken = [dtype_named(word) for word in re.findall(r"\b[A-Z]\w+", text)]
    names = tuple(dict.fromkeys(name for name in spoken if name))
    return {"dtypes": names} if names else {}


def _structures(text: str) -> Fields:
    found = _BE.search(text)
    if not found or _ABOUT_RANKS.search(text):
        return {}
    wanted = re.split(r"\bof (?:type|dtype|shape|size|length)\b", found.group(1))[0]
    structures = structures_in(wanted[:60])
    if re.match(r"(?:a |an )?(?:list|tuple|sequence)\b", wanted, re.IGNORECASE) and not structures:
        structures = (Structure.INTS,)
    return {"structures": structures} if structures else {}


def _range(text: str) -> Fields:
    found = _RANGE.search(text)
    if found:
        low, high = float(found.group(1)), float(found.group(2))
        if found.group(3) == ")":
            high = _below(high, than=low)
        return {"low": low, "high": high} if low <= high else {}
    fields: Fields = {}
    least, more = _LEAST.search(text), _MORE.search(text)
    if least:
        fields["low"] = float(least.group(1))
    elif more:
        low = float(more.group(1))
        fields["low"] = -_below(-low)
    most, less = _MOST.search(text), _LESS.search(text)
    if most:
        fields["high"] = float(most.group(1))
    elif less and not more:
        fields["high"] = _below(float(less.group(1)), than=fields.get("low", -math.inf))
    if fields:
        return fields if fields.get("low", -1e9) <= fields.get("high", 1e9) else {}
    return _sign(text)


def _sign(text: str) -> Fields:
    if re.search(r"non-?negative", text, re.IGNORECASE):
        return {"low": 0.0}
    if re.search(r"non-?positive", text, re.IGNORECASE):
        return {"low": -1.0, "high": 0.0}
    return {"low": 1.0} if re.search(r"\bpositive\b", text, re.IGNORECASE) else {}


def _allowed(text: str) -> Fields:
    multiple = _MULTIPLE.search(text)
    if multiple:
        step = int(multiple.group(1)[:_MAX_DIGITS])
        return {"allowed": tuple(LiteralValue(step * times) for times in (1, 2, 3))}
    listed, only, spoken = _QUOTED_LIST.search(text), _OTHER_THAN.search(text), _ONE_OF.search(text)
    words: list[str] = []
    if listed:
        words = _QUOTED.findall(listed.group())
    elif only:
        words = _QUOTED.findall(only.group(1))
    elif spoken:
        words = [w for w in _WORDS_IN_LIST.findall(spoken.group(1)) if w not in _JOINTS]
    texts = tuple(dict.fromkeys(words))
    if not 1 + (not only) <= len(texts) <= _MAX_ALLOWED or any(map(_is_no_text, texts)):
        return {}
    return {"allowed": tuple(map(LiteralValue, texts))}


def _is_no_text(word: str) -> bool:
    return bool(dtype_named(word)) or word in {"True", "False", "None"} or word.isdecimal()
