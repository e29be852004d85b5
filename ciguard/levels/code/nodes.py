"""Nodes of a derivation tree and candidates for them, with their JSON form for the journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator, derivation_from_json, derivation_to_json
from ciguard.levels.code.blocks import Block, BlockInput, LibraryCall, OwnCall

if TYPE_CHECKING:
    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateBlock:
    """A block that may extend a node, with its derivation."""

    block: Block
    steps: tuple[Derivation, ...]
    """Derivation: one step; for a negative block, that of its positive block and then its own."""
    place: int = 0
    """Index of the changed call in the block."""
    takes: BlockInput
    """Form of the input with which the block runs alone: the node's result, after the block's
    adapter."""
    gives: BlockInput | None = None
    """Form of the block's result; None until the block has run."""

    @property
    def is_negative(self) -> bool:
        """True if the library should reject the block."""
        return self.step.operator is Operator.BOUNDARY

    @property
    def step(self) -> Derivation:
        """Last step of the derivation."""
        return self.steps[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A program: the first blocks of a seed, mutated, in the seed's template."""

    chain: tuple[Block, ...] = ()
    path: tuple[Derivation, ...] = ()
    gives: BlockInput
    """Form of the last block's result."""

    def child(self, candidate: CandidateBlock) -> Node:
        """Return the child node for a candidate that ran."""
        return Node(
            chain=(*self.chain, candidate.block),
            path=(*self.path, *candidate.steps),
            gives=candidate.gives or candidate.takes,
        )


def candidate_to_json(candidate: CandidateBlock) -> Json:
    """Return the JSON form of a candidate."""
    gives = candidate.gives
    return {
        "block": _block_to_json(candidate.block),
        "steps": [derivation_to_json(step) for step in candidate.steps],
        "place": candidate.place,
        "takes": block_input_to_json(candidate.takes),
        "gives": block_input_to_json(gives) if gives else None,
    }


def candidate_from_json(encoded: Json) -> CandidateBlock:
    """Rebuild a candidate from JSON.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if `encoded` is not the JSON form of a
        candidate.
    """
    gives = encoded["gives"]
    return CandidateBlock(
        block=_block_from_json(encoded["block"]),
        steps=tuple(map(derivation_from_json, encoded["steps"])),
        place=int(encoded["place"]),
        takes=block_input_from_json(encoded["takes"]),
        gives=block_input_from_json(gives) if gives else None,
    )


def block_input_to_json(block_input: BlockInput) -> Json:
    """Return the JSON form of a block's input."""
    return [[*block_input.shape], block_input.dtype, block_input.below]


def block_input_from_json(encoded: Json) -> BlockInput:
    """Rebuild a block's input from JSON.

    Raises:
        TypeError, ValueError: if `encoded` is not the JSON form of a block's input.
    """
    shape, dtype, below = encoded
    return BlockInput(tuple(map(int, shape)), str(dtype), int(below))


def _block_to_json(block: Block) -> Json:
    calls = [_call_to_json(call) for call in block.calls]
    own = [[_call_to_json(call.call), call.size, call.position, call.axis] for call in block.own]
    return [block.name, calls, block.adapter, [*block.follows], own]


def _block_from_json(encoded: Json) -> Block:
    name, calls, adapter, follows, own = encoded
    return Block(
        name=str(name),
        calls=tuple(map(_call_from_json, calls)),
        adapter=str(adapter),
        follows=tuple(None if index is None else int(index) for index in follows),
        own=tuple(
            OwnCall(
                call=_call_from_json(call), size=str(size), position=int(position), axis=int(axis)
            )
            for call, size, position, axis in own
        ),
    )


def _call_to_json(call: LibraryCall) -> Json:
    keywords = [[*pair] for pair in call.keywords]
    return [call.api, [*call.positional], keywords, call.makes_layer, call.use]


def _call_from_json(encoded: Json) -> LibraryCall:
    api, positional, keywords, makes_layer, use = encoded
    return LibraryCall(
        api=str(api),
        positional=tuple(map(str, positional)),
        keywords=tuple((str(key), str(text)) for key, text in keywords),
        makes_layer=bool(makes_layer),
        use=str(use),
    )
