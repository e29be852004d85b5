"""Feedback of level `code`: the results of a batch as JSON, for a resumed campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.code.nodes import (
    block_input_from_json,
    block_input_to_json,
    candidate_from_json,
    candidate_to_json,
)

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.code.blocks import BlockInput
    from ciguard.levels.code.nodes import CandidateBlock


@dataclass(frozen=True, slots=True)
class SeedObserved:
    """A seed program ran, and the inputs of its blocks are known."""

    seed: int
    """Index of the seed program."""
    fed: tuple[BlockInput, ...]
    """Input of each block, and of the layer that follows the last one."""


@dataclass(frozen=True, slots=True)
class BlocksRan:
    """Blocks ran alone, as extensions of a node."""

    tree: int
    serial: int
    candidates: tuple[CandidateBlock, ...]
    """Blocks that ran on every target, with their results."""
    costs: tuple[tuple[str, int], ...] = ()
    """Cost of crashes of an API's blocks, by API."""
    tried: tuple[tuple[str, str], ...] = ()
    """Pairs of a replaced API and its replacement, whether or not the blocks ran."""


@dataclass(frozen=True, slots=True)
class ProgramsRan:
    """Whole programs ran."""

    tree: int
    serial: int
    places: tuple[int, ...]
    """Indices of programs that ran on every target, among the candidates that ran alone."""
    repeated: tuple[str, ...] = ()
    """Checks that are not repeated: APIs whose blocks ran many times in one process, and standalone
    checks."""
    costs: tuple[tuple[str, int], ...] = ()
    """Cost of crashes of programs whose last block calls an API, by API."""


CodeFeedback: TypeAlias = SeedObserved | BlocksRan | ProgramsRan
"""Feedback of one batch."""

_SEED_OBSERVED, _BLOCKS_RAN, _PROGRAMS_RAN = "observed", "alone", "ran"


def feedback_to_json(feedback: CodeFeedback) -> Json:
    """Return the JSON form of feedback."""
    match feedback:
        case SeedObserved(seed, fed):
            return [_SEED_OBSERVED, seed, [*map(block_input_to_json, fed)]]
        case BlocksRan(tree, serial, candidates, costs, tried):
            known = [*map(candidate_to_json, candidates)]
            return [_BLOCKS_RAN, tree, serial, known, [*map(list, costs)], [*map(list, tried)]]
        case ProgramsRan(tree, serial, places, repeated, costs):
            return [_PROGRAMS_RAN, tree, serial, [*places], [*repeated], [*map(list, costs)]]


def feedback_from_json(encoded: Json) -> CodeFeedback:
    """Rebuild feedback from JSON.

    Raises:
        ValueError: if `encoded` is not the JSON form of feedback.
    """
    try:
        match encoded:
            case [str(kind), seed, fed] if kind == _SEED_OBSERVED:
                return SeedObserved(int(seed), tuple(map(block_input_from_json, fed)))
            case [str(kind), tree, serial, candidates, costs, tried] if kind == _BLOCKS_RAN:
                known = tuple(map(candidate_from_json, candidates))
                pairs = tuple((str(before), str(after)) for before, after in tried)
                return BlocksRan(int(tree), int(serial), known, _costs(costs), pairs)
            case [str(kind), tree, serial, places, repeated, costs] if kind == _PROGRAMS_RAN:
                names = tuple(map(str, repeated))
                indices = tuple(map(int, places))
                return ProgramsRan(int(tree), int(serial), indices, names, _costs(costs))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"not encoded feedback: {error!r}"
        raise ValueError(msg) from error
    msg = f"not encoded feedback: {encoded!r:.80}"
    raise ValueError(msg)


def _costs(encoded: Json) -> tuple[tuple[str, int], ...]:
    return tuple((str(api), int(cost)) for api, cost in encoded)
