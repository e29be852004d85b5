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


def test_derivation_diff_shows_the_change_and_marks_the_mutated_call() -> None:
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
def test_program_diff_with_a_line_outside_marks_nothing(line: int) -> None:
    assert not any(
        diff_line.is_changed_call for diff_line in program_diff(PARENT, PROGRAM, line=line)
    )


def test_derivation_diff_without_a_parent_is_empty() -> None:
    assert derivation_diff(call()) == []
    assert derivation_diff(replace(CASE, ancestry=replace(CASE.ancestry, parent=""))) == []
    assert derivation_diff(program(step("act1"), source=PARENT)) == []


def test_program_diff_counts_omitted_lines() -> None:
    after = "\n".join(f"value_{number} = {number}" for number in range(900))

    *shown, last = program_diff("", after, line=0, max_lines=10)

    assert len(shown) == 10
    assert last.kind is LineKind.LEFT_OUT
    assert str(last) == "… 892 more lines"


def test_program_diff_shortens_long_lines() -> None:
    lines = program_diff("x = 1", f"x = '{'a' * 50_000}'", line=1)

    assert max(len(str(line)) for line in lines) < 200


@pytest.mark.parametrize("after", ["x = 1\n" * 1_001, "x" * 100_001])
def test_program_diff_of_too_long_programs_is_empty(after: str) -> None:
    assert program_diff("y = 1", after, line=1) == []


@given(st.text(), st.text(), st.integers())
def test_program_diff_lines_hold_no_line_ends(before: str, after: str, line: int) -> None:
    lines = program_diff(before, after, line=line)

    assert not any("\n" in diff_line.text or "\r" in diff_line.text for diff_line in lines)
    assert sum(diff_line.is_changed_call for diff_line in lines) <= 1


def test_derivation_diff_is_unchanged_by_reductions() -> None:
    variants = reductions(CASE)

    assert {variant.source for variant in variants} > {CASE.block}  # type: ignore[attr-defined]
    for variant in variants:
        assert derivation_diff(variant) == derivation_diff(CASE)
        assert simplicity(variant) < simplicity(CASE)
        for further in reductions(variant):
            assert derivation_diff(further) == derivation_diff(CASE)


def test_reductions_without_a_parent_keep_the_ancestry() -> None:
    orphan = replace(CASE, ancestry=Ancestry(seed="lenet", path=CASE.ancestry.path))

    assert {variant.ancestry for variant in reductions(orphan)} == {orphan.ancestry}  # type: ignore[attr-defined]
