"""Clues in docstrings: documented types, shapes, lengths, allowed values and ranges.

The formats are those that `libraries.documented_parameters` reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.libraries import documented_parameters
from ciguard.suggesting.clues import (
    ANY,
    AllowedValues,
    ArgumentClue,
    ArgumentClueSource,
    ArgumentKind,
    Fact,
    Guess,
    NumberRange,
    PossibleValues,
    PowersOfTwo,
    Shape,
    ValueRange,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.suggesting.functions import UnannotatedFunction

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_COUNT = rf"(?P<count>{'|'.join(_COUNTS)}|\d)"
_INT = r"(?:ints?|integers?)\b"
_FLOAT = r"(?:floats?|floating[- ]point(?: numbers?)?|numbers?|scalars?|reals?|double)\b"
_TEXT = r"(?:str|strings?)\b"
_ARRAY = r"(?:(?:np|numpy)\.)?(?:nd)?arrays?(?:[-_ ]like)?\b|matrix\b|matrices\b|vector\b|image\b"
_TENSOR = r"(?:(?:tf|torch|keras)\.)?tensors?\b"
_SCALARS = (
    (re.compile(_INT), ArgumentKind.INT),
    (re.compile(_FLOAT), ArgumentKind.FLOAT),
    (re.compile(r"(?:bools?|booleans?)\b"), ArgumentKind.BOOL),
    (re.compile(_TEXT), ArgumentKind.TEXT),
    (re.compile(r"None\b"), ArgumentKind.NONE),
)
_OF_COUNT = re.compile(
    rf"(?:tuple|pair|triple)s? (?:\(?\w+\)? )?(?:of|with) (?:{_COUNT} )?(?:positive |python )?"
    r"(?P<item>\w+)"
    r"(?: values?)?(?: of (?:length|size) (?P<length>\d))?"
)
_ITEMS = re.compile(
    rf"(?:tuple\s*)?[(\[](?P<items>(?:{_INT}|{_FLOAT})(?:, ?(?:{_INT}|{_FLOAT}))+)[)\]]"
)
_LIST_OF = re.compile(r"(?:list|sequence|iterable)s?(?: of |\[)(?:positive )?(?P<item>\w+)")
_SHAPE_AFTER = re.compile(
    r"\bshape[ds]?(?: of| is)?\s*[:=]?\s*[(\[](?P<shape>[^()\[\]]{1,80})[)\]]"
)
_SHAPE_AROUND = re.compile(
    rf"[(\[](?P<before>[^()\[\]]{{1,60}},[^()\[\]]{{0,60}})[)\]][- ]+(?:{_ARRAY}|{_TENSOR})"
    rf"|(?:{_ARRAY}|{_TENSOR})[ ,]*[(\[](?P<after>[^()\[\]]{{1,60}},[^()\[\]]{{0,60}})[)\]]"
)
_RANK = re.compile(r"\b(?P<rank>[1-5])[- ]?(?:D|d|dim(?:ensional)?)\b")
_QUOTED = re.compile(r"'([^']{1,30})'|\"([^\"]{1,30})\"|`{1,2}([A-Za-z]\w{0,29})`{1,2}")
_CHOICES = re.compile(
    r"\{(?P<braces>[^{}]{3,200})\}|(?:one of|either|must be|can be|options?(?: are)?:?|:)\s*"
    r"(?P<list>(?:['\"][^'\"]{1,30}['\"](?:\s*(?:,|\||/|or|and|, or)\s*)?){2,})"
)
_POWERS = re.compile(r"\bpowers? of (?:two|2)\b")
_BRACKETS = re.compile(
    rf"(?P<open>[\[(])\s*(?P<low>{_NUMBER})\s*,\s*(?P<high>{_NUMBER})\s*(?P<close>[\])])"
)
_BETWEEN = re.compile(
    rf"\b(?:between|from)\s+(?P<low>{_NUMBER})\s+(?:and|to)\s+(?P<high>{_NUMBER})"
)
_BOUND = re.compile(
    rf"(?P<op>>=|<=|>|<|at least|at most|greater than|less than)\s*(?P<number>{_NUMBER})"
)
_RANGE_WORD = re.compile(r"\b(?:in|range|interval|within|between|from)\b")
_CONDITION = re.compile(r"\b(?:if|when|where)\b")
_NON_NEGATIVE = re.compile(r"\bnon-?negative\b")
_POSITIVE = re.compile(r"\b(?:strictly )?positive\b")
_SEPARATOR = re.compile(r",?\s+or\s+|\s*\|\s*|\s*/\s*(?=[A-Za-z])")
_DEFAULT = re.compile(r",?\s*\(?\b(?:optional|defaults?\b[^,;)]*)\)?|,\s*required", re.IGNORECASE)
_MAX_DIMS = 5


def docstring_clues(subject: UnannotatedFunction, *, is_torch: bool) -> Iterator[ArgumentClue]:
    """Yield the clues in the docstring of a function; for a constructor, also of its class.

    Args:
        subject: the function.
        is_torch: whether the module uses torch, so that an array is a tensor.
    """
    for doc in subject.docstrings:
        for name, described in documented_parameters(doc).items():
            if name not in subject.parameters:
                continue
            stated = described.doc_type or _first_phrase(described.doc)
            reason = f'documented as "{" ".join(stated.split())[:60]}"'
            for fact in _facts(stated, described.doc, is_torch=is_torch):
                yield ArgumentClue(name, ArgumentClueSource.DOC, fact, reason)


def _first_phrase(text: str) -> str:
    return re.split(r"[.;]\s|\.$", text, maxsplit=1)[0]


def _facts(stated: str, described: str, *, is_torch: bool) -> Iterator[Fact]:
    """Yield the facts that a documented type and a description state."""
    both = f"{stated}. {described}"
    choices = _choices(both)
    if choices:
        yield AllowedValues(choices)
        return
    shape = _shape(both)
    kinds = [_DEFAULT.sub("", part).strip() for part in _SEPARATOR.split(_DEFAULT.sub("", stated))]
    guesses = [guess for part in kinds if (guess := _guess(part, shape, is_torch=is_torch))]
    yield from (PossibleValues(guess) for guess in guesses)
    numbers = [guess for guess in guesses if guess.kind in _NUMBERS]
    if not numbers:
        return
    if _POWERS.search(both):
        yield PowersOfTwo()
    bounds = _bounds(f"{stated}. {_first_phrase(described)}")
    if bounds != ANY:
        yield ValueRange(bounds)


_NUMBERS = {ArgumentKind.INT, ArgumentKind.FLOAT}


def _guess(text: str, shape: Shape | None, *, is_torch: bool) -> Guess | None:
    """Return the guess for one documented type; None if it is unknown."""
    sequence = _sequence(text)
    if sequence is not None:
        return sequence
    words = re.sub(r"^(?:an?|the|optional|positive|non-?negative|single|python)\s+", "", text)
    words = re.sub(r"^(?:strictly\s+)?(?:positive|non-?negative)\s+", "", words)
    if re.search(_TENSOR, words, re.IGNORECASE) or (
        is_torch and re.search(_ARRAY, words) and "numpy" not in words and "nd" not in words
    ):
        return Guess(ArgumentKind.TENSOR, shape=shape)
    if re.search(_ARRAY, words, re.IGNORECASE) or (shape is not None and "shape" in text):
        return Guess(ArgumentKind.ARRAY, shape=shape)
    for pattern, kind in _SCALARS:
        if pattern.match(words):
            return Guess(kind)
    return None


def _sequence(text: str) -> Guess | None:
    """Return the guess for a documented tuple or list with its items; None for other types."""
    match = _OF_COUNT.search(text)
    if match:
        item = _item(match["item"])
        written = (
            match["count"]
            or match["length"]
            or ("2" if text.startswith(("pair", "a pair")) else "")
        )
        count = _COUNTS.get(written) or int(written or 0)
        if item is None:
            return None
        length = NumberRange(count, count) if count else ANY
        return Guess(ArgumentKind.TUPLE, items=(item,) * (count or 1), length=length)
    match = _ITEMS.fullmatch(text.strip())
    if match:
        items = [_item(part.strip()) for part in match["items"].split(",")]
        known = tuple(item for item in items if item is not None)
        return Guess(ArgumentKind.TUPLE, items=known, length=NumberRange(len(known), len(known)))
    match = _LIST_OF.search(text)
    item = _item(match["item"]) if match else None
    return Guess(ArgumentKind.LIST, items=(item,)) if item else None


def _item(word: str) -> Guess | None:
    for pattern, kind in _SCALARS[:-1]:
        if pattern.fullmatch(word):
            return Guess(kind)
    return None


def _choices(text: str) -> tuple[str, ...]:
    """Return the strings that a text lists as the allowed ones; empty if it lists none."""
    match = _CHOICES.search(text)
    if match is None:
        return ()
    listed = match["braces"] or match["list"]
    choices = [next(filter(None, groups)) for groups in _QUOTED.findall(listed)]
    return tuple(dict.fromkeys(choices)) if len(choices) > 1 else ()


def _shape(text: str) -> Shape | None:
    """Return the documented shape of an array; None if it is unknown."""
    match = _SHAPE_AFTER.search(text)
    written = match["shape"] if match else ""
    if not written:
        match = _SHAPE_AROUND.search(text)
        written = (match["before"] or match["after"]) if match else ""
    if written:
        dims = [part.strip().strip("`*'\"") for part in written.split(",") if part.strip()]
        if len(dims) <= _MAX_DIMS and all(
            re.fullmatch(r"\d+|[A-Za-z_]\w*|-1|None|\?", d) for d in dims
        ):
            return tuple(_dim(dim) for dim in dims)
        return None
    rank = _RANK.search(text)
    if rank:
        return (None,) * int(rank["rank"])
    first = text.partition(".")[0].lower()
    if re.search(r"\bvector\b", first):
        return (None,)
    return (None, None) if re.search(r"\bmatrix\b", first) else None


def _dim(text: str) -> int | str | None:
    if text.isdigit():
        return int(text)
    return None if text in {"-1", "None", "?", "none"} else text


def _bounds(text: str) -> NumberRange:
    """Return the range of numbers that a text states."""
    bounds = ANY
    if _NON_NEGATIVE.search(text):
        bounds = NumberRange(0)
    elif _POSITIVE.search(text):
        bounds = NumberRange(0, open_low=True)
    for match in _BRACKETS.finditer(text):
        if _RANGE_WORD.search(text[max(0, match.start() - 30) : match.start()]):
            low, high = float(match["low"]), float(match["high"])
            stated = NumberRange(low, high, match["open"] == "(", match["close"] == ")")
            return bounds.intersection(stated) if low < high else bounds
    between = _BETWEEN.search(text)
    if between and float(between["low"]) < float(between["high"]):
        return bounds.intersection(NumberRange(float(between["low"]), float(between["high"])))
    for match in _BOUND.finditer(text):
        if _CONDITION.search(text[: match.start()]):
            break  # it says what happens in a range, and not what is valid
        number, op = float(match["number"]), match["op"]
        if op in {">=", ">", "at least", "greater than"}:
            stated = NumberRange(number, open_low=op in {">", "greater than"})
        else:
            stated = NumberRange(high=number, open_high=op in {"<", "less than"})
        bounds = bounds.intersection(stated)
    return bounds
