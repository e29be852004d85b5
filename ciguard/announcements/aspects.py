"""Aspects: the words by which a sentence is about one kind of difference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.announcements.changes import DocumentedChange

_RETURN = r"results?|returns?|returned|outputs?"
_CHECK = (
    r"must|only|require[sd]?|support(?:s|ed)?|unsupported|longer|remov(?:ed|al|es)|deprecat\w+"
    r"|rais(?:es?|ed)|errors?|\w+error|invalid|cannot|allow(?:s|ed)?|disallow\w*|forbid\w*|accepts?"
    r"|accepted|reject\w*|positive|non-?negative|greater|less|least|most|between|range|dtypes?"
    r"|integers?|ints?|floats?|float\d+|u?int\d+|bfloat16|bool\w*|complex\d*|none|strings?|tuples?"
    r"|lists?|sequences?|scalars?|optional|\d-?d|dimension\w*|shapes?|-?\d[\d.]*|[<>=≤≥]+|callable"
)
_ASPECTS = {
    "refused": _CHECK,
    "accepted": _CHECK,
    "exception": r"rais(?:es?|ed)|errors?|exceptions?|\w+error",
    "dtype": r"dtypes?|cast\w*|promot\w+|precision|integers?|floats?|float\d+|bfloat16|u?int\d+"
    r"|double|complex\d*|bool\w*",
    "shape": r"shapes?|dims?|dimension\w*|sizes?|axis|axes|rank|keepdims?|squeez\w*|broadcast\w*"
    r"|scalars?|lengths?|flatten\w*|\d-?d",
    "structure": rf"{_RETURN}|tuples?|lists?|namedtuple|dict\w*|sparse|none|scalars?",
    "nan": r"nans?|inf|infinit\w+|undefined|overflow\w*|finite|division|zeros?",
    "values": rf"{_RETURN}|values?|comput\w+|round\w*|behaviou?rs?|ignor\w+|sort\w*|order\w*"
    r"|normali[sz]\w+|equal\w*|formula|algorithm|interpolat\w+|scal(?:e|ed|ing)|weight\w*|mean|sum",
    "mutation": r"in-?place|mutat\w+|modif\w+|cop(?:y|ies|ied)|overwrit\w+",
    "aliasing": r"views?|cop(?:y|ies|ied)|shar\w+|alias\w*|in-?place|memory|storage",
}
"""Words that a sentence about each kind of difference has."""
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _ASPECTS.items()}
_NAMED = {
    "dtype": re.compile(r"dtypes?|cast\w*|promot\w+"),
    "shape": re.compile(r"shapes?|broadcast\w*|rank"),
    "structure": re.compile(r"tuples?|lists?|namedtuple|dict\w*"),
    "nan": re.compile(r"nans?"),
}
"""Words that name an aspect itself; other words of `_ASPECTS` also describe arguments."""
KINDS = frozenset(_ASPECTS)
"""Kinds of difference that documentation can announce."""
_FORBIDDING = re.compile(
    r"\b(?:cannot|deprecated|error|longer|must|not?|only|raises|removed|requires?|required"
    r"|unsupported)\b",
    re.IGNORECASE,
)
_ALLOWING = re.compile(
    r"\b(?:accept(?:s|ed)?|allow(?:s|ed)?|may|optional|support(?:s|ed)?)\b", re.IGNORECASE
)


_ANY_RANK = re.compile(r"\bn-?d\b|\bany (?:rank|shape|number of dimensions)\b", re.IGNORECASE)
_RULE = re.compile(
    r"\b(?:accept\w*|allow\w*|cannot|deprecat\w*|error|longer|must|now|only|rais(?:es?|ed)"
    r"|remov(?:ed|es)|requires?|required|should|support\w*|unsupported)\b",
    re.IGNORECASE,
)


def is_restriction(text: str) -> bool:
    """Return whether a sentence says what is allowed, instead of describing something."""
    return bool(_RULE.search(text))


_CONDITION = re.compile(
    r"\b(?:if|when|for)\b[^.,:;]*?\b(bool|complex|float|integer)(?:e?an)?\b[^.,:;]*"
    r"\b(?:arguments?|arrays?|inputs?|passed|tensors?)\b",
    re.IGNORECASE,
)
_FAMILIES = {"bool": ("bool",), "complex": ("complex",), "float": ("float", "bfloat")}
_INTEGERS = ("int", "uint")


def conditions_hold(text: str, dtypes: Iterable[str]) -> bool:
    """Return whether a call can fulfil a sentence's condition, such as `when complex tensors …`.

    Args:
        text: the sentence; without a condition on the dtype, any call fulfils it.
        dtypes: dtypes of the tensors that the call passes.
    """
    match = _CONDITION.search(text)
    families = _FAMILIES.get(match[1].lower(), _INTEGERS) if match else ("",)
    given = [*dtypes]
    return not given or any(dtype.startswith(families) for dtype in given)


def has_aspect(kind: str, words: Iterable[str]) -> bool:
    """Return whether one of the words is about a kind of difference, one of `KINDS`."""
    return any(_PATTERNS[kind].fullmatch(word) for word in words)


def names_aspect(kind: str, words: Iterable[str]) -> bool:
    """Return whether one of the words names a kind of difference, instead of describing values."""
    pattern = _NAMED.get(kind, _PATTERNS[kind])
    return any(pattern.fullmatch(word) for word in words)


def may_cause(change: DocumentedChange, kind: str) -> bool:
    """Return whether a changed sentence does not go into the other direction.

    A new permission does not announce a refusal, and a new restriction does not announce that more
    is accepted.
    """
    text = change.after or change.before
    forbids = bool(_FORBIDDING.search(text))
    allows = not forbids and bool(_ALLOWING.search(text))
    if change.before and _ANY_RANK.search(change.after) and not _ANY_RANK.search(change.before):
        forbids, allows = False, True
    if not change.after:
        forbids, allows = allows, forbids
    return not ((kind == "refused" and allows) or (kind == "accepted" and forbids))
