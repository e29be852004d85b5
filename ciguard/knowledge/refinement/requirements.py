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

MAX_CACHED_TEXTS = 4096
"""Number of messages whose parts are kept, as libraries repeat messages and parts are read more
than once."""
_MAX_DIMENSIONS = 8
_MAX_ALLOWED = 24
_MAX_ELEMENTS = 512
_MAX_DIGITS = 9
_MAX_MAGNITUDE = 2.0**62
_DTYPES = {
    "half": "float16", "float": "float32", "double": "float64", "byte": "uint8", "char": "int8",
    "short": "int16", "int": "int32", "long": "int64", "bool": "bool", "str": "string",
    "complexfloat": "complex64", "complexdouble": "complex128", "bfloat": "bfloat16",
    "floattensor": "float32", "longtensor": "int64", "inttensor": "int32",
}  # fmt: skip
"""Usual names of dtypes by their other names in messages, mostly from torch's enumeration."""
_KNOWN_DTYPES = frozenset((*element_types.NUMERIC, *element_types.BOOLEAN, "string"))
_NUMERIC_DTYPES = _KNOWN_DTYPES - {"string"}
_FLOATS = ("float32", "float64", "float16", "bfloat16")
_INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
_DTYPE_FAMILIES = (
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
_LISTED_RANKS = re.compile(
    r"\brank\W{0,3}(?:must|should|has to|needs to) be (?:either |one of )?(at least )?"
    r"(\d(?:,? ?(?:or |and )?\b\d\b)*)",
    re.IGNORECASE,
)
_RANKS_BY_NAME = (
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
_SPATIAL_RANKS = re.compile(
    r"spatial[ _]dim\w*\W{0,2} (?:must|should) be (?:one of |either )?"
    r"(\d(?:,? ?(?:or |and )?\b\d\b)*)"
)
"""Numbers of dimensions beside those of the batch and of the channels."""
_NOT_SPATIAL = 2
_ITEMS = re.compile(
    r"(?:must|should) specify (\d) dimensions|^Length for attr \W\w+\W of \d+ must be at least "
    r"minimum (\d)\b"
)
"""Number of items of a list, as TensorFlow demands it of attributes such as strides."""
_ABOUT_RANKS = re.compile(r"\drank|\brank|dimension|\b\d-?d\b|-dim", re.IGNORECASE)
_ANY_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w^]|\.\d)"
"""A complete number: the 2 of `2^31` does not match."""
_NUMBER = _ANY_NUMBER + r"(?!,\d)"
"""A complete number that no comma and digit follow: the 1 of `1,000` does not match."""
_RANGE = re.compile(
    rf"(?:in|range|interval|between)(?: (?:the )?(?:range|interval))?(?: of)? ?[\[(]?{_ANY_NUMBER}"
    rf"(?:, ?| and | to )(?:<=? ?)?{_NUMBER}([\])]?)", re.IGNORECASE,
)  # fmt: skip
_GREATER_OR_EQUAL = re.compile(
    rf"(?:>=|at least|not less than|no less than) ?{_NUMBER}", re.IGNORECASE
)
_GREATER = re.compile(rf"(?:>|greater than|larger than|bigger than) ?{_NUMBER}", re.IGNORECASE)
_LESS_OR_EQUAL = re.compile(
    rf"(?:<=|at most|no more than|less than or equal to) ?{_NUMBER}", re.IGNORECASE
)
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
_EXPECTED_TYPE = re.compile(
    r"\b(?:be|expected|expects|required?s?|needs|type)\b:? (.+)", re.IGNORECASE
)
_SMALLEST_STEP = 0.001
_LIST_WORDS = frozenset({"or", "and", "one", "of", "the", "a"})


def named_dtype(word: str) -> str:
    """Return the usual name of the dtype that a word of a message names; empty for other words."""
    lowered_word = word.lower().removeprefix("dt_").removesuffix("_ref")
    name = _DTYPES.get(lowered_word, lowered_word)
    return name if name in _KNOWN_DTYPES else ""


def requirement(text: str) -> Fields:
    """Return the fields of a clue that a message demands; empty if no pattern matches."""
    for read_fields in (_demanded_allowed, _demanded_shape, _demanded_rank):
        # The numbers in such a message state nothing else: "at least 3 dimensions" is not a range.
        fields = read_fields(text)
        if fields:
            return fields | (_demanded_sign(text) if fields.get("ndim") == (0, 0) else {})
    return _demanded_dtypes(text) or _demanded_structures(text) | _within_representable(
        _demanded_range(text)
    )


def _within_representable(fields: Fields) -> Fields:
    """Return the range; empty if a limit is larger than any argument can be."""
    return fields if all(abs(end) < _MAX_MAGNITUDE for end in fields.values()) else {}


def _largest_below(end: float, *, above: float = -math.inf) -> float:
    """Return the largest value to draw below `end` and, if possible, above `above`."""
    is_count = abs(end) < _MAX_MAGNITUDE and end == int(end) and end - above > 1
    return end - 1 if is_count else end - _SMALLEST_STEP


def _parsed_count(text: str) -> int:
    return int(text) if text.isdecimal() else _NUMBERS[text.lower()]


def _first_count(match: re.Match[str]) -> int:
    return _parsed_count(next(group for group in match.groups() if group))


def _demanded_shape(text: str) -> Fields:
    """Return the fields for an exact shape, or for the length of a vector or list."""
    match = _SHAPE.search(text)
    if match:
        sizes = tuple(map(int, re.findall(r"\d+", match.group(1))))
        if math.prod(sizes) > _MAX_ELEMENTS or len(sizes) > _MAX_DIMENSIONS:
            return {}
        length = {"length": (sizes[0],) * 2} if len(sizes) == 1 else {}
        return {"shape": sizes, **length}
    items = _ITEMS.search(text)
    if items:
        count = _first_count(items)
        return {"length": (count, count)}
    match = _ELEMENTS.search(text)
    if not match:
        return {}
    size = _first_count(match)
    return {"shape": (size,), "length": (size, size)}


def _demanded_rank(text: str) -> Fields:
    """Return the fields for a demanded rank."""
    for pattern, ndim in _RANKS_BY_NAME:
        if pattern.search(text):
            return {"ndim": ndim}
    spatial = _SPATIAL_RANKS.search(text)
    if spatial or not _ABOUT_RANKS.search(text):
        digits = re.findall(r"\d", spatial.group(1)) if spatial else ()
        ranks = [int(digit) + _NOT_SPATIAL for digit in digits]
        return {"ndim": (min(ranks), max(ranks))} if ranks else {}
    listed = _LISTED_RANKS.search(text)
    if listed:
        counts = [*map(int, re.findall(r"\d", listed.group(2)))]
        is_minimum = bool(listed.group(1))
        return {"ndim": (min(counts), max(min(counts) + 2, 4) if is_minimum else max(counts))}
    at_least, at_most = _AT_LEAST.search(text), _AT_MOST.search(text)
    if at_least:
        return {"ndim": (_first_count(at_least), max(_first_count(at_least) + 2, 4))}
    if at_most:
        return {"ndim": (0, _first_count(at_most))}
    ranks = [
        _first_count(match) for match in _RANKS.finditer(text) if next(filter(None, match.groups()))
    ]
    # In "3D or 4D tensor with optional 0 dim batch size", 0 is not a rank of the tensor.
    ranks = [rank for rank in ranks if rank] or ranks
    return {"ndim": (min(ranks), max(ranks))} if ranks and max(ranks) <= _MAX_DIMENSIONS else {}


def _demanded_dtypes(text: str) -> Fields:
    """Return the fields for demanded dtypes."""
    for pattern, family in _DTYPE_FAMILIES:
        if pattern.search(text):
            return {"dtypes": family}
    dtype_words = [word for word in _WORDS_IN_LIST.findall(text) if word.lower() in _NUMERIC_DTYPES]
    if dtype_words:
        return {"dtypes": tuple(dict.fromkeys(word.lower() for word in dtype_words))}
    if not _ABOUT_DTYPES.search(text):
        return {}
    possible_names = [named_dtype(word) for word in re.findall(r"\b[A-Z]\w+", text)]
    names = tuple(dict.fromkeys(name for name in possible_names if name))
    return {"dtypes": names} if names else {}


def _demanded_structures(text: str) -> Fields:
    """Return the fields for a demanded type, such as a list of ints."""
    match = _EXPECTED_TYPE.search(text)
    if not match or _ABOUT_RANKS.search(text):
        return {}
    type_text = re.split(r"\bof (?:type|dtype|shape|size|length)\b", match.group(1))[0]
    structures = structures_in(type_text[:60])
    if (
        re.match(r"(?:a |an )?(?:list|tuple|sequence)\b", type_text, re.IGNORECASE)
        and not structures
    ):
        structures = (Structure.INTS,)
    return {"structures": structures} if structures else {}


def _demanded_range(text: str) -> Fields:
    """Return the fields for a demanded range of values."""
    interval = _RANGE.search(text)
    if interval:
        low, high = float(interval.group(1)), float(interval.group(2))
        if interval.group(3) == ")":
            high = _largest_below(high, above=low)
        return {"low": low, "high": high} if low <= high else {}
    fields: Fields = {}
    inclusive_low, exclusive_low = _GREATER_OR_EQUAL.search(text), _GREATER.search(text)
    if inclusive_low:
        fields["low"] = float(inclusive_low.group(1))
    elif exclusive_low:
        low = float(exclusive_low.group(1))
        fields["low"] = -_largest_below(-low)
    inclusive_high, exclusive_high = _LESS_OR_EQUAL.search(text), _LESS.search(text)
    if inclusive_high:
        fields["high"] = float(inclusive_high.group(1))
    elif exclusive_high and not exclusive_low:
        fields["high"] = _largest_below(
            float(exclusive_high.group(1)), above=fields.get("low", -math.inf)
        )
    if fields:
        return fields if fields.get("low", -1e9) <= fields.get("high", 1e9) else {}
    return _demanded_sign(text)


def _demanded_sign(text: str) -> Fields:
    """Return the fields for a demanded sign, such as non-negative."""
    if re.search(r"non-?negative", text, re.IGNORECASE):
        return {"low": 0.0}
    if re.search(r"non-?positive", text, re.IGNORECASE):
        return {"low": -1.0, "high": 0.0}
    return {"low": 1.0} if re.search(r"\bpositive\b", text, re.IGNORECASE) else {}


def _demanded_allowed(text: str) -> Fields:
    """Return the fields for a demanded choice, or for multiples of a number."""
    multiple = _MULTIPLE.search(text)
    if multiple:
        step = int(multiple.group(1)[:_MAX_DIGITS])
        return {"allowed": tuple(LiteralValue(step * times) for times in (1, 2, 3))}
    quoted_list, only_choice, choices = (
        _QUOTED_LIST.search(text),
        _OTHER_THAN.search(text),
        _ONE_OF.search(text),
    )
    words: list[str] = []
    if quoted_list:
        words = _QUOTED.findall(quoted_list.group())
    elif only_choice:
        words = _QUOTED.findall(only_choice.group(1))
    elif choices:
        words = [w for w in _WORDS_IN_LIST.findall(choices.group(1)) if w not in _LIST_WORDS]
    texts = tuple(dict.fromkeys(words))
    if not 1 + (not only_choice) <= len(texts) <= _MAX_ALLOWED or any(map(_is_not_a_string, texts)):
        return {}
    return {"allowed": tuple(map(LiteralValue, texts))}


def _is_not_a_string(word: str) -> bool:
    return bool(named_dtype(word)) or word in {"True", "False", "None"} or word.isdecimal()
