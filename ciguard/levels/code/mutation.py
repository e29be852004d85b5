"""Candidate blocks for a slot, by mutation of the seed's block (MoCo, section III-C)."""

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

    from ciguard.levels.code.blocks import Block, BlockInput, BlockMutant
    from ciguard.levels.code.operators import Operators

_MAX_NEGATIVE = 3
"""Number of illegal values per new block, since there is not enough time for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSlot:
    """The slot that a block fills."""

    takes: BlockInput
    """Form of the block's input there."""
    fit: Callable[[Block, int | None], Block | None]
    """Fits a block to the slot for data of a rank, or for None of the seed's rank; returns None if
    impossible."""


def candidates(
    block: Block, slot: BlockSlot, operators: Operators, rng: random.Random, *, times: int
) -> Iterator[CandidateBlock]:
    """Yield the candidate blocks for one slot.

    First the unchanged block; then new ones by AR or RG, each followed by its mutants by BC.

    Args:
        block: the block, fitted to its slot.
        slot: the slot.
        operators: the operators of the library.
        rng: the source of randomness.
        times: the number of mutations by AR or RG (times_mt).
    """
    known = {block}
    step = Derivation(block=block.name, line=0, adapter=block.adapter)
    yield CandidateBlock(block=block, steps=(step,), takes=slot.takes)
    for _ in range(times if block.calls else 0):
        index = rng.randrange(len(block.calls))
        mutant = _positive(block, index, operators, rng)
        fit = slot.fit(mutant.block, _rank(mutant.step)) if mutant else None
        if mutant is None or fit is None or fit in known:
            continue
        known.add(fit)
        yield CandidateBlock(block=fit, steps=(mutant.step,), place=index, takes=slot.takes)
        illegal = operators.boundary.mutants(fit, index)
        for negative in rng.sample(illegal, min(_MAX_NEGATIVE, len(illegal))):
            if negative.block not in known:
                known.add(negative.block)
                steps = (mutant.step, negative.step)
                yield CandidateBlock(
                    block=negative.block, steps=steps, place=index, takes=slot.takes
                )


def _rank(step: Derivation) -> int | None:
    """Return the rank of a block's input after a step; None if it is unchanged."""
    if step.operator is not Operator.REPLACEMENT:
        return None
    rank = rank_of(step.after)
    if rank is not None:
        return rank if rank != rank_of(step.before) else None
    return rank_after(step.before, step.after)


def _positive(
    block: Block, place: int, operators: Operators, rng: random.Random
) -> BlockMutant | None:
    """Return a mutant by AR or RG, in random order; the second if the first finds nothing."""
    order = [operators.replacement, operators.generation]
    rng.shuffle(order)
    return next(filter(None, (operator(block, place, rng) for operator in order)), None)
