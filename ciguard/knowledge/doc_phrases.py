"""Clues from phrases in a parameter's description that state a constraint explicitly.

Hand-written rules for what the mined rules (module `mined`) cannot read: lengths, order, scalars,
shapes in prose, choices in quotes. Each rule is a pattern and a function from its match to the
fields of a clue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ciguard.domain.values import LiteralValue
from ciguard.knowledge.clues import Clue, ClueSource
from ciguard.knowledge.doc_types import KNOWN_DTYPES, leading_type
from ciguard.knowledge.shape_texts import shapes_in, without_markup

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord

_Fields: TypeAlias = Mapping[str, Any]
_Rule: TypeAlias = tuple[re.Pattern[str], Callable[[re.Match[str]], _Fields]]

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_QUOTED = r"[`'\"]{1,3}([A-Za-z][\w\-+]*)[`'\"]{1,3}"
_QUOTED_LIST = rf"{_QUOTED}(?:\s*(?:,|\||/|or|and|, or)\s*{_QUOTED})+"


NUMERIC = (
    "float32", "float64", "int64", "int32", "float16", "bfloat16", "complex64", "complex128",
    "int8", "int16", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
"""Dtypes of a tensor that is described as numeric."""
_NOT_STRINGS = {"True", "False", "None"}
_MAX_RANK = 6
_USUAL_MAX_RANK = 5
"""Maximum rank of tensors that are drawn where only the minimum is stated."""
_MAX_CACHED_TEXTS = 4096
_GEQ_COMMAND = re.compile(r"\\geq?\b")


def _rule(pattern: str, fields: Callable[[re.Match[str]], _Fields] | _Fields) -> _Rule:
    compiled = re.compile(pattern, re.IGNORECASE)
    return compiled, fields if callable(fields) else lambda _: fields


def _ranks(match: re.Match[str]) -> _Fields:
    ranks = [int(rank) for rank in re.findall(r"\d", match.group())]
    return {"ndim": (min(ranks), max(ranks))} if max(ranks) <= _MAX_RANK else {}


def _min_rank(match: re.Match[str]) -> _Fields:
    rank = int(re.findall(r"\d", match.group())[0])
    return {"ndim": (rank, max(rank, _USUAL_MAX_RANK))} if rank <= _MAX_RANK else {}


def _shape(match: re.Match[str]) -> _Fields:
    for shape in shapes_in(match.group(1)):
        if isinstance(shape, int):
            return {"ndim": (shape, max(shape + 1, 4))}
        return {"shape": shape}
    return {}


def _product(match: re.Match[str]) -> _Fields:
    rank = len(re.findall(r" x ", match.group())) + 1
    return {"ndim": (rank, rank)} if rank <= _MAX_RANK else {}


def _range(match: re.Match[str]) -> _Fields:
    low, high = float(match.group(1)), float(match.group(2))
    if match.group().endswith(")") and high == int(high):
        high -= 1 if high - low > 1 else 0
    return {"low": low, "high": high}


def _allowed(match: re.Match[str]) -> _Fields:
    texts = re.findall(_QUOTED, match.group())
    if any(text in _NOT_STRINGS or text in KNOWN_DTYPES for text in texts):
        return {}
    return {"allowed": tuple(LiteralValue(text) for text in dict.fromkeys(texts))}


_RULES: tuple[_Rule, ...] = (
    _rule(r"\b(?:shape|size)\b[^.\[(]{0,30}?([\[(][^\])]{1,120}[\])])", _shape),
    _rule(r"^\W*(?:input |target |weight )?tensor (\([^)]{1,80}\))", _shape),
    _rule(r"\b(?:shape|size) `*\w+(?: +x +\w+)+(?![ \w]*\*)", _product),
    _rule(r"\bn-dimensional\b.{0,40}?\bn `*(?:>=|≥) *[0-6]", _min_rank),
    _rule(r"\b(?:at least (?:a )?[0-6](?:-?D\b|[ -]dimension)|[0-6] or more dimensions"
          r"|(?:[0-6]-?D,?|rank (?:of )?[0-6]) or (?:higher|more|greater)\b"
          r"|(?:rank|ndim)(?: of)? at least [0-6]|(?:rank|ndim) *>= *[0-6])", _min_rank),
    _rule(r"(?<!typically )(?<!usually )\b[0-6]-?D(?:,? (?:or|and|to) [0-6]-?D)*\b", _ranks),
    _rule(r"\b(?:rank|ndim)(?: of)?(?: exactly)?\s*(?:=|is|must be)?\s*[0-6]\b", _ranks),
    _rule(r"\b(?:one|1)[ -]dimensional\b", {"ndim": (1, 1)}),
    _rule(r"\b(?:two|2)[ -]dimensional\b", {"ndim": (2, 2)}),
    _rule(r"^\W*(?:(?:an?|the|should be an?|must be an?)\s+)?(?:int32 |int64 |float )?"
          r"(?:0-d |0-d/)?scalar\b", {"ndim": (0, 0)}),
    _rule(r"^\W*(?:(?:an?|the|should be an?|must be an?)\s+)?vector\b", {"ndim": (1, 1)}),
    _rule(r"\bnumeric `*(?:d?types?|tensors?)\b", {"dtypes": NUMERIC}),
    _rule(r"\b(?:the )?same (?:shape|size|dimensions|shape and type|type and shape)"
          r" (?:as|to) (?:the )?`+(\w+)`+", lambda m: {"shape_of": m.group(1)}),
    _rule(r"\b(?:strictly positive|must be positive|positive integers?|> 0\b"
          r"|(?:at least|>=) 1\b(?![ -]*(?:D\b|dim|`*Tensor|element|object|item)))", {"low": 1}),
    _rule(r"\b(?:non-?negative|nonnegative|>= 0\b)", {"low": 0}),
    _rule(rf"(?:range|interval|within|in|between) `*[\[(]{_NUMBER}, ?{_NUMBER}[\])]", _range),
    _rule(rf"\bbetween {_NUMBER} and {_NUMBER}", _range),
    _rule(_QUOTED_LIST, _allowed),
    _rule(r"\bsorted\b(?! order of| by)|\bnon-?decreasing\b|\bincreasing order\b",
          {"increasing": True}),
    _rule(r"^\W*(?:a )?(?:list|tuple) of (?:length )?(\d)\b",
          lambda m: {"length": (int(m.group(1)),) * 2}),
    _rule(r"\blength `*(\d)\b", lambda m: {"length": (int(m.group(1)),) * 2}),
)  # fmt: skip


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Return the clues in a parameter's description, each with the phrase that states it."""
    del record
    return [*_clues(parameter.doc)]


def _with_signs(text: str) -> str:
    """Return the text with signs for those commands of LaTeX that the rules need."""
    return _GEQ_COMMAND.sub("≥", text.replace(r"\times", "x"))


@lru_cache(maxsize=_MAX_CACHED_TEXTS)
def _clues(doc: str) -> tuple[Clue, ...]:
    text = without_markup(_with_signs(doc)) if ":math:" in doc else doc
    clues: list[Clue] = []
    structures = leading_type(text)
    if structures:
        phrase = text.strip().split("\n", 1)[0][:60]
        clues.append(Clue(source=ClueSource.DOC_PHRASE, evidence=phrase, structures=structures))
    for pattern, fields_of in _RULES:
        match = pattern.search(text)
        fields = fields_of(match) if match else {}
        if match and fields:
            phrase, rule = match.group()[:120], pattern.pattern
            clues.append(Clue(source=ClueSource.DOC_PHRASE, evidence=phrase, rule=rule, **fields))
    return tuple(clues)
