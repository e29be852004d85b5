"""From a block to the blocks that may follow in its place (MoCo, section III-C)."""

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
"""Illegal values that are tried on each new block; there are more blocks than time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSlot:
    """Where a block is put."""

    takes: BlockInput
    """What it is called with there."""
    fit: Callable[[Block, int | None], Block | None]
    """Makes a block fit the slot, which takes data of a rank or, for None, of the seed's; None
    where nothing does."""


def candidates(
    block: Block, slot: BlockSlot, operators: Operators, rng: random.Random, *, times: int
) -> Iterator[CandidateBlock]:
    """Yield the blocks that are tried in one slot.

    First the block as it is; then new ones by AR or RG, each followed by those that BC makes of it.

    Args:
        block: fitted to its slot.
        slot: where it is put.
        operators: of the library.
        rng: what chance there is.
        times: how often AR or RG is applied (times_mt).
    """
    seen = {block}
    step = Derivation(block=block.name, line=0, adapter=block.adapter)
    yield CandidateBlock(block=block, steps=(step,), takes=slot.takes)
    for _ in range(times if block.calls else 0):
        place = rng.randrange(len(block.calls))
        mutant = _positive(block, place, operators, rng)
        fit = slot.fit(mutant.block, _rank(mutant.step)) if mutant else None
        if mutant is None or fit is None or fit in seen:
            continue
        seen.add(fit)
        yield CandidateBlock(block=fit, steps=(mutant.step,), place=place, takes=slot.takes)
        illegal = operators.boundary.mutants(fit, place)
        for negative in rng.sample(illegal, min(_MAX_NEGATIVE, len(illegal))):
            if negative.block not in seen:
                seen.add(negative.block)
                steps = (mutant.step, negative.step)
                yield CandidateBlock(
                    block=negative.block, steps=steps, place=place, takes=slot.takes
                )


def _rank(step: Derivation) -> int | None:
    """Return the rank of the data that a block takes after a step, where it takes another."""
    if step.operator is not Operator.REPLACEMENT:
        return None
    rank = rank_of(step.after)
    if rank is not None:
        return rank if rank != rank_of(step.before) else None
    return rank_after(step.before, step.after)


def _positive(
    block: Block, place: int, operators: Operators, rng: random.Random
) -> BlockMutant | None:
    """Apply AR or RG, whichever chance says, or the other where that finds nothing."""
    order = [operators.replacement, operators.generation]
    rng.shuffle(order)
    return next(filter(None, (operate(block, place, rng) for operate in order)), None)
