"""Mutation of a seed's block into candidate blocks for its slot (MoCo, section III-C).

The operators are API replacement (AR), random generation (RG) and boundary checking (BC).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator
from ciguard.levels.code.calling import rank_of
from ciguard.levels.code.knowledge import rank_after
from ciguard.levels.code.nodes import CandidateBlock

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from ciguard.levels.code.blocks import Block, BlockMutant, BlockTensor
    from ciguard.levels.code.operators import Operators

_MAX_NEGATIVE = 3
"""Maximum number of illegal values that are tried per new block; all would take too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSlot:
    """A slot of a program, for one block."""

    input_form: BlockTensor
    """Form of the input that reaches the slot."""
    fit: Callable[[Block, int | None], Block | None]
    """Function that fits a block to the slot, and returns None if it cannot. The block accepts
    inputs of the given rank; None stands for the rank in the seed."""


def candidates(
    block: Block, slot: BlockSlot, operators: Operators, rng: random.Random, *, mutations: int
) -> Iterator[CandidateBlock]:
    """Yield the candidate blocks for one slot.

    The first candidate is the unchanged block. Then come mutants by AR or RG, each followed by
    mutants of it by BC.

    Args:
        block: the block, fitted to its slot.
        slot: the slot.
        operators: the operators of the library.
        rng: the source of randomness.
        mutations: the number of mutations by AR or RG (`times_mt` in MoCo).
    """
    yielded = {block}
    step = Derivation(block=block.name, line=0, adapter=block.adapter)
    yield CandidateBlock(block=block, steps=(step,), input_form=slot.input_form)
    for _ in range(mutations if block.calls else 0):
        index = rng.randrange(len(block.calls))
        mutant = _positive_mutant(block, index, operators, rng)
        fit = slot.fit(mutant.block, _rank(mutant.step)) if mutant else None
        if mutant is None or fit is None or fit in yielded:
            continue
        yielded.add(fit)
        yield CandidateBlock(
            block=fit, steps=(mutant.step,), place=index, input_form=slot.input_form
        )
        illegal = operators.boundary.mutants(fit, index)
        for negative in rng.sample(illegal, min(_MAX_NEGATIVE, len(illegal))):
            if negative.block not in yielded:
                yielded.add(negative.block)
                steps = (mutant.step, negative.step)
                yield CandidateBlock(
                    block=negative.block, steps=steps, place=index, input_form=slot.input_form
                )


def _rank(step: Derivation) -> int | None:
    """Return the rank of a block's input after a mutation; None if the rank is unchanged."""
    if step.operator is not Operator.REPLACEMENT:
        return None
    rank = rank_of(step.after)
    if rank is not None:
        return rank if rank != rank_of(step.before) else None
    return rank_after(step.before, step.after)


def _positive_mutant(
    block: Block, place: int, operators: Operators, rng: random.Random
) -> BlockMutant | None:
    """Return a mutant by AR or RG, the first in random order that has one; None if none has."""
    order = [operators.replacement, operators.generation]
    rng.shuffle(order)
    return next(filter(None, (operator(block, place, rng) for operator in order)), None)
