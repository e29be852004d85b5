"""Feedback of level `code`: the results of a batch as JSON, for a resumed campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.code.nodes import (
    candidate_from_json,
    candidate_to_json,
    tensor_form_from_json,
    tensor_form_to_json,
)

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.code.blocks import BlockTensor
    from ciguard.levels.code.nodes import CandidateBlock


@dataclass(frozen=True, slots=True)
class SeedObserved:
    """Feedback of a seed program: it ran, and the inputs of its blocks were observed."""

    seed: int
    """Index of the seed program."""
    input_forms: tuple[BlockTensor, ...]
    """Form of the input of each block, and of the output layer at the end."""


@dataclass(frozen=True, slots=True)
class BlocksRan:
    """Feedback of blocks that ran alone, as extensions of a node."""

    tree: int
    """Index of the tree."""
    serial: int
    """Serial number of the node in the tree."""
    candidates: tuple[CandidateBlock, ...]
    """Blocks that ran on every target, with the forms of their results."""
    costs: tuple[tuple[str, int], ...] = ()
    """Pairs of an API and the cost of its blocks' crashes."""
    replacements: tuple[tuple[str, str], ...] = ()
    """Pairs of a replaced API and its replacement, for all blocks, whether or not they ran."""


@dataclass(frozen=True, slots=True)
class ProgramsRan:
    """Feedback of whole programs."""

    tree: int
    """Index of the tree."""
    serial: int
    """Serial number of the node in the tree."""
    indices: tuple[int, ...]
    """Indices of the programs that ran on every target, among the tree's waiting candidates."""
    repeated_checks: tuple[str, ...] = ()
    """Checks that are not made again: APIs whose blocks ran many times in one process, and names
    of standalone checks."""
    costs: tuple[tuple[str, int], ...] = ()
    """Pairs of an API and the cost of crashes of programs whose last block calls it."""


CodeFeedback: TypeAlias = SeedObserved | BlocksRan | ProgramsRan
"""Feedback of one batch."""

_SEED_OBSERVED, _BLOCKS_RAN, _PROGRAMS_RAN = "observed", "alone", "ran"


def feedback_to_json(feedback: CodeFeedback) -> Json:
    """Return the JSON form of feedback."""
    match feedback:
        case SeedObserved(seed, input_forms):
            return [_SEED_OBSERVED, seed, [*map(tensor_form_to_json, input_forms)]]
        case BlocksRan(tree, serial, candidates, costs, replacements):
            blocks = [*map(candidate_to_json, candidates)]
            return [
                _BLOCKS_RAN,
                tree,
                serial,
                blocks,
                [*map(list, costs)],
                [*map(list, replacements)],
            ]
        case ProgramsRan(tree, serial, indices, repeated_checks, costs):
            return [
                _PROGRAMS_RAN,
                tree,
                serial,
                [*indices],
                [*repeated_checks],
                [*map(list, costs)],
            ]


def feedback_from_json(encoded: Json) -> CodeFeedback:
    """Rebuild feedback from JSON.

    Raises:
        ValueError: if `encoded` is not the JSON form of feedback.
    """
    try:
        match encoded:
            case [str(kind), seed, input_forms] if kind == _SEED_OBSERVED:
                return SeedObserved(int(seed), tuple(map(tensor_form_from_json, input_forms)))
            case [str(kind), tree, serial, candidates, costs, replacements] if kind == _BLOCKS_RAN:
                blocks = tuple(map(candidate_from_json, candidates))
                pairs = tuple((str(before), str(after)) for before, after in replacements)
                return BlocksRan(int(tree), int(serial), blocks, _costs(costs), pairs)
            case [str(kind), tree, serial, encoded_indices, repeated_checks, costs] if (
                kind == _PROGRAMS_RAN
            ):
                names = tuple(map(str, repeated_checks))
                indices = tuple(map(int, encoded_indices))
                return ProgramsRan(int(tree), int(serial), indices, names, _costs(costs))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"the stored feedback is not that of level `code`: {error!r}"
        raise ValueError(msg) from error
    msg = f"the stored feedback is not that of level `code`: {encoded!r:.80}"
    raise ValueError(msg)


def _costs(encoded: Json) -> tuple[tuple[str, int], ...]:
    return tuple((str(api), int(cost)) for api, cost in encoded)
