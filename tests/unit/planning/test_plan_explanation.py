from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.plan import Plan, PlanMode, PlannedJob, SkippedJob
from ciguard.planning import commands, explanation

LINE_PREFIXES = ("plan: ", "  - ", "job: ", "skipped: ", "focus: ", "run it: ")


def _plan(text: str) -> Plan:
    texts = (text, text)
    return Plan(
        mode=PlanMode.BATCH,
        reasons=texts,
        jobs=(PlannedJob(name=text, targets=texts, base=texts, device=text, runs_on=texts),),
        skipped=(SkippedJob(name=text, targets=texts, device=text, reason=text),),
        focus=texts,
    )


@given(st.text() | st.sampled_from(["\n::error::x", "\x1b[2J", "x" * 100_000, "\u202e", "\0"]))
def test_the_explanation_of_any_plan_has_printable_lines_with_fixed_prefixes(
    text: str,
) -> None:
    plan = _plan(text)

    for line in (*explanation(plan), *commands(plan, Path(text))):
        assert line.isprintable()
        assert line.startswith(LINE_PREFIXES)
        assert len(line) < 2_000


def test_shards_of_a_row_are_explained_in_one_line() -> None:
    jobs = tuple(
        PlannedJob(name=f"{n}", targets=("torch==2.13.0",), runs_on=("a", "b"), shard=f"{n}/3")
        for n in (1, 2, 3)
    )

    lines = list(explanation(Plan(mode=PlanMode.BATCH, jobs=jobs)))

    assert lines == [
        "plan: batch, jobs: 3, skipped rows: 0",
        "job: torch==2.13.0 (cpu, a b, 3 shards)",
    ]


def test_each_row_has_one_command_with_its_targets() -> None:
    row = PlannedJob(name="a", targets=("current[keras] A=1 2",), base=("keras==3.0",))
    halves = (replace(row, shard="1/2"), replace(row, name="b", shard="2/2"))
    plan = Plan(mode=PlanMode.PULL_REQUEST, jobs=halves)
    many = Plan(
        mode=PlanMode.BATCH,
        jobs=tuple(PlannedJob(name=f"{n}", targets=(f"torch=={n}.0",)) for n in range(7)),
    )

    assert list(commands(plan, Path("p.json"))) == [
        "run it: ciguard run --plan p.json --base keras==3.0 --target 'current[keras] A=1 2'"
    ]
    alone = replace(plan, jobs=(replace(row, base=()),))
    assert list(commands(alone, Path("p.json"))) == [
        "run it: ciguard run --plan p.json --compare-only --target 'current[keras] A=1 2'"
    ]
    assert len(list(commands(many, Path("p.json")))) == 6
