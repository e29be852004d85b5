"""From seed programs, index and what ran to a batch of programs."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed
from ciguard.domain.programs import Ancestry, ProgramCase
from ciguard.errors import DisassemblyError
from ciguard.levels import Batch, cost_of
from ciguard.levels.code.lessons import (
    ObservedSeed,
    Ran,
    RanAlone,
    lesson_from_json,
    lesson_to_json,
)
from ciguard.levels.code.mutation import BlockSlot, candidates
from ciguard.levels.code.observation import all_passed, fed_in, that_ran
from ciguard.levels.code.replacement import replaced_by
from ciguard.levels.code.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.programs import Derivation
    from ciguard.domain.values import Json
    from ciguard.levels.code.blocks import Block, BlockInput
    from ciguard.levels.code.disassembled import DisassembledSeed
    from ciguard.levels.code.lessons import Lesson
    from ciguard.levels.code.nodes import CandidateBlock, Node
    from ciguard.levels.code.operators import Operators

_CYCLES = 12
"""Times that the block of an API that is new to the campaign is built and trained in one process:
what it leaves behind adds up."""
_TURNS_BETWEEN = 3
"""Of a tree, from one block that is run many times to the next: else a third of the time of a
campaign would go into growth."""
_PATIENCE = 16
"""Blocks of an API are tried no more when the deaths of their programs have cost so much."""
_SEED_BITS = 31
_INDEX_BITS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How many programs are made of one seed."""

    times: int = 4
    """How often AR or RG mutates a block (times_mt)."""
    breadth: int = 8
    """Nodes of a generation that have children."""
    trees: int = 8
    """Grown side by side at the least: what a batch teaches is put to use some batches later, and
    the next batch of the same tree needs it."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where blocks are put: behind a node of a tree."""

    tree: int
    node: Node


@dataclass(frozen=True, slots=True)
class _Growth:
    """What a batch was made for."""

    tree: int
    serial: int
    tried: tuple[CandidateBlock, ...] | None = None
    """Blocks that are run alone, one case each; None where whole programs are run."""
    unfit: tuple[tuple[str, str], ...] = ()
    """APIs that were replaced and by which, in blocks that could not stand alone."""
    assembled: tuple[int, ...] = ()
    """Places of the waiting candidates whose programs are run, one case each."""
    repeated: tuple[str, ...] = ()
    """What is not tried again: APIs whose blocks are run many times, and what was tried
    with layers alone, in the cases that follow."""


class CodeLevel:
    """Programs assembled from mutated blocks, generation by generation.

    The first batches are the seeds as they are, and show what their blocks are called with. Then
    the trees take turns. For the node that is next in a tree, the blocks that may follow are run
    alone; in the tree's next turn, those that ran are put into whole programs. A batch depends on
    the seed, the index, and what was learned before; nothing that `cases` does changes later ones.
    """

    def __init__(
        self,
        library: str,
        seed: int,
        *,
        programs: Sequence[DisassembledSeed],
        operators: Operators,
        effort: Effort | None = None,
    ) -> None:
        """Make the level.

        Args:
            library: whose programs they are.
            seed: of the run.
            programs: the seeds.
            operators: of the library.
            effort: how many programs are made of a seed.

        Raises:
            ValueError: if there is no seed program.
        """
        if not programs:
            msg = "level code: no seed program to take apart"
            raise ValueError(msg)
        self._library = library
        self._seed = seed
        self._programs = tuple(programs)
        self._operators = operators
        self._effort = effort or Effort()
        replicas = -(-self._effort.trees // len(self._programs))
        self._trees = [
            Tree(f"{seed} {number}", depth=len(self._of(number).blocks), most=self._effort.breadth)
            for number in range(replicas * len(self._programs))
        ]
        self._fed: dict[int, tuple[BlockInput, ...]] = {}
        """By place of the seed."""
        self._repeated: set[str] = set()
        """APIs whose blocks were run many times in one process, and what was tried with layers
        alone."""
        self._costs: Counter[str] = Counter()
        """API → what deaths of programs whose last block calls it have cost."""
        self._made: dict[int, _Growth] = {}
        """Batches that no lesson was drawn from yet."""

    def _of(self, tree: int) -> DisassembledSeed:
        return self._programs[tree % len(self._programs)]

    def api_of(self, index: int) -> str:
        """Return the API of the batch of that index: the library, whatever is called."""
        del index
        return self._library

    def cases(self, index: int) -> Batch:
        """Return the batch of that index."""
        rng = random.Random((self._seed << _INDEX_BITS) + index)  # noqa: S311 - repeatable
        planted = [number for number, tree in enumerate(self._trees) if tree.is_planted]
        if index < len(self._programs) or not planted:
            made = self._seed_cases(index % len(self._programs), rng)
            if index == self._seed % len(self._programs):  # of each it would take most of the time
                made.append(replace(made[-1], cycles=_CYCLES))
        else:
            number = planted[(index - len(self._programs)) % len(planted)]
            growth, made = self._grown(number, rng)
            self._made[index] = growth
            # A tree learns that nothing can be put together from a batch that ran.
            made = made or self._seed_cases(number % len(self._programs), rng)[1:]
        return Batch(api=self._library, kind=CallKind.FUNCTION, cases=tuple(made))

    def taught(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> Json:
        """Return what a batch teaches, a lesson; nothing is learned yet.

        None where it teaches nothing.

        Args:
            index: of the batch.
            batch: as it was run.
            outcomes: of its cases, by target.
        """
        rows = list(zip(*outcomes.values(), strict=True))
        growth = self._made.pop(index, None)
        lesson: Lesson | None
        if growth is None:
            lesson = self._observed(index % len(self._programs), rows)
        elif growth.tried is not None:
            ran = tuple(that_ran(growth.tried, rows))
            costs = _costs(batch, rows)
            tried = (*replaced_by(growth.tried[: len(rows)]), *growth.unfit)
            lesson = RanAlone(growth.tree, growth.serial, ran, costs, tried)
        else:
            whole = zip(growth.assembled, rows, strict=False)
            places = tuple(place for place, row in whole if all_passed(row))
            costs = _costs(batch, rows)
            # After a hang the rest of a batch is left out: what was to be repeated is last.
            repeated = growth.repeated[: max(0, len(rows) - len(growth.assembled))]
            lesson = Ran(growth.tree, growth.serial, places, repeated, costs)
        return lesson_to_json(lesson) if lesson else None

    def guide(self, lesson: Json) -> None:
        """Put a lesson to use in the batches that are made from now on.

        Raises:
            ValueError: if this level did not draw it.
        """
        match lesson_from_json(lesson):
            case ObservedSeed(seed, fed):
                self._plant(seed, fed)
            case RanAlone(tree, serial, found, costs, tried):
                self._trees[tree].ran_alone(serial, found)
                self._operators.experience.tried.update(tried)
                self._operators.experience.ran.update(after for _, after in replaced_by(found))
                self._costs.update(dict(costs))
            case Ran(tree, serial, places, repeated, costs):
                self._trees[tree].ran(serial, places)
                self._repeated.update(repeated)
                self._costs.update(dict(costs))

    # --- seeds ----------------------------------------------------------------------------------

    def _seed_cases(self, place: int, rng: random.Random) -> list[ProgramCase]:
        program = self._programs[place]
        ancestry = Ancestry(seed=program.name)
        seed = rng.getrandbits(_SEED_BITS)
        return [
            ProgramCase(api=self._library, source=source, seed=seed, ancestry=ancestry)
            for source in (program.observing(), program.source)
        ]

    def _observed(self, place: int, rows: Sequence[Sequence[Outcome]]) -> ObservedSeed | None:
        first = next((out for out in rows[0] if isinstance(out, Passed)), None) if rows else None
        fed = fed_in(first) if first is not None else ()
        return ObservedSeed(place, fed) if fed else None

    def _plant(self, seed: int, fed: tuple[BlockInput, ...]) -> None:
        blocks = self._programs[seed].blocks
        if seed in self._fed or len(fed) <= len(blocks):
            return
        self._fed[seed] = fed
        for number in range(seed, len(self._trees), len(self._programs)):
            self._trees[number].plant(fed[0], partial(self._can_grow, number))

    # --- trees ----------------------------------------------------------------------------------

    def _can_grow(self, number: int, node: Node) -> bool:
        return self._next_block(number, node) is not None

    def _next_block(self, number: int, node: Node) -> Block | None:
        """Return the seed's next block, fitted to a node; None where it does not fit."""
        depth = len(node.chain)
        return self._fitted(number, depth, node.gives, self._of(number).blocks[depth])

    def _fitted(
        self, number: int, depth: int, now: BlockInput, block: Block, rank: int | None = None
    ) -> Block | None:
        was = self._fed[number % len(self._programs)][depth]
        return self._of(number).fitted(block, was, now, rank)

    def _grown(self, number: int, rng: random.Random) -> tuple[_Growth, list[ProgramCase]]:
        tree = self._trees[number]
        if tree.waiting:
            return self._assembled(number, tree, rng)
        block = self._next_block(number, tree.node)
        found: list[CandidateBlock] = []
        unfit: list[tuple[str, str]] = []
        cases: list[ProgramCase] = []
        if block is not None:
            spot = _Spot(number, tree.node)
            takes = tree.node.gives
            slot = BlockSlot(takes=takes, fit=partial(self._fitted, number, tree.depth, takes))
            times = self._effort.times
            for candidate in candidates(block, slot, self._operators, rng, times=times):
                if self._costs[candidate.step.api] >= _PATIENCE:
                    continue
                try:
                    cases.append(self._alone(spot, candidate, rng))
                except DisassemblyError:
                    unfit += replaced_by([candidate])
                else:
                    found.append(candidate)
        return _Growth(number, tree.serial, tried=tuple(found), unfit=tuple(unfit)), cases

    def _alone(self, spot: _Spot, candidate: CandidateBlock, rng: random.Random) -> ProgramCase:
        made = self._of(spot.tree).alone(candidate.block, candidate.takes)
        step = replace(candidate.step, line=made.line(0, candidate.place))
        return self._case(spot, candidate, made.source, step, rng)

    def _assembled(
        self, number: int, tree: Tree, rng: random.Random
    ) -> tuple[_Growth, list[ProgramCase]]:
        """Return the programs of what waits, and the blocks of new APIs many times over."""
        program, spot = self._of(number), _Spot(number, tree.node)
        met = self._fed[number % len(self._programs)][-1]
        parent = self._parent(program, tree.node, met)
        cases, places = [], []
        for place, candidate in enumerate(tree.waiting):
            gives = candidate.gives or candidate.takes
            try:
                whole = program.program((*tree.node.chain, candidate.block), gives, met)
                alone = program.alone(candidate.block, candidate.takes)
            except DisassemblyError:
                continue  # the output layer cannot be made to fit: no child
            step = replace(
                candidate.step,
                line=whole.line(len(tree.node.chain), candidate.place),
                adapter=candidate.block.adapter or whole.adapter,
            )
            case = self._case(spot, candidate, whole.source, step, rng)
            ancestry = replace(case.ancestry, parent=parent)
            cases.append(replace(case, block=alone.source, ancestry=ancestry))
            places.append(place)
        new = {
            candidate.step.api: candidate
            for candidate in tree.waiting
            if candidate.step.api and not candidate.is_negative
        }
        # Now and then, and one at a time: it costs as much as a dozen programs.
        most = int(tree.serial % _TURNS_BETWEEN == 0)
        repeated = dict([pair for pair in new.items() if pair[0] not in self._repeated][:most])
        cases += [replace(self._alone(spot, one, rng), cycles=_CYCLES) for one in repeated.values()]
        bare = dict(self._bare(spot, tree.waiting, rng))
        cases += bare.values()
        growth = _Growth(number, tree.serial, assembled=tuple(places), repeated=(*repeated, *bare))
        return growth, cases

    def _bare(
        self, spot: _Spot, waiting: Sequence[CandidateBlock], rng: random.Random
    ) -> Iterator[tuple[str, ProgramCase]]:
        """Yield what is tried with layers alone, once for each class of steps."""
        for candidate in waiting:
            if candidate.is_negative:
                continue
            source = self._of(spot.tree).source
            tried = (attempt(candidate, source) for attempt in self._operators.promises)
            for made in chain.from_iterable(tried):
                if made.name not in self._repeated:
                    steps = (replace(candidate.step, line=made.step.line), made.step)
                    whole = replace(candidate, steps=steps)
                    case = self._case(spot, whole, made.source, made.step, rng)
                    yield made.name, replace(case, block=made.control)

    @staticmethod
    def _parent(program: DisassembledSeed, node: Node, met: BlockInput) -> str:
        """Return the program of a node; nothing where the bare template cannot be made."""
        try:
            return program.program(node.chain, node.gives, met).source
        except DisassemblyError:
            return ""

    def _case(
        self,
        spot: _Spot,
        candidate: CandidateBlock,
        source: str,
        step: Derivation,
        rng: random.Random,
    ) -> ProgramCase:
        path = (*spot.node.path, *candidate.steps[:-1], step)
        replica = spot.tree // len(self._programs)
        replicas = len(self._trees) // len(self._programs)
        ancestry = Ancestry(
            seed=self._of(spot.tree).name,
            path=path,
            tree=self._trees[spot.tree].round * replicas + replica,
        )
        return ProgramCase(
            api=step.api or self._library,
            source=source,
            seed=rng.getrandbits(_SEED_BITS),
            intent=Intent.VIOLATING if candidate.is_negative else Intent.CONFORMING,
            ancestry=ancestry,
        )


def _costs(batch: Batch, rows: Sequence[Sequence[Outcome]]) -> tuple[tuple[str, int], ...]:
    costs: Counter[str] = Counter()
    for case, row in zip(batch.cases, rows, strict=False):
        if isinstance(case, ProgramCase) and case.cycles == 1:
            costs[case.api] += max(map(cost_of, row))
    return tuple((api, cost) for api, cost in costs.items() if cost)
