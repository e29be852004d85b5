from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain import Plan, PlanMode, PlannedJob, SkippedJob
from ciguard.planning import explanation

OWN_WORDS = ("plan: ", "  - ", "job: ", "not run: ", "first: ")


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
def test_whatever_a_plan_holds_its_explanation_is_plain_lines_that_begin_with_our_words(
    text: str,
) -> None:
    for line in explanation(_plan(text)):
        assert line.isprintable()
        assert line.startswith(OWN_WORDS)
        assert len(line) < 2_000


def test_shards_of_one_row_are_told_in_one_line() -> None:
    jobs = tuple(
        PlannedJob(name=f"{n}", targets=("torch==2.13.0",), runs_on=("a", "b"), shard=f"{n}/3")
        for n in (1, 2, 3)
    )

    lines = list(explanation(Plan(mode=PlanMode.BATCH, jobs=jobs)))

    assert lines == [
        "plan: batch, jobs: 3, rows not run: 0",
        "job: torch==2.13.0 (cpu, a b, 3 shards)",
    ]
