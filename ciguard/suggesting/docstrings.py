"""Clues in docstrings: documented types, shapes, lengths, allowed values and ranges.

The formats are those that `libraries.documented_parameters` reads.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.libraries import documented_parameters
from ciguard.suggesting.clues import (
    ANY,
    AllowedValues,
    ArgumentClueSource,
    ArgumentKind,
    Clues,
    Fact,
    Guess,
    NumberRange,
    PossibleValues,
    PowersOfTwo,
    ValueRange,
)
from ciguard.suggesting.conditions import names_in
from ciguard.suggesting.documented_arrays import (
    ARRAY,
    TENSOR,
    documented_dtype,
    documented_shape,
)
from ciguard.suggesting.documented_numbers import (
    allowed_integers,
    allowed_values,
    documented_range,
    range_of_elements,
    sentences_on_range,
)
from ciguard.suggesting.documented_relations import DescribedKind, documented_relations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.suggesting.functions import UnannotatedFunction

_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_COUNT = rf"(?P<count>{'|'.join(_COUNTS)}|\d)"
_INT = r"(?:ints?|integers?)\b"
_FLOAT = r"(?:floats?|floating[- ]point(?: numbers?)?|numbers?|scalars?|reals?|double)\b"
_TEXT = r"(?:str|strings?)\b"
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
_POWERS = re.compile(r"\bpowers? of (?:two|2)\b")
_SEPARATOR = re.compile(r",?\s+or\s+|\s*\|\s*|\s*/\s*(?=[A-Za-z])")
_DEFAULT = re.compile(r",?\s*\(?\b(?:optional|defaults?\b[^,;)]*)\)?|,\s*required", re.IGNORECASE)
_NUMBERS = {ArgumentKind.INT, ArgumentKind.FLOAT}
_ARRAYS = {ArgumentKind.ARRAY, ArgumentKind.TENSOR}
_DESCRIBED_KINDS = {
    frozenset({ArgumentKind.INT}): DescribedKind.INTEGER,
    frozenset({ArgumentKind.FLOAT}): DescribedKind.NUMBER,
    frozenset(_NUMBERS): DescribedKind.NUMBER,
    **{frozenset({kind}): DescribedKind.SIZED for kind in (*_ARRAYS, ArgumentKind.LIST)},
}
"""Kinds of described arguments by the kinds of their values; relations of others are not read."""


def docstring_clues(subject: UnannotatedFunction, clues: Clues, *, is_torch: bool) -> None:
    """Add the clues in the docstring of a function; for a constructor, also of its class.

    Args:
        subject: the function.
        clues: clues on the function's arguments; those of its signature are already among them.
        is_torch: whether the module uses torch, so that an array is a tensor.
    """
    names = frozenset(subject.parameters)
    for doc in subject.docstrings:
        for name, described in documented_parameters(doc).items():
            if name not in names:
                continue
            stated = described.doc_type or _first_phrase(described.doc)
            reason = _quoted(": ".join(filter(None, (described.doc_type, described.doc))))
            is_prose = not described.doc_type
            text = _Text(stated, described.doc, names - {name}, is_torch, is_prose)
            kinds = _signature_kinds(clues, name)
            for fact in _facts(text, kinds):
                clues.add(name, ArgumentClueSource.DOC, fact, reason)
            about = _DESCRIBED_KINDS.get(frozenset(_kinds(text) or kinds))
            relations = documented_relations(name, text.whole, names, about) if about else ()
            for condition, sentence in relations:
                clues.requires.append((_unless_none(condition, subject), _quoted(sentence)))


def _unless_none(condition: str, subject: UnannotatedFunction) -> str:
    """Return a condition that also holds if an argument in it has its default None."""
    optional = {
        name
        for name, default in subject.defaults.items()
        if isinstance(default, ast.Constant) and default.value is None
    }
    names = names_in(ast.parse(condition, mode="eval")) & optional
    return " or ".join([*(f"{name} is None" for name in sorted(names)), condition])


def _quoted(text: str) -> str:
    words = " ".join(text.split())
    return f'documented as "{words[:_MAX_QUOTED]}{"…" if len(words) > _MAX_QUOTED else ""}"'


_MAX_QUOTED = 100
"""Maximum number of characters that are quoted from a docstring."""


def _signature_kinds(clues: Clues, name: str) -> set[ArgumentKind]:
    """Return the kinds of an argument that its hint states, or else its default."""
    for source in (ArgumentClueSource.HINT, ArgumentClueSource.DEFAULT):
        kinds = {
            clue.fact.guess.kind
            for clue in clues.for_argument(name)
            if clue.source is source and isinstance(clue.fact, PossibleValues)
        } - {ArgumentKind.NONE}
        if kinds:
            return kinds
    return set()


def _first_phrase(text: str) -> str:
    return re.split(r"[.;]\s|\.$", text, maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class _Text:
    """What a docstring states about one argument."""

    stated: str
    """Documented type, or the first phrase of the description."""
    described: str
    """Description."""
    others: frozenset[str]
    """Names of the other arguments."""
    is_torch: bool
    """True if an array is a tensor."""
    is_prose: bool
    """True if the type is not documented apart from the description."""

    @property
    def whole(self) -> str:
        """Type and description."""
        return f"{self.stated}. {self.described}"


def _facts(text: _Text, signature: set[ArgumentKind]) -> Iterator[Fact]:
    """Yield the facts that a docstring states about an argument.

    Args:
        text: the docstring's text.
        signature: kinds of the argument in the signature, for docstrings without types.
    """
    guesses = _guesses(text)
    kinds = _kinds(text) or signature
    arrays = kinds & _ARRAYS
    if arrays:
        (kind, *_) = signature & _ARRAYS or arrays
        yield PossibleValues(_array(text, kind))
        yield from (PossibleValues(guess) for guess in guesses if guess.kind not in _ARRAYS)
        return
    choices = allowed_values(text.whole)
    if not choices and kinds == {ArgumentKind.INT}:
        choices = allowed_integers(text.whole)
    if choices:
        yield AllowedValues(choices)
        return
    yield from (PossibleValues(guess) for guess in guesses)
    if not kinds & _NUMBERS:
        return
    if _POWERS.search(text.whole):
        yield PowersOfTwo()
    bounds = documented_range(f"{text.stated}. {sentences_on_range(text.described)}")
    if bounds != ANY:
        yield ValueRange(bounds)


def _kinds(text: _Text) -> set[ArgumentKind]:
    return {guess.kind for guess in _guesses(text)} - {ArgumentKind.NONE}


def _array(text: _Text, kind: ArgumentKind) -> Guess:
    """Return a guess for the arrays that a docstring describes."""
    dtype = documented_dtype(f"{text.stated}. {_first_phrase(text.described)}")
    bounds = range_of_elements(f"{text.stated}. {sentences_on_range(text.described)}")
    integers = [value for value in allowed_values(text.whole) if type(value) is int]
    if integers:
        dtype, bounds = dtype or "int64", NumberRange(min(integers), max(integers))
    shape = documented_shape(text.whole, text.others)
    return Guess(kind, bounds, shape=shape, dtype=dtype)


def _guesses(text: _Text) -> list[Guess]:
    """Return guesses for the types that a docstring states."""
    parts = _SEPARATOR.split(_DEFAULT.sub("", text.stated))
    types = [_DEFAULT.sub("", part).strip() for part in parts]
    guesses = [_guess(part, is_torch=text.is_torch) for part in types]
    if text.is_prose and guesses[0] is None:
        return []  # "used if x is an int or float" does not begin with a type
    return [guess for guess in guesses if guess]


def _guess(text: str, *, is_torch: bool) -> Guess | None:
    """Return the guess for one documented type; None if it is unknown."""
    sequence = _sequence(text)
    if sequence is not None:
        return sequence
    words = re.sub(r"^(?:an?|the|optional|positive|non-?negative|single|python)\s+", "", text)
    words = re.sub(r"^(?:strictly\s+)?(?:positive|non-?negative)\s+", "", words)
    if re.search(TENSOR, words, re.IGNORECASE) or (
        is_torch and re.search(ARRAY, words) and "numpy" not in words and "nd" not in words
    ):
        return Guess(ArgumentKind.TENSOR)
    if re.search(ARRAY, words, re.IGNORECASE) or (
        "shape" in text and documented_shape(text, frozenset())
    ):
        return Guess(ArgumentKind.ARRAY)
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
