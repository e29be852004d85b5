"""Lessons of level `code`: what came of a batch, as JSON, so that a resumed campaign knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.code.nodes import (
    candidate_from_json,
    candidate_to_json,
    fed_from_json,
    fed_to_json,
)

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.code.blocks import BlockInput
    from ciguard.levels.code.nodes import CandidateBlock


@dataclass(frozen=True, slots=True)
class ObservedSeed:
    """A seed ran, and what its blocks were called with."""

    seed: int
    """Its place among the seeds."""
    fed: tuple[BlockInput, ...]
    """By block, and of what follows the last one."""


@dataclass(frozen=True, slots=True)
class RanAlone:
    """Blocks ran alone behind a node."""

    tree: int
    serial: int
    candidates: tuple[CandidateBlock, ...]
    """Those that ran on every target, and what they gave."""
    costs: tuple[tuple[str, int], ...] = ()
    """API → what the deaths of its blocks have cost."""
    tried: tuple[tuple[str, str], ...] = ()
    """APIs that were replaced and by which, whether the blocks ran or not."""


@dataclass(frozen=True, slots=True)
class Ran:
    """Whole programs ran."""

    tree: int
    serial: int
    places: tuple[int, ...]
    """Of those that ran on every target, among the candidates that had run alone."""
    repeated: tuple[str, ...] = ()
    """What is not tried again: APIs whose blocks were run many times in one process, and what
    was tried with layers alone."""
    costs: tuple[tuple[str, int], ...] = ()
    """API → what the deaths of programs whose last block calls it have cost."""


Lesson: TypeAlias = ObservedSeed | RanAlone | Ran

_OBSERVED, _RAN_ALONE, _RAN = "observed", "alone", "ran"


def lesson_to_json(lesson: Lesson) -> Json:
    """Return the JSON form of a lesson."""
    match lesson:
        case ObservedSeed(seed, fed):
            return [_OBSERVED, seed, [*map(fed_to_json, fed)]]
        case RanAlone(tree, serial, candidates, costs, tried):
            known = [*map(candidate_to_json, candidates)]
            return [_RAN_ALONE, tree, serial, known, [*map(list, costs)], [*map(list, tried)]]
        case Ran(tree, serial, places, repeated, costs):
            return [_RAN, tree, serial, [*places], [*repeated], [*map(list, costs)]]


def lesson_from_json(encoded: Json) -> Lesson:
    """Rebuild a lesson.

    Raises:
        ValueError: if `encoded` is not the JSON form of one.
    """
    try:
        match encoded:
            case [str(kind), seed, fed] if kind == _OBSERVED:
                return ObservedSeed(int(seed), tuple(map(fed_from_json, fed)))
            case [str(kind), tree, serial, candidates, costs, tried] if kind == _RAN_ALONE:
                known = tuple(map(candidate_from_json, candidates))
                pairs = tuple((str(before), str(after)) for before, after in tried)
                return RanAlone(int(tree), int(serial), known, _costs(costs), pairs)
            case [str(kind), tree, serial, places, repeated, costs] if kind == _RAN:
                names = tuple(map(str, repeated))
                at = tuple(map(int, places))
                return Ran(int(tree), int(serial), at, names, _costs(costs))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"not an encoded lesson: {error!r}"
        raise ValueError(msg) from error
    msg = f"not an encoded lesson: {encoded!r:.80}"
    raise ValueError(msg)


def _costs(encoded: Json) -> tuple[tuple[str, int], ...]:
    return tuple((str(api), int(cost)) for api, cost in encoded)
