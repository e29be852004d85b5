"""Nodes of a derivation tree, and candidates for child nodes, with their JSON forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator, derivation_from_json, derivation_to_json
from ciguard.levels.code.blocks import Block, BlockTensor, LibraryCall, OwnCall

if TYPE_CHECKING:
    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateBlock:
    """A block that may extend a node, and the steps that derived it."""

    block: Block
    steps: tuple[Derivation, ...]
    """Steps that derived the block: one step, or two for a block that the library should reject."""
    place: int = 0
    """Index of the changed call in the block."""
    input_form: BlockTensor
    """Form of the input with which the block runs alone: that of the node's result."""
    result_form: BlockTensor | None = None
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
    """A program: a chain of mutated blocks in a seed's template."""

    chain: tuple[Block, ...] = ()
    """Blocks in the places of the seed's first blocks."""
    path: tuple[Derivation, ...] = ()
    """Steps that derived the blocks."""
    result_form: BlockTensor
    """Form of the last block's result; without blocks, of the model's input."""

    def child(self, candidate: CandidateBlock) -> Node:
        """Return the child node that a candidate makes."""
        return Node(
            chain=(*self.chain, candidate.block),
            path=(*self.path, *candidate.steps),
            result_form=candidate.result_form or candidate.input_form,
        )


def candidate_to_json(candidate: CandidateBlock) -> Json:
    """Return the JSON form of a candidate."""
    result_form = candidate.result_form
    return {
        "block": _block_to_json(candidate.block),
        "steps": [derivation_to_json(step) for step in candidate.steps],
        "place": candidate.place,
        "takes": tensor_form_to_json(candidate.input_form),
        "gives": tensor_form_to_json(result_form) if result_form else None,
    }


def candidate_from_json(encoded: Json) -> CandidateBlock:
    """Rebuild a candidate from JSON.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if `encoded` is not the JSON form of a
        candidate.
    """
    result_form = encoded["gives"]
    return CandidateBlock(
        block=_block_from_json(encoded["block"]),
        steps=tuple(map(derivation_from_json, encoded["steps"])),
        place=int(encoded["place"]),
        input_form=tensor_form_from_json(encoded["takes"]),
        result_form=tensor_form_from_json(result_form) if result_form else None,
    )


def tensor_form_to_json(form: BlockTensor) -> Json:
    """Return the JSON form of a tensor's form."""
    return [[*form.shape], form.dtype, form.below]


def tensor_form_from_json(encoded: Json) -> BlockTensor:
    """Rebuild a tensor's form from JSON.

    Raises:
        TypeError, ValueError: if `encoded` is not the JSON form of a tensor's form.
    """
    shape, dtype, below = encoded
    return BlockTensor(tuple(map(int, shape)), str(dtype), int(below))


def _block_to_json(block: Block) -> Json:
    calls = [_call_to_json(call) for call in block.calls]
    own_calls = [
        [_call_to_json(own.call), own.parameter, own.position, own.axis] for own in block.own_calls
    ]
    return [block.name, calls, block.adapter, [*block.input_sources], own_calls]


def _block_from_json(encoded: Json) -> Block:
    name, calls, adapter, input_sources, own_calls = encoded
    return Block(
        name=str(name),
        calls=tuple(map(_call_from_json, calls)),
        adapter=str(adapter),
        input_sources=tuple(None if index is None else int(index) for index in input_sources),
        own_calls=tuple(
            OwnCall(
                call=_call_from_json(call),
                parameter=str(parameter),
                position=int(position),
                axis=int(axis),
            )
            for call, parameter, position, axis in own_calls
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
