"""Batches of level `code` depend on seed, index and feedback; trees grow by generation."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from code_examples import ExampleBoundary, ExampleMutation, Program, outcome_of, passed
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Hung, Passed, Rejected
from ciguard.domain.programs import Operator, ProgramCase
from ciguard.levels import GuidedLevel, IndexedLevel
from ciguard.levels.code.effort import Effort
from ciguard.levels.code.feedback import ProgramsRan, feedback_from_json
from ciguard.levels.code.level import CodeLevel
from ciguard.levels.code.operators import Operators
from ciguard.levels.code.replacement import ReplacementHistory
from ciguard.levels.code.standalone import StandaloneProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.levels import Batch
    from ciguard.levels.code.nodes import CandidateBlock

OPERATORS = Operators(
    replacement=ExampleMutation(Operator.REPLACEMENT),
    generation=ExampleMutation(Operator.GENERATION),
    boundary=ExampleBoundary(),
    standalone_checks=(),
)

LAG = 6


def level(seed: int = 5, *, breadth: int = 3) -> CodeLevel:
    effort = Effort(breadth=breadth)
    return CodeLevel("lib", seed, programs=[Program()], operators=OPERATORS, effort=effort)


def programs_in(batch: Batch) -> list[ProgramCase]:
    return [case for case in batch.cases if isinstance(case, ProgramCase)]


def run(
    code_level: CodeLevel,
    count: int,
    *,
    first: int = 0,
    pending: list[tuple[int, Json]] | None = None,
    outcome_function: Callable[[ProgramCase], Outcome] = outcome_of,
) -> list[Batch]:
    """Run batches on two targets; the feedback of a batch is applied `LAG` batches later."""
    pending = [] if pending is None else pending
    batches = []
    for index in range(first, first + count):
        while pending and pending[0][0] <= index - LAG:
            code_level.update(pending.pop(0)[1])
        batch = code_level.cases(index)
        outcomes = [outcome_function(case) for case in programs_in(batch)]
        feedback = code_level.feedback(index, batch, {"one": outcomes, "two": outcomes})
        if feedback is not None:
            pending.append((index, json.loads(json.dumps(feedback))))
        batches.append(batch)
    return batches


def test_the_level_is_a_guided_level() -> None:
    assert isinstance(level(), GuidedLevel)
    assert isinstance(level(), IndexedLevel)
    with pytest.raises(ValueError, match="no seed program"):
        CodeLevel("lib", 1, programs=[], operators=OPERATORS)


def test_the_first_batch_is_the_seed_and_its_observing_program() -> None:
    batch = level().cases(0)

    results = [(case.source, case.cycles) for case in programs_in(batch)]
    assert results == [("observing", 1), ("seed", 1), ("seed", 12)]


def test_a_batch_depends_on_feedback_and_not_on_earlier_proposals() -> None:
    first, second = level(), level()
    expected = run(first, 80)
    for index in range(200):
        second.cases(index)  # these cases never run

    assert run(second, 80) == expected
    assert run(level(6), 80) != expected


@given(st.integers(1, 60))
@pytest.mark.slow
def test_a_resumed_campaign_makes_the_same_batches(stop: int) -> None:
    expected = run(level(), 90)[stop:]
    pending: list[tuple[int, Json]] = []
    applied: list[tuple[int, Json]] = []
    first = level()
    for index in range(stop):
        run(first, 1, first=index, pending=pending)
        applied += [item for item in pending if item not in applied]

    assert run(level(), 90 - stop, first=stop, pending=applied) == expected


def test_blocks_run_alone_before_they_run_in_programs() -> None:
    alone: set[str] = set()
    for batch in run(level(), 200)[1:]:
        for case in programs_in(batch):
            kind = json.loads(case.source)[0] if case.source[0] == "[" else ""
            if kind == "whole":
                assert case.block in alone
            elif kind == "alone":
                alone.add(case.source)
    assert alone


@pytest.mark.parametrize("shape", [(3, 6), (4, 0), ()])
def test_blocks_that_lose_samples_are_not_assembled(shape: tuple[int, ...]) -> None:
    def outcome_with_lost_samples(case: ProgramCase) -> Outcome:
        return (
            passed(y=np.zeros(shape, np.float32)) if "Other1" in case.source else outcome_of(case)
        )

    for batch in run(level(), 120, outcome_function=outcome_with_lost_samples)[1:]:
        for case in programs_in(batch):
            assert not (case.source.startswith('["whole"') and "Other1" in case.source)


def test_trees_grow_to_the_full_depth_and_start_again() -> None:
    depths: Counter[int] = Counter()
    for batch in run(level(), 300)[1:]:
        for case in programs_in(batch):
            if case.source.startswith('["whole"'):
                depths[len(json.loads(case.source)[1])] += 1

    assert set(depths) == {1, 2, 3}
    assert depths[2] > depths[1]


def test_only_programs_that_ran_have_children() -> None:
    def outcome_with_refusal(case: ProgramCase) -> Outcome:
        bad = "lib.Other1" in case.source
        return Rejected("ValueError", "no such layer") if bad else outcome_of(case)

    for batch in run(level(), 200, outcome_function=outcome_with_refusal)[1:]:
        for case in programs_in(batch):
            if case.source.startswith('["whole"'):
                assert "lib.Other1" not in case.source


def test_attempts_are_counted_per_pair_and_runs_per_api() -> None:
    def outcome_with_refusal(case: ProgramCase) -> Outcome:
        bad = "lib.Other1" in case.source
        return Rejected("ValueError", "no such layer") if bad else outcome_of(case)

    operators = replace(OPERATORS, history=ReplacementHistory())
    code_level = CodeLevel(
        "lib", 5, programs=[Program()], operators=operators, effort=Effort(breadth=3)
    )
    run(code_level, 200, outcome_function=outcome_with_refusal)
    history = operators.history

    assert {after for _, after in history.attempts} >= {"lib.Other0", "lib.Other1"}
    assert history.runs["lib.Other0"] > 0
    assert "lib.Other1" not in history.runs


def test_illegal_blocks_are_assembled_only_where_they_were_accepted_alone() -> None:
    whole = [
        case
        for batch in run(level(), 200)
        for case in programs_in(batch)
        if case.source.startswith('["whole"')
    ]
    negative = [case for case in whole if case.intent is Intent.VIOLATING]

    assert negative
    assert {case.ancestry.path[-1].after for case in negative} == {"-1"}
    assert {case.ancestry.path[-1].operator for case in negative} == {Operator.BOUNDARY}
    assert all(case.focus == "units" for case in negative)


def test_no_generation_has_more_parents_than_the_breadth() -> None:
    code_level = level(breadth=2)
    run(code_level, 400)

    assert all(len(tree._frontier) <= 2 for tree in code_level._trees)


def test_the_step_has_the_changed_line() -> None:
    for batch in run(level(), 120)[1:]:
        for case in programs_in(batch):
            if case.source.startswith('["whole"') and case.ancestry.path[-1].operator:
                depth = len(json.loads(case.source)[1])
                assert case.ancestry.path[-1].line // 10 == depth - 1


def test_blocks_of_new_apis_are_repeated_once() -> None:
    repeated: Counter[str] = Counter()
    for batch in run(level(), 300):
        repeated.update(case.api for case in programs_in(batch) if case.cycles > 1)

    assert {"lib.Other0", "lib.Other1", "lib.Other2"} <= set(repeated)
    assert max(repeated.values()) <= 8  # several trees may start the check before the first result


def test_a_block_that_a_hang_skipped_is_repeated_later() -> None:
    code_level, repeated = level(), Counter[str]()
    for index in range(300):
        batch = code_level.cases(index)
        cases = programs_in(batch)
        # The first program of every third batch hangs, which ends the batch.
        hangs = index % 3 == 0 and cases[0].source.startswith('["whole"')
        rows: list[Outcome] = [Hung(20.0)] if hangs else [outcome_of(case) for case in cases]
        repeated.update(case.api for case, _ in zip(cases, rows, strict=False) if case.cycles > 1)
        feedback = code_level.feedback(index, batch, {"one": rows})
        if feedback is not None:
            skipped = cases[len(rows) :]
            assert not {case.api for case in skipped if case.cycles > 1} & set(_names_in(feedback))
            code_level.update(feedback)

    assert {"lib.Other0", "lib.Other1", "lib.Other2"} <= set(repeated)


def _names_in(feedback: Json) -> tuple[str, ...]:
    results = feedback_from_json(feedback)
    return results.repeated_checks if isinstance(results, ProgramsRan) else ()


@pytest.mark.parametrize("seeds", [1, 3, 9, 20])
@pytest.mark.parametrize("lag", [6, 8, 12, 48])
@pytest.mark.lengthy
def test_a_tree_misses_no_turn_if_its_feedback_is_late(seeds: int, lag: int) -> None:
    programs, effort = [Program() for _ in range(seeds)], Effort(trees=lag)
    code_level = CodeLevel("lib", 5, programs=programs, operators=OPERATORS, effort=effort)
    trees = -(-lag // seeds) * seeds
    applied: list[Json] = []
    turns: list[tuple[int, int, str]] = []
    for index in range(seeds + lag + 4 * trees):
        if index >= lag and applied[index - lag] is not None:
            code_level.update(applied[index - lag])
        batch = code_level.cases(index)
        outcomes = [outcome_of(case) for case in programs_in(batch)]
        applied.append(code_level.feedback(index, batch, {"one": outcomes}))
        if index >= seeds + lag:  # all trees are planted
            turns.append((applied[-1][1], applied[-1][2], applied[-1][0]))

    assert len(turns) == 4 * trees
    assert len(set(turns)) == len(turns)


def test_a_seed_that_fails_runs_again_and_gives_no_feedback() -> None:
    def failing_outcome(case: ProgramCase) -> Outcome:
        del case
        return Rejected("ImportError", "no such module")

    batches = run(level(), 20, outcome_function=failing_outcome)
    assert {case.source for batch in batches for case in programs_in(batch)} == {
        "observing",
        "seed",
    }


def test_a_program_that_one_target_rejects_has_no_children() -> None:
    code_level = level()
    code_level.update(
        code_level.feedback(
            0,
            code_level.cases(0),
            {"one": [outcome_of(c) for c in programs_in(code_level.cases(0))]},
        )
    )
    batch = code_level.cases(1)
    good: list[Outcome] = [outcome_of(case) for case in programs_in(batch)]
    bad: list[Outcome] = [Rejected("ValueError", "no") for _ in good]

    other: list[Outcome] = [passed(y=np.zeros((4, 7), np.float32)) for _ in good]

    alone = code_level.feedback(1, batch, {"one": good, "two": bad})
    both = level()
    both.update(
        both.feedback(
            0, both.cases(0), {"one": [outcome_of(c) for c in programs_in(both.cases(0))]}
        )
    )
    known = both.feedback(1, both.cases(1), {"one": good, "two": good})
    third = level()
    third.update(
        third.feedback(
            0, third.cases(0), {"one": [outcome_of(c) for c in programs_in(third.cases(0))]}
        )
    )
    differing = third.feedback(1, third.cases(1), {"one": good, "two": other})

    assert alone[3] == []
    assert len(known[3]) == sum(isinstance(out, Passed) for out in good)
    assert differing[3] == []


def test_a_standalone_check_runs_once() -> None:
    def check(candidate: CandidateBlock, source: str) -> Iterator[StandaloneProgram]:
        assert source == "seed"
        if candidate.step.api:
            step = replace(candidate.step, operator=Operator.UNBATCHED, line=2)
            yield StandaloneProgram("one sample", "a batch", step, f"UB {step.api}")

    operators = replace(OPERATORS, standalone_checks=(check,))
    code_level = CodeLevel(
        "lib", 5, programs=[Program()], operators=operators, effort=Effort(breadth=3)
    )

    checks = [case for batch in run(code_level, 300) for case in programs_in(batch) if case.block]
    checks = [case for case in checks if case.source == "one sample"]

    assert {case.block for case in checks} == {"a batch"}
    assert {case.intent for case in checks} == {Intent.CONFORMING}
    assert {case.ancestry.path[-1].operator for case in checks} == {Operator.UNBATCHED}
    counts = Counter(case.api for case in checks)
    assert {"lib.Other0", "lib.Dense"} <= set(counts)
    assert max(counts.values()) <= 8  # several trees may start the check before the first result


def test_apis_whose_programs_crash_are_excluded() -> None:
    def outcome_with_hang(case: ProgramCase) -> Outcome:
        return Hung(20.0) if case.api == "lib.Other1" else outcome_of(case)

    batches = run(level(), 400, outcome_function=outcome_with_hang)
    batches_with_api = [
        index
        for index, batch in enumerate(batches)
        if any(case.api == "lib.Other1" for case in programs_in(batch))
    ]

    assert 2 <= len(batches_with_api) <= 2 + LAG


@pytest.mark.parametrize(
    "text",
    [None, [], ["observed"], ["alone", 0, "x", [], []], ["ran", 0, 0, ["x"], [], []], {"a": 1}],
)
def test_invalid_feedback_is_an_error(text: object) -> None:
    with pytest.raises(ValueError, match="not that of level `code`"):
        feedback_from_json(text)
