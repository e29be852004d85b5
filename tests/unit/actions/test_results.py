"""A result folder as outputs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ciguard.actions import (
    idle_results,
    results_of,
    store_failure,
    stored_failure,
    with_failure,
    without_baseline,
    without_plan,
)
from ciguard.domain.findings import Verdict
from ciguard.domain.plan import Plan, PlanMode, SkippedJob

if TYPE_CHECKING:
    from pathlib import Path

RUN = {
    "verdict": "NEW FINDINGS",
    "exit_code": 1,
    "summary": "2 new.",
    "buckets": {"new": 2, "known": 3, "not run": 4},
}


def test_outputs_contain_verdict_counts_and_paths(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RUN), "utf-8")
    (tmp_path / "junit.xml").touch()

    outputs = results_of(tmp_path).outputs()

    assert (outputs["verdict"], outputs["exit-code"]) == ("new-findings", "1")
    assert (outputs["new"], outputs["known"], outputs["not-run"]) == ("2", "3", "4")
    assert (outputs["junit"], outputs["html"]) == (str(tmp_path / "junit.xml"), "")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        json.dumps(RUN | {"buckets": []}),
        json.dumps(RUN | {"verdict": "nothing-new"}),
        json.dumps(RUN | {"exit_code": 256}),
        json.dumps(RUN | {"exit_code": 0.5}),
        json.dumps(RUN)[:40],
    ],
)
def test_unreadable_results_are_not_run_and_fail(content: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(content, "utf-8")

    outputs = results_of(tmp_path).outputs()

    assert (outputs["verdict"], outputs["exit-code"]) == ("not-run", "3")


@pytest.mark.parametrize("verdict", ["NOT RUN", "INTERRUPTED"])
def test_unfinished_run_fails_despite_its_exit_code(verdict: str, tmp_path: Path) -> None:
    content = json.dumps(RUN | {"verdict": verdict, "exit_code": 0})
    (tmp_path / "run.json").write_text(content, "utf-8")

    assert results_of(tmp_path).exit_code == 3


def test_plan_without_jobs_fails_only_if_rows_were_skipped(tmp_path: Path) -> None:
    nothing = Plan(mode=PlanMode.PULL_REQUEST, reasons=("only documentation changes",))
    row = SkippedJob(name="a", targets=("torch",), device="cuda", reason="no GPU")

    idle = idle_results(nothing, tmp_path)
    impossible = idle_results(replace(nothing, skipped=(row,)), tmp_path)

    assert (idle.verdict, idle.exit_code, idle.level) == ("nothing-to-test", 0, "notice")
    assert (impossible.verdict, impossible.exit_code, impossible.level) == ("not-run", 3, "error")
    assert "only documentation changes" in idle.sentence
    assert "a: no GPU" in impossible.sentence


def test_missing_plan_is_the_reported_reason(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    lacking = results_of(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps(RUN), "utf-8")
    ran = results_of(tmp_path)

    assert "there is no plan" in without_plan(lacking, plan).sentence
    assert without_plan(ran, plan) == ran
    plan.touch()
    assert without_plan(lacking, plan) == lacking


@pytest.mark.parametrize(("code", "shown"), [(2, 2), (3, 3), (130, 130), (137, 3), (64, 3)])
def test_run_without_results_reports_the_first_failure(
    tmp_path: Path, code: int, shown: int
) -> None:
    request = tmp_path / "request-1.json"
    store_failure(request, code, "no such target\n::error::x")
    store_failure(request, 3, "a consequence")

    results = with_failure(results_of(tmp_path), stored_failure(request))

    assert results.outputs()["exit-code"] == str(shown)
    assert results.verdict == "not-run"
    assert results.sentence.startswith("Not run: no such target")
    assert "\n" not in results.sentence


def test_existing_results_are_not_replaced_by_a_failure(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RUN), "utf-8")
    store_failure(tmp_path / "request-1.json", 2, "a reason")
    ran = results_of(tmp_path)

    assert with_failure(ran, stored_failure(tmp_path / "request-1.json")) == ran
    assert stored_failure(tmp_path / "request-2.json") is None


@pytest.mark.parametrize(
    ("is_written_later", "says"),
    [(True, "file-issues.yml runs next and establishes"), (False, "or set the input `base`")],
)
def test_missing_baseline_names_the_job_that_establishes_it(
    tmp_path: Path, *, is_written_later: bool, says: str
) -> None:
    run = {"verdict": Verdict.ESTABLISHED.value, "summary": "2 buckets.", "exit_code": 0}
    (tmp_path / "run.json").write_text(json.dumps({**RUN, **run}), "utf-8")

    results = without_baseline(results_of(tmp_path), is_written_later=is_written_later)

    assert results.verdict == "no-baseline"
    assert says in results.sentence
    assert results.sentence.endswith("Results of this run: 2 buckets.")
