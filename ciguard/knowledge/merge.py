"""Merge the clues of all sources into one: who speaks first on an aspect decides it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from ciguard.knowledge.api import ConstraintEvidence
from ciguard.knowledge.clues import Clue, ClueSource, Structure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.values import Value

ASPECTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("structures", ("structures",)),
    ("dtypes", ("dtypes", "dtype_of")),
    ("shape", ("ndim", "shape", "shape_of", "broadcast_with")),
    ("range", ("low", "high")),
    ("meaning", ("axis_of", "index_of", "increasing")),
    ("size", ("size",)),
    ("length", ("length", "length_of")),
    ("allowed", ("allowed",)),
    ("nullable", ("nullable",)),
)
"""Fields that belong together are taken from one source: half of each would contradict itself."""

_FAVOUR = 6
_NUMERIC = {
    Structure.TENSOR, Structure.TENSORS, Structure.INT, Structure.INTS, Structure.NUMBER,
    Structure.FLOAT, Structure.FLOATS,
}  # fmt: skip
_DEFAULTS = {field.name: field.default for field in fields(Clue)}


def merge(clues: Iterable[Clue]) -> tuple[Clue, tuple[ConstraintEvidence, ...]]:
    """Return everything known of a parameter as one clue, and who said what."""
    ranked = sorted(clues, key=lambda clue: clue.source)
    merged = Clue(source=ClueSource.NAME, evidence="")
    evidence: list[ConstraintEvidence] = []
    for aspect, names in ASPECTS:
        speaker = next((clue for clue in ranked if _speaks(clue, names, merged)), None)
        if speaker is None:
            continue
        said = {name: getattr(speaker, name) for name in names}
        merged = replace(merged, **said)
        evidence.append(ConstraintEvidence(speaker.source, aspect, speaker.evidence, speaker.rule))
        if aspect == "dtypes":
            merged = _with_both_dtype_aspects(merged, ranked)
        elif aspect == "allowed":
            merged = replace(merged, allowed=_favoured(merged.allowed, ranked))
    return merged, tuple(evidence)


def _with_both_dtype_aspects(merged: Clue, ranked: list[Clue]) -> Clue:
    """A list of dtypes and `same dtype as x` restrict each other; neither replaces the other."""
    dtypes = merged.dtypes or next((clue.dtypes for clue in ranked if clue.dtypes), ())
    same = merged.dtype_of or next((clue.dtype_of for clue in ranked if clue.dtype_of), "")
    return replace(merged, dtypes=dtypes, dtype_of=same)


def _favoured(allowed: tuple[Value, ...], ranked: list[Clue]) -> tuple[Value, ...]:
    """Repeat the values that a weaker source names too: those that need no further argument."""
    named = [value for clue in ranked[1:] for value in clue.allowed]
    distinct = dict.fromkeys(allowed)
    narrower = tuple(value for value in distinct if value in named)
    return allowed if len(narrower) == len(distinct) else (*narrower * _FAVOUR, *allowed)


def _speaks(clue: Clue, names: tuple[str, ...], merged: Clue) -> bool:
    if not any(getattr(clue, name) != _DEFAULTS[name] for name in names):
        return False
    if names == ("low", "high"):
        # A weak source's range counts only for the kind of value it was meant for.
        return not merged.structures or bool(_NUMERIC & set(merged.structures))
    return True
