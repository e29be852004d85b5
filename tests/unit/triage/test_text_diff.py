from __future__ import annotations

from dataclasses import replace

import pytest
from finding_examples import call
from hypothesis import given
from hypothesis import strategies as st
from tree_examples import PARENT, PROGRAM, program, step

from ciguard.domain.programs import Ancestry
from ciguard.triage import derivation_diff, program_diff, simplicity
from ciguard.triage.reductions import reductions
from ciguard.triage.text_diff import LineKind

CASE = program(step("act1"))


def test_a_diff_shows_what_was_put_in_and_marks_the_mutated_call() -> None:
    lines = derivation_diff(CASE, context=1)

    assert [str(line) for line in lines] == [
        "@@ -5,3 +5,5 @@",
        " model = nn.Sequential(",
        "-    nn.Linear(6, 1),",
        "+    nn.Linear(6, 12),",
        "+    nn.Hardswish(inplace=True),",
        "+    nn.Linear(12, 1),",
        " )",
    ]
    assert [str(line) for line in lines if line.is_changed_call] == [
        "+    nn.Hardswish(inplace=True),"
    ]


@pytest.mark.parametrize("line", [0, 1, -5, 10**9])
def test_a_line_that_is_not_in_the_diff_is_not_marked(line: int) -> None:
    assert not any(one.is_changed_call for one in program_diff(PARENT, PROGRAM, line=line))


def test_there_is_no_diff_where_no_parent_is_known() -> None:
    assert derivation_diff(call()) == []
    assert derivation_diff(replace(CASE, ancestry=replace(CASE.ancestry, parent=""))) == []
    assert derivation_diff(program(step("act1"), source=PARENT)) == []


def test_a_diff_is_bounded_and_says_how_much_is_left_out() -> None:
    after = "\n".join(f"value_{number} = {number}" for number in range(900))

    *shown, last = program_diff("", after, line=0, most=10)

    assert len(shown) == 10
    assert last.kind is LineKind.LEFT_OUT
    assert str(last) == "… 892 more lines"


def test_no_line_is_longer_than_people_read() -> None:
    lines = program_diff("x = 1", f"x = '{'a' * 50_000}'", line=1)

    assert max(len(str(line)) for line in lines) < 200


@pytest.mark.parametrize("after", ["x = 1\n" * 1_001, "x" * 100_001])
def test_programs_of_any_length_are_not_compared(after: str) -> None:
    assert program_diff("y = 1", after, line=1) == []


@given(st.text(), st.text(), st.integers())
def test_no_program_breaks_a_diff(before: str, after: str, line: int) -> None:
    lines = program_diff(before, after, line=line)

    assert not any("\n" in one.text or "\r" in one.text for one in lines)
    assert sum(one.is_changed_call for one in lines) <= 1


def test_simpler_programs_are_still_told_from_the_parent() -> None:
    simpler = reductions(CASE)

    assert {one.source for one in simpler} > {CASE.block}  # type: ignore[attr-defined]
    for one in simpler:
        assert derivation_diff(one) == derivation_diff(CASE)
        assert simplicity(one) < simplicity(CASE)
        for again in reductions(one):
            assert derivation_diff(again) == derivation_diff(CASE)


def test_no_program_is_kept_that_there_is_nothing_to_compare_with() -> None:
    lone = replace(CASE, ancestry=Ancestry(seed="lenet", path=CASE.ancestry.path))

    assert {one.ancestry for one in reductions(lone)} == {lone.ancestry}  # type: ignore[attr-defined]
