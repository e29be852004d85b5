"""Nodes of a derivation tree, and what may become one: as data, so that the journal can keep it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator, derivation_from_json, derivation_to_json
from ciguard.levels.code.blocks import Block, BlockInput, LibraryCall, OwnCall

if TYPE_CHECKING:
    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateBlock:
    """A block that may be put behind a node, and how it came about."""

    block: Block
    steps: tuple[Derivation, ...]
    """One; for a negative block that of the positive one it was made from, then its own."""
    place: int = 0
    """Of the changed call in the block."""
    takes: BlockInput
    """What the block alone is run on: what the node gives, after the block's adapter."""
    gives: BlockInput | None = None
    """What comes out of the block; None as long as it has not run."""

    @property
    def is_negative(self) -> bool:
        """Whether it should be refused."""
        return self.step.operator is Operator.BOUNDARY

    @property
    def step(self) -> Derivation:
        """The last step."""
        return self.steps[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A program: the first blocks of a seed, mutated, in its template."""

    chain: tuple[Block, ...] = ()
    path: tuple[Derivation, ...] = ()
    gives: BlockInput
    """What the last block gives to what follows."""

    def child(self, candidate: CandidateBlock) -> Node:
        """Return the node that a candidate that ran becomes."""
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
        "takes": fed_to_json(candidate.takes),
        "gives": fed_to_json(gives) if gives else None,
    }


def candidate_from_json(encoded: Json) -> CandidateBlock:
    """Rebuild a candidate.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if `encoded` is not the JSON form of one.
    """
    gives = encoded["gives"]
    return CandidateBlock(
        block=_block_from_json(encoded["block"]),
        steps=tuple(map(derivation_from_json, encoded["steps"])),
        place=int(encoded["place"]),
        takes=fed_from_json(encoded["takes"]),
        gives=fed_from_json(gives) if gives else None,
    )


def fed_to_json(fed: BlockInput) -> Json:
    """Return the JSON form of what a block is fed."""
    return [[*fed.shape], fed.dtype, fed.below]


def fed_from_json(encoded: Json) -> BlockInput:
    """Rebuild what a block is fed.

    Raises:
        TypeError, ValueError: if `encoded` is not its JSON form.
    """
    shape, dtype, below = encoded
    return BlockInput(tuple(map(int, shape)), str(dtype), int(below))


def _block_to_json(block: Block) -> Json:
    calls = [_call_to_json(call) for call in block.calls]
    own = [[_call_to_json(one.call), one.size, one.position, one.axis] for one in block.own]
    return [block.name, calls, block.adapter, [*block.follows], own]


def _block_from_json(encoded: Json) -> Block:
    name, calls, adapter, follows, own = encoded
    return Block(
        name=str(name),
        calls=tuple(map(_call_from_json, calls)),
        adapter=str(adapter),
        follows=tuple(None if place is None else int(place) for place in follows),
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
