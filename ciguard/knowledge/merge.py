"""Merge the clues of all sources: the strongest source that states an aspect decides it."""

from __future__ import annotations

import re
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

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
"""Aspects, each with its fields of `Clue`. One source decides an aspect, so its fields agree."""

_PREFERRED_REPEATS = 6
"""Number of extra occurrences of an allowed value that a weaker source also names."""
_NUMERIC = {
    Structure.TENSOR, Structure.TENSORS, Structure.INT, Structure.INTS, Structure.NUMBER,
    Structure.FLOAT, Structure.FLOATS,
}  # fmt: skip
_PHRASES = {ClueSource.DOC_PHRASE, ClueSource.MINED_RULE}
"""Sources that do not distinguish an int from a float where the documentation says `number`."""
_INTEGER_SCALAR = re.compile(
    r"\b(?:scalar\W+int(?:eger|32|64)?|int(?:eger|32|64)?\W+scalar)\b", re.IGNORECASE
)
_NUMBER_OF = re.compile(r"^\W*(?:the )?number of\b", re.IGNORECASE)
_DEFAULTS = {field.name: field.default for field in fields(Clue)}
_source_of = attrgetter("source")


def merge(clues: Iterable[Clue]) -> tuple[Clue, tuple[ConstraintEvidence, ...]]:
    """Return one clue that merges all clues about a parameter, and the evidence for each aspect."""
    ranked_clues = sorted(clues, key=_source_of)
    merged: dict[str, Any] = {}
    evidence: list[ConstraintEvidence] = []
    for aspect, names in ASPECTS:
        if aspect == "range" and not _may_have_range(merged.get("structures", ())):
            continue
        strongest_clue = next((clue for clue in ranked_clues if _states_any(clue, names)), None)
        if strongest_clue is None:
            continue
        merged |= {name: getattr(strongest_clue, name) for name in names}
        evidence.append(
            ConstraintEvidence(
                strongest_clue.source, aspect, strongest_clue.evidence, strongest_clue.rule
            )
        )
        if aspect == "structures":
            merged["structures"] = _of_all_overloads(
                _counts_as_ints(strongest_clue, ranked_clues), strongest_clue, ranked_clues
            )
        elif aspect == "dtypes":
            # Both fields can apply at once, so each is that of the strongest clue that states it.
            for name in names:
                stated = [value for clue in ranked_clues if (value := getattr(clue, name))]
                merged[name] = merged[name] or next(iter(stated), _DEFAULTS[name])
        elif aspect == "allowed":
            merged["allowed"] = _with_preferred_repeated(merged["allowed"], ranked_clues)
    return Clue(source=ClueSource.NAME, evidence="", **merged), tuple(evidence)


def _counts_as_ints(strongest: Clue, clues: Iterable[Clue]) -> tuple[Structure, ...]:
    """Return the structures of the strongest clue, with an int for the number that counts.

    A phrase such as `number of bins` or `scalar` leaves open whether fractions are allowed. They
    are not if the name is that of a count or a size. Neither are they if the phrase calls the
    scalar an integer, or if the default of a number of objects is one.
    """
    structures = strongest.structures
    if strongest.source not in _PHRASES or Structure.NUMBER not in structures:
        return structures
    clues = list(clues)
    by_name = {s for clue in clues if clue.source is ClueSource.NAME for s in clue.structures}
    by_default = {s for clue in clues if clue.source is ClueSource.DEFAULT for s in clue.structures}
    counts = by_default == {Structure.INT} and _NUMBER_OF.search(strongest.evidence)
    is_named = bool(by_name) and by_name <= {Structure.INT, Structure.INTS}
    if not (is_named or counts or _INTEGER_SCALAR.search(strongest.evidence)):
        return structures
    return tuple(Structure.INT if s is Structure.NUMBER else s for s in structures)


def _of_all_overloads(
    structures: tuple[Structure, ...], strongest: Clue, clues: Iterable[Clue]
) -> tuple[Structure, ...]:
    """Return the structures of a schema, with those that its type hint adds.

    A schema is that of one overload; the hint has the types of all, as in `Tensor | Number`.
    """
    if strongest.source is not ClueSource.SCHEMA:
        return structures
    hints = (clue.structures for clue in clues if clue.source is ClueSource.ANNOTATION)
    hinted = next((found for found in hints if set(structures) < set(found)), ())
    return (*structures, *(structure for structure in hinted if structure not in structures))


def _with_preferred_repeated(
    allowed: tuple[Value, ...], ranked_clues: list[Clue]
) -> tuple[Value, ...]:
    """Return the allowed values, with those repeated that a weaker source also names.

    Repeated values are drawn more often, since they mostly work without any further argument.
    """
    weaker_values = [value for clue in ranked_clues[1:] for value in clue.allowed]
    distinct_values = dict.fromkeys(allowed)
    preferred_values = tuple(value for value in distinct_values if value in weaker_values)
    return (
        allowed
        if len(preferred_values) == len(distinct_values)
        else (*preferred_values * _PREFERRED_REPEATS, *allowed)
    )


def _states_any(clue: Clue, names: tuple[str, ...]) -> bool:
    return any(getattr(clue, name) != _DEFAULTS[name] for name in names)


def _may_have_range(structures: tuple[Structure, ...]) -> bool:
    """Return whether a range applies: to numbers only, whatever source states it."""
    return not structures or not _NUMERIC.isdisjoint(structures)
