"""Level `code`: batches of programs, derived from seed programs, the batch's index and feedback."""

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
    case_costs,
    observed_forms,
    successful_candidates,
)
from ciguard.levels.code.replacement import replacements_in
from ciguard.levels.code.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.programs import Derivation
    from ciguard.domain.values import Json
    from ciguard.levels.code.blocks import Block, BlockTensor
    from ciguard.levels.code.disassembled import DisassembledSeed
    from ciguard.levels.code.feedback import CodeFeedback
    from ciguard.levels.code.nodes import CandidateBlock, Node
    from ciguard.levels.code.operators import Operators

_CYCLES = 12
"""Number of runs of a program in one process, so that leaks add up. The blocks that run so often
are those with an API that is new to the campaign."""
_REPETITION_PERIOD = 3
"""Number of turns of a tree per repeated block; more repetition would take a third of a
campaign."""
_MAX_CRASH_COST = 16
"""Total cost of the crashes of an API's blocks at which these blocks no longer run."""
_SEED_BITS = 31
"""Size of a program's random seed, in bits."""
_INDEX_BITS = 40
"""Number of bits for a batch's index in the seed of the batch's random numbers."""


@dataclass(frozen=True, slots=True)
class _Parent:
    """The node of a tree that a batch extends."""

    tree: int
    """Index of the tree."""
    node: Node


@dataclass(frozen=True, slots=True)
class _BatchPlan:
    """The purpose of a batch, kept until its outcomes are known."""

    tree: int
    """Index of the tree."""
    serial: int
    """Serial number of the node that the batch extends."""
    lone_candidates: tuple[CandidateBlock, ...] | None = None
    """Candidates that run alone, one case each; None if whole programs run."""
    unfit_replacements: tuple[tuple[str, str], ...] = ()
    """Pairs of a replaced API and its replacement whose blocks cannot run alone."""
    program_indices: tuple[int, ...] = ()
    """Indices of the waiting candidates whose whole programs run, one case each."""
    once_only_checks: tuple[str, ...] = ()
    """Names of the checks in the remaining cases, each of which a campaign makes once: APIs whose
    blocks run many times, and standalone checks."""


class CodeLevel:
    """Level of programs that are assembled from mutated blocks, generation by generation.

    The first batches run the seed programs unchanged and observe the inputs of their blocks. Then
    the trees take turns. For the next node of a tree, the candidate blocks run alone. In the tree's
    next turn, the blocks that ran are assembled into whole programs.

    A batch depends on the seed, the index, and the feedback so far. Calling `cases` does not change
    later batches.
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
            effort: the amount of work per seed program; the defaults if None.

        Raises:
            ValueError: if there is no seed program.
        """
        if not programs:
            msg = "level `code`: there is no seed program that can be split into blocks"
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
        self._input_forms: dict[int, tuple[BlockTensor, ...]] = {}
        """Forms of the blocks' inputs, by index of the seed program."""
        self._completed_checks: set[str] = set()
        """APIs whose blocks ran many times in one process, and names of standalone checks."""
        self._costs: Counter[str] = Counter()
        """Total cost of crashes of programs whose last block calls an API, by API."""
        self._pending: dict[int, _BatchPlan] = {}
        """Plans of batches whose feedback is pending."""

    def _program_of(self, tree: int) -> DisassembledSeed:
        return self._programs[tree % len(self._programs)]

    def api_of(self, index: int) -> str:
        """Return the API of the batch of an index, which is always the library's name."""
        del index
        return self._library

    def cases(self, index: int) -> Batch:
        """Return the batch of an index."""
        rng = random.Random((self._seed << _INDEX_BITS) + index)  # noqa: S311 - a seeded generator is repeatable
        planted = [number for number, tree in enumerate(self._trees) if tree.is_planted]
        if index < len(self._programs) or not planted:
            cases = self._seed_cases(index % len(self._programs), rng)
            # Only one seed is repeated: repeating all would take most of the time.
            if index == self._seed % len(self._programs):
                cases.append(replace(cases[-1], cycles=_CYCLES))
        else:
            number = planted[(index - len(self._programs)) % len(planted)]
            plan, cases = self._expansion(number, rng)
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
        rows = list(zip(*outcomes.values(), strict=True))  # one row per case, one item per target
        plan = self._pending.pop(index, None)
        feedback: CodeFeedback | None
        if plan is None:
            feedback = self._seed_feedback(index % len(self._programs), rows)
        elif plan.lone_candidates is not None:
            successful = tuple(successful_candidates(plan.lone_candidates, rows))
            costs = case_costs(batch, rows)
            attempted = plan.lone_candidates[: len(rows)]
            replacements = (*replacements_in(attempted), *plan.unfit_replacements)
            feedback = BlocksRan(plan.tree, plan.serial, successful, costs, replacements)
        else:
            program_rows = zip(plan.program_indices, rows, strict=False)
            indices = tuple(index for index, row in program_rows if all_passed(row))
            costs = case_costs(batch, rows)
            # After a hang, the rest of a batch is skipped; the checks are at its end.
            completed_checks = max(0, len(rows) - len(plan.program_indices))
            checks = plan.once_only_checks[:completed_checks]
            feedback = ProgramsRan(plan.tree, plan.serial, indices, checks, costs)
        return feedback_to_json(feedback) if feedback else None

    def update(self, feedback: Json) -> None:
        """Apply feedback to the batches that are made after this call.

        Raises:
            ValueError: if the feedback does not have the form that `feedback` returns.
        """
        match feedback_from_json(feedback):
            case SeedObserved(seed, input_forms):
                self._plant_trees(seed, input_forms)
            case BlocksRan(tree, serial, candidates, costs, replacements):
                self._trees[tree].record_blocks(serial, candidates)
                self._operators.history.attempts.update(replacements)
                self._operators.history.runs.update(
                    after for _, after in replacements_in(candidates)
                )
                self._costs.update(dict(costs))
            case ProgramsRan(tree, serial, indices, checks, costs):
                self._trees[tree].record_programs(serial, indices)
                self._completed_checks.update(checks)
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
        passed = next((out for out in rows[0] if isinstance(out, Passed)), None) if rows else None
        input_forms = observed_forms(passed) if passed is not None else ()
        return SeedObserved(seed_index, input_forms) if input_forms else None

    def _plant_trees(self, seed: int, input_forms: tuple[BlockTensor, ...]) -> None:
        blocks = self._programs[seed].blocks
        if seed in self._input_forms or len(input_forms) <= len(blocks):
            return
        self._input_forms[seed] = input_forms
        for number in range(seed, len(self._trees), len(self._programs)):
            self._trees[number].plant(input_forms[0], partial(self._can_grow, number))

    # --- trees ----------------------------------------------------------------------------------

    def _can_grow(self, number: int, node: Node) -> bool:
        return self._next_block(number, node) is not None

    def _next_block(self, number: int, node: Node) -> Block | None:
        """Return the next block of a tree's seed, fitted to a node; None if it cannot be fitted."""
        depth = len(node.chain)
        return self._fit_block(
            number, depth, node.result_form, self._program_of(number).blocks[depth]
        )

    def _fit_block(
        self, number: int, depth: int, new: BlockTensor, block: Block, rank: int | None = None
    ) -> Block | None:
        old = self._input_forms[number % len(self._programs)][depth]
        return self._program_of(number).fitted(block, old, new, rank)

    def _expansion(self, number: int, rng: random.Random) -> tuple[_BatchPlan, list[ProgramCase]]:
        """Return the plan and the cases of a tree's next batch.

        Each case runs a candidate block by itself, or a program assembled from candidate blocks.
        """
        tree = self._trees[number]
        if tree.waiting_candidates:
            return self._assembly(number, tree, rng)
        block = self._next_block(number, tree.node)
        lone_candidates: list[CandidateBlock] = []
        unfit_replacements: list[tuple[str, str]] = []
        cases: list[ProgramCase] = []
        if block is not None:
            parent = _Parent(number, tree.node)
            input_form = tree.node.result_form
            slot = BlockSlot(
                input_form=input_form, fit=partial(self._fit_block, number, tree.depth, input_form)
            )
            mutations = self._effort.mutations
            for candidate in candidates(block, slot, self._operators, rng, mutations=mutations):
                if self._costs[candidate.step.api] >= _MAX_CRASH_COST:
                    continue
                try:
                    cases.append(self._block_case(parent, candidate, rng))
                except DisassemblyError:
                    unfit_replacements += replacements_in([candidate])
                else:
                    lone_candidates.append(candidate)
        plan = _BatchPlan(
            number,
            tree.serial,
            lone_candidates=tuple(lone_candidates),
            unfit_replacements=tuple(unfit_replacements),
        )
        return plan, cases

    def _block_case(
        self, parent: _Parent, candidate: CandidateBlock, rng: random.Random
    ) -> ProgramCase:
        program = self._program_of(parent.tree).alone(candidate.block, candidate.input_form)
        step = replace(candidate.step, line=program.line(0, candidate.place))
        return self._case(parent, candidate, program.source, step, rng)

    def _assembly(
        self, number: int, tree: Tree, rng: random.Random
    ) -> tuple[_BatchPlan, list[ProgramCase]]:
        """Return a batch of the waiting candidates' whole programs, and checks of their APIs."""
        program, parent = self._program_of(number), _Parent(number, tree.node)
        output_layer_input = self._input_forms[number % len(self._programs)][-1]
        parent_source = self._parent_source(program, tree.node, output_layer_input)
        cases, indices = [], []
        for index, candidate in enumerate(tree.waiting_candidates):
            result_form = candidate.result_form or candidate.input_form
            try:
                program_with_block = program.program(
                    (*tree.node.chain, candidate.block), result_form, output_layer_input
                )
                alone = program.alone(candidate.block, candidate.input_form)
            except DisassemblyError:
                continue  # the output layer cannot be fitted, so the node gets no such child
            step = replace(
                candidate.step,
                line=program_with_block.line(len(tree.node.chain), candidate.place),
                adapter=candidate.block.adapter or program_with_block.adapter,
            )
            case = self._case(parent, candidate, program_with_block.source, step, rng)
            ancestry = replace(case.ancestry, parent=parent_source)
            cases.append(replace(case, block=alone.source, ancestry=ancestry))
            indices.append(index)
        by_api = {
            candidate.step.api: candidate
            for candidate in tree.waiting_candidates
            if candidate.step.api and not candidate.is_negative
        }
        # Repetition costs as much as a dozen programs, so one API is repeated in some turns only.
        max_repeated = int(tree.serial % _REPETITION_PERIOD == 0)
        repeated = dict(
            [pair for pair in by_api.items() if pair[0] not in self._completed_checks][
                :max_repeated
            ]
        )
        cases += [
            replace(self._block_case(parent, candidate, rng), cycles=_CYCLES)
            for candidate in repeated.values()
        ]
        standalone = dict(self._standalone_cases(parent, tree.waiting_candidates, rng))
        cases += standalone.values()
        plan = _BatchPlan(
            number,
            tree.serial,
            program_indices=tuple(indices),
            once_only_checks=(*repeated, *standalone),
        )
        return plan, cases

    def _standalone_cases(
        self, parent: _Parent, waiting: Sequence[CandidateBlock], rng: random.Random
    ) -> Iterator[tuple[str, ProgramCase]]:
        """Yield the name and case of each standalone check that is not completed yet."""
        for candidate in waiting:
            if candidate.is_negative:
                continue
            source = self._program_of(parent.tree).source
            checks = (check(candidate, source) for check in self._operators.standalone_checks)
            for program in chain.from_iterable(checks):
                if program.name not in self._completed_checks:
                    steps = (replace(candidate.step, line=program.step.line), program.step)
                    checked = replace(candidate, steps=steps)
                    case = self._case(parent, checked, program.source, program.step, rng)
                    yield program.name, replace(case, block=program.control)

    @staticmethod
    def _parent_source(
        program: DisassembledSeed, node: Node, output_layer_input: BlockTensor
    ) -> str:
        """Return the text of a node's program; empty if it cannot be assembled."""
        try:
            return program.program(node.chain, node.result_form, output_layer_input).source
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
