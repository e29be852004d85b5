from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from github_markdown import live_parts
from markdown_it import MarkdownIt

from ciguard.domain.baseline_status import BaselineState, BaselineStatus
from ciguard.domain.findings import Comparison, Verdict
from ciguard.domain.policy import Policy
from ciguard.reports.places import Places
from ciguard.reports.received import ReceivedRun
from ciguard.reports.status import status_of, status_without_results

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ciguard.domain.events import RunFinished
    from ciguard.domain.plan import Plan
    from ciguard.reports import Status


@pytest.fixture
def make_status(finished: Callable[..., RunFinished], tmp_path: Path) -> Callable[..., Status]:
    """Return a function that makes the status of a run without buckets, with changed fields."""

    def make(plan: Plan | None = None, **changes: object) -> Status:
        plain = {
            "verdict": Verdict.CLEAN,
            "exit_code": 0,
            "buckets": (),
            "targets": finished().targets[:1],
        }
        run = ReceivedRun(
            finished=finished(**(plain | changes)),
            places=Places(plan=plan),
            policy=Policy(),
            documentation=(),
        )
        return status_of(run, tmp_path)

    return make


def test_clean_run_on_all_targets_is_a_success(make_status: Callable[..., Status]) -> None:
    status = make_status()

    assert (status.conclusion, status.title) == ("success", "NOTHING NEW: 0 new")
    assert status.remarks == ()


@pytest.mark.parametrize(
    ("verdict", "exit_code", "expected"),
    [
        (Verdict.NEW_FINDINGS, 1, "failure"),
        (Verdict.NOT_RUN, 3, "failure"),
        (Verdict.INTERRUPTED, 130, "cancelled"),
        (Verdict.ESTABLISHED, 0, "neutral"),
        (Verdict.CLEAN, 3, "failure"),
        (Verdict.NEW_FINDINGS, 0, "failure"),
        (Verdict.NOT_RUN, 0, "failure"),
    ],
)
def test_other_runs_are_not_a_success(
    verdict: Verdict, exit_code: int, expected: str, make_status: Callable[..., Status]
) -> None:
    assert make_status(verdict=verdict, exit_code=exit_code).conclusion == expected


def test_clean_verdict_with_failing_findings_is_a_failure(
    make_status: Callable[..., Status], finished: Callable[..., RunFinished]
) -> None:
    status = make_status(buckets=finished().buckets)

    assert status.conclusion == "failure"
    assert status.title.startswith("NOT RUN: the results contradict each other: 12 new")


def test_part_of_a_campaign_is_not_run(make_status: Callable[..., Status]) -> None:
    status = make_status(verdict=Verdict.PART)

    assert status.conclusion == "failure"
    assert status.title.startswith("NOT RUN: this is one part of a campaign")


def test_missing_target_or_row_is_neutral(
    make_status: Callable[..., Status], finished: Callable[..., RunFinished], plan: Plan
) -> None:
    for status in (make_status(targets=finished().targets), make_status(plan)):
        assert status.conclusion == "neutral"
        assert status.title == "NOTHING NEW: 0 new; some targets NOT RUN"


def test_stale_or_missing_baseline_is_in_the_title(
    make_status: Callable[..., Status],
) -> None:
    stale = BaselineStatus(state=BaselineState.STALE, reasons=("it was never run on x",))

    assert make_status(baseline=stale).title == "NOTHING NEW: 0 new; baseline STALE"


def test_fixed_buckets_are_in_the_title(
    make_status: Callable[..., Status], finished: Callable[..., RunFinished]
) -> None:
    fixed = tuple(b for b in finished().buckets if b.comparison is Comparison.FIXED)

    status = make_status(buckets=fixed, parameters={"base": ["torch==2.12.0"]})

    assert status.title == "NOTHING NEW: 0 new, 1 fixed by this pull request"


def test_unreadable_results_are_a_failure() -> None:
    status = status_without_results("They are missing.")

    assert status.conclusion == "failure"
    assert status.title.startswith("NOT RUN")
    assert status.remarks


def test_status_summary_is_inert_and_within_githubs_limit(
    make_status: Callable[..., Status], finished: Callable[..., RunFinished], hostile: str
) -> None:
    buckets = tuple(
        replace(b, finding=replace(b.finding, api=hostile, message=hostile * 100))
        for b in finished().buckets * 50
    )

    status = make_status(buckets=buckets, targets=finished().targets, summary=hostile)

    assert len(status.summary) <= 65_535
    html = MarkdownIt("gfm-like").render(status.summary)
    assert "<script" not in html
    assert "<a " not in html
    assert "@everyone" not in live_parts(status.summary)
    assert len(status.title) < 300
