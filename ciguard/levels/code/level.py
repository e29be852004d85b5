"""Level `code`: batches of programs from seed programs, index and feedback."""

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
from ciguard.levels import Batch
from ciguard.levels.code.effort import Effort
from ciguard.levels.code.feedback import (
    BlocksRan,
    ProgramsRan,
    SeedObserved,
    feedback_from_json,
    feedback_to_json,
)
from ciguard.levels.code.mutation import BlockSlot, candidates
from ciguard.levels.code.observation import (
    all_passed,
    block_inputs_in,
    case_costs,
    successful_candidates,
)
from ciguard.levels.code.replacement import replaced_by
from ciguard.levels.code.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.programs import Derivation
    from ciguard.domain.values import Json
    from ciguard.levels.code.blocks import Block, BlockInput
    from ciguard.levels.code.disassembled import DisassembledSeed
    from ciguard.levels.code.feedback import CodeFeedback
    from ciguard.levels.code.nodes import CandidateBlock, Node
    from ciguard.levels.code.operators import Operators

_CYCLES = 12
"""Number of runs of a block in one process, so that leaks add up. Blocks with an API that is new to
the campaign are repeated."""
_REPETITION_PERIOD = 3
"""Turns of a tree per repeated block; more repetition would take a third of a campaign."""
_MAX_CRASH_COST = 16
"""Cost of crashes from which on an API's blocks are no longer run."""
_SEED_BITS = 31
_INDEX_BITS = 40


@dataclass(frozen=True, slots=True)
class _Parent:
    """The node of a tree that a batch extends."""

    tree: int
    node: Node


@dataclass(frozen=True, slots=True)
class _BatchPlan:
    """The purpose of a batch, kept until its outcomes are known."""

    tree: int
    serial: int
    tried: tuple[CandidateBlock, ...] | None = None
    """Candidates that run alone, one case each; None if whole programs run."""
    unfit: tuple[tuple[str, str], ...] = ()
    """Pairs of a replaced API and its replacement whose blocks cannot run alone."""
    assembled: tuple[int, ...] = ()
    """Indices of the waiting candidates whose programs run, one case each."""
    repeated: tuple[str, ...] = ()
    """Checks in the remaining cases, which are not repeated: APIs whose blocks run many times, and
    standalone checks."""


class CodeLevel:
    """Programs assembled from mutated blocks, generation by generation.

    The first batches run the seed programs unchanged and observe the inputs of their blocks. Then
    the trees take turns. For the next node of a tree, the candidate blocks run alone. In the tree's
    next turn, those that ran are assembled into whole programs.

    A batch depends on the seed, the index, and the feedback so far; `cases` does not change later
    batches.
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
        """Create the level.

        Args:
            library: the library of the programs.
            seed: the seed of the run.
            programs: the seed programs.
            operators: the mutation operators of the library.
            effort: the amount of work per seed program.

        Raises:
            ValueError: if there is no seed program.
        """
        if not programs:
            msg = "level code: no seed program to disassemble"
            raise ValueError(msg)
        self._library = library
        self._seed = seed
        self._programs = tuple(programs)
        self._operators = operators
        self._effort = effort or Effort()
        replicas = -(-self._effort.trees // len(self._programs))
        self._trees = [
            Tree(
                f"{seed} {number}",
                depth=len(self._program_of(number).blocks),
                breadth=self._effort.breadth,
            )
            for number in range(replicas * len(self._programs))
        ]
        self._fed: dict[int, tuple[BlockInput, ...]] = {}
        """Block inputs, by index of the seed program."""
        self._repeated: set[str] = set()
        """APIs whose blocks ran many times in one process, and standalone checks."""
        self._costs: Counter[str] = Counter()
        """Cost of crashes of programs whose last block calls an API, by API."""
        self._pending: dict[int, _BatchPlan] = {}
        """Plans of batches whose feedback is pending."""

    def _program_of(self, tree: int) -> DisassembledSeed:
        return self._programs[tree % len(self._programs)]

    def api_of(self, index: int) -> str:
        """Return the API of the batch of an index: the library, whatever the programs call."""
        del index
        return self._library

    def cases(self, index: int) -> Batch:
        """Return the batch of an index."""
        rng = random.Random((self._seed << _INDEX_BITS) + index)  # noqa: S311 - repeatable
        planted = [number for number, tree in enumerate(self._trees) if tree.is_planted]
        if index < len(self._programs) or not planted:
            cases = self._seed_cases(index % len(self._programs), rng)
            # One seed is repeated: all of them would take most of the time.
            if index == self._seed % len(self._programs):
                cases.append(replace(cases[-1], cycles=_CYCLES))
        else:
            number = planted[(index - len(self._programs)) % len(planted)]
            plan, cases = self._expanded(number, rng)
            self._pending[index] = plan
            # Even if nothing can be assembled, a batch must run, so that the tree gets feedback.
            cases = cases or self._seed_cases(number % len(self._programs), rng)[1:]
        return Batch(api=self._library, kind=CallKind.FUNCTION, cases=tuple(cases))

    def feedback(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> Json:
        """Return the feedback of a batch without applying it.

        Args:
            index: the index of the batch.
            batch: the batch as it was run.
            outcomes: the outcomes of the batch's cases, by target.

        Returns:
            The feedback as JSON; None if there is none.
        """
        rows = list(zip(*outcomes.values(), strict=True))
        plan = self._pending.pop(index, None)
        feedback: CodeFeedback | None
        if plan is None:
            feedback = self._seed_feedback(index % len(self._programs), rows)
        elif plan.tried is not None:
            ran = tuple(successful_candidates(plan.tried, rows))
            costs = case_costs(batch, rows)
            tried = (*replaced_by(plan.tried[: len(rows)]), *plan.unfit)
            feedback = BlocksRan(plan.tree, plan.serial, ran, costs, tried)
        else:
            assembled_rows = zip(plan.assembled, rows, strict=False)
            places = tuple(index for index, row in assembled_rows if all_passed(row))
            costs = case_costs(batch, rows)
            # After a hang the rest of a batch is skipped; the repeated cases are last.
            repeated = plan.repeated[: max(0, len(rows) - len(plan.assembled))]
            feedback = ProgramsRan(plan.tree, plan.serial, places, repeated, costs)
        return feedback_to_json(feedback) if feedback else None

    def update(self, feedback: Json) -> None:
        """Apply feedback to the batches that are made from now on.

        Raises:
            ValueError: if the feedback is not of this level.
        """
        match feedback_from_json(feedback):
            case SeedObserved(seed, fed):
                self._plant_trees(seed, fed)
            case BlocksRan(tree, serial, candidates, costs, tried):
                self._trees[tree].ran_alone(serial, candidates)
                self._operators.experience.tried.update(tried)
                self._operators.experience.ran.update(after for _, after in replaced_by(candidates))
                self._costs.update(dict(costs))
            case ProgramsRan(tree, serial, places, repeated, costs):
                self._trees[tree].ran(serial, places)
                self._repeated.update(repeated)
                self._costs.update(dict(costs))

    # --- seeds ----------------------------------------------------------------------------------

    def _seed_cases(self, seed_index: int, rng: random.Random) -> list[ProgramCase]:
        program = self._programs[seed_index]
        ancestry = Ancestry(seed=program.name)
        seed = rng.getrandbits(_SEED_BITS)
        return [
            ProgramCase(api=self._library, source=source, seed=seed, ancestry=ancestry)
            for source in (program.observing(), program.source)
        ]

    def _seed_feedback(
        self, seed_index: int, rows: Sequence[Sequence[Outcome]]
    ) -> SeedObserved | None:
        first = next((out for out in rows[0] if isinstance(out, Passed)), None) if rows else None
        fed = block_inputs_in(first) if first is not None else ()
        return SeedObserved(seed_index, fed) if fed else None

    def _plant_trees(self, seed: int, fed: tuple[BlockInput, ...]) -> None:
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
        """Return the seed's next block, fitted to a node; None if it cannot be fitted."""
        depth = len(node.chain)
        return self._fitted(number, depth, node.gives, self._program_of(number).blocks[depth])

    def _fitted(
        self, number: int, depth: int, now: BlockInput, block: Block, rank: int | None = None
    ) -> Block | None:
        was = self._fed[number % len(self._programs)][depth]
        return self._program_of(number).fitted(block, was, now, rank)

    def _expanded(self, number: int, rng: random.Random) -> tuple[_BatchPlan, list[ProgramCase]]:
        tree = self._trees[number]
        if tree.waiting:
            return self._assembled(number, tree, rng)
        block = self._next_block(number, tree.node)
        tried: list[CandidateBlock] = []
        unfit: list[tuple[str, str]] = []
        cases: list[ProgramCase] = []
        if block is not None:
            parent = _Parent(number, tree.node)
            takes = tree.node.gives
            slot = BlockSlot(takes=takes, fit=partial(self._fitted, number, tree.depth, takes))
            times = self._effort.times
            for candidate in candidates(block, slot, self._operators, rng, times=times):
                if self._costs[candidate.step.api] >= _MAX_CRASH_COST:
                    continue
                try:
                    cases.append(self._alone(parent, candidate, rng))
                except DisassemblyError:
                    unfit += replaced_by([candidate])
                else:
                    tried.append(candidate)
        return _BatchPlan(number, tree.serial, tried=tuple(tried), unfit=tuple(unfit)), cases

    def _alone(self, parent: _Parent, candidate: CandidateBlock, rng: random.Random) -> ProgramCase:
        program = self._program_of(parent.tree).alone(candidate.block, candidate.takes)
        step = replace(candidate.step, line=program.line(0, candidate.place))
        return self._case(parent, candidate, program.source, step, rng)

    def _assembled(
        self, number: int, tree: Tree, rng: random.Random
    ) -> tuple[_BatchPlan, list[ProgramCase]]:
        """Return the waiting candidates as whole programs, and repetitions of new APIs."""
        program, parent = self._program_of(number), _Parent(number, tree.node)
        output_layer_input = self._fed[number % len(self._programs)][-1]
        parent_source = self._parent(program, tree.node, output_layer_input)
        cases, indices = [], []
        for index, candidate in enumerate(tree.waiting):
            gives = candidate.gives or candidate.takes
            try:
                program_with_block = program.program(
                    (*tree.node.chain, candidate.block), gives, output_layer_input
                )
                alone = program.alone(candidate.block, candidate.takes)
            except DisassemblyError:
                continue  # the output layer cannot be fitted: no child
            step = replace(
                candidate.step,
                line=program_with_block.line(len(tree.node.chain), candidate.place),
                adapter=candidate.block.adapter or program_with_block.adapter,
            )
            case = self._case(parent, candidate, program_with_block.source, step, rng)
            ancestry = replace(case.ancestry, parent=parent_source)
            cases.append(replace(case, block=alone.source, ancestry=ancestry))
            indices.append(index)
        new = {
            candidate.step.api: candidate
            for candidate in tree.waiting
            if candidate.step.api and not candidate.is_negative
        }
        # Rarely, and one at a time: it costs as much as a dozen programs.
        max_repeated = int(tree.serial % _REPETITION_PERIOD == 0)
        repeated = dict(
            [pair for pair in new.items() if pair[0] not in self._repeated][:max_repeated]
        )
        cases += [
            replace(self._alone(parent, candidate, rng), cycles=_CYCLES)
            for candidate in repeated.values()
        ]
        standalone = dict(self._standalone(parent, tree.waiting, rng))
        cases += standalone.values()
        plan = _BatchPlan(
            number, tree.serial, assembled=tuple(indices), repeated=(*repeated, *standalone)
        )
        return plan, cases

    def _standalone(
        self, parent: _Parent, waiting: Sequence[CandidateBlock], rng: random.Random
    ) -> Iterator[tuple[str, ProgramCase]]:
        """Yield the standalone checks, once for each class of steps."""
        for candidate in waiting:
            if candidate.is_negative:
                continue
            source = self._program_of(parent.tree).source
            checks = (check(candidate, source) for check in self._operators.standalone_checks)
            for program in chain.from_iterable(checks):
                if program.name not in self._repeated:
                    steps = (replace(candidate.step, line=program.step.line), program.step)
                    whole = replace(candidate, steps=steps)
                    case = self._case(parent, whole, program.source, program.step, rng)
                    yield program.name, replace(case, block=program.control)

    @staticmethod
    def _parent(program: DisassembledSeed, node: Node, output_layer_input: BlockInput) -> str:
        """Return a node's program; empty if the template alone cannot be assembled."""
        try:
            return program.program(node.chain, node.gives, output_layer_input).source
        except DisassemblyError:
            return ""

    def _case(
        self,
        parent: _Parent,
        candidate: CandidateBlock,
        source: str,
        step: Derivation,
        rng: random.Random,
    ) -> ProgramCase:
        path = (*parent.node.path, *candidate.steps[:-1], step)
        replica = parent.tree // len(self._programs)
        replicas = len(self._trees) // len(self._programs)
        ancestry = Ancestry(
            seed=self._program_of(parent.tree).name,
            path=path,
            tree=self._trees[parent.tree].round * replicas + replica,
        )
        return ProgramCase(
            api=step.api or self._library,
            source=source,
            seed=rng.getrandbits(_SEED_BITS),
            intent=Intent.VIOLATING if candidate.is_negative else Intent.CONFORMING,
            ancestry=ancestry,
        )
