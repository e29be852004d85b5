"""The history of a baseline: what each run that wrote it came to."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ciguard.baseline import RunSummary, State, read_runs, with_run, write_runs
from ciguard.baseline.runs import MAX_RUNS
from ciguard.domain.findings import Verdict
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from pathlib import Path

RUN = RunSummary(
    time="2026-01-02T03:04:05Z",
    verdict=Verdict.NEW_FINDINGS,
    cases=1_000,
    new=2,
    states=(("open", 5), ("fixed", 1), ("accepted", 0), ("flaky", 3)),
    versions=(("tensorflow-cpu==2.21.0", "2.21.0"), ("torch==2.13.0", "2.13.0")),
    page="https://github.com/owner/name/actions/runs/123",
)
HEADER = '{"schema": 1, "records": "ciguard runs"}'


def test_runs_round_trip_through_the_file(tmp_path: Path) -> None:
    earlier = replace(RUN, time="2026-01-01T00:00:00Z", page="", versions=(), planted=5, caught=4)
    write_runs(tmp_path, (earlier, RUN))

    assert read_runs(tmp_path) == (earlier, RUN)
    assert RUN.count(State.FLAKY) == 3
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 3


def test_read_runs_without_a_file_is_empty(tmp_path: Path) -> None:
    assert read_runs(tmp_path) == ()


def test_read_runs_accepts_two_histories_merged_by_git(tmp_path: Path) -> None:
    write_runs(tmp_path, (RUN,))
    path = tmp_path / "runs.jsonl"
    earlier = path.read_text().splitlines()[1].replace("2026-01-02", "2025-01-02")
    path.write_text(path.read_text() + path.read_text().splitlines()[1] + f"\n{earlier}\n")

    assert [run.time[:4] for run in read_runs(tmp_path)] == ["2025", "2026"]


def test_with_run_keeps_only_the_newest_runs(tmp_path: Path) -> None:
    runs: tuple[RunSummary, ...] = ()
    for number in range(MAX_RUNS + 5):
        runs = with_run(
            runs, replace(RUN, time=f"20{26 + number // 400}-01-01T00:00:00Z", new=number)
        )

    assert len(runs) == MAX_RUNS
    assert runs[0].new == 5
    write_runs(tmp_path, runs)
    assert read_runs(tmp_path) == runs


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"time": "yesterday"}, "is not a time"),
        ({"verdict": "FINE"}, "'FINE' is not a valid Verdict"),
        ({"cases": -1}, "'cases' is not between"),
        ({"cases": True}, "'cases' is not of type int"),
        ({"states": {"open": "many"}}, "'open' is not of type int"),
        ({"versions": {"torch": 2}}, "'torch' is not of type str"),
        ({"planted": -1, "caught": 0}, "'planted' is not between"),
        ({"planted": 3}, "'caught' is not of type int"),
        ({"page": None}, "'page' is not of type str"),
    ],
)
def test_read_runs_with_a_malformed_line_raises_with_its_file(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    write_runs(tmp_path, (RUN,))
    path = tmp_path / "runs.jsonl"
    fields = json.loads(path.read_text().splitlines()[1])
    path.write_text(f"{HEADER}\n{json.dumps({**fields, **change})}\n")

    with pytest.raises(BaselineError, match=reason) as caught:
        read_runs(tmp_path)

    assert "runs.jsonl: cannot be read" in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 2}', "{" * 100_000])
def test_read_runs_with_a_malformed_or_newer_header_raises(tmp_path: Path, text: str) -> None:
    (tmp_path / "runs.jsonl").write_text(f"{text}\n")

    with pytest.raises(BaselineError, match="Restore it from a backup or git, or delete it"):
        read_runs(tmp_path)


@pytest.mark.parametrize(
    "page",
    [
        "javascript:alert(1)",
        "http://github.com/owner/name/actions/runs/1",
        "https://github.com/owner/name/actions/runs/1?x",
        "https://user@github.com/owner/name/actions/runs/1",
        "https://github.com/owner/name/actions/runs/1\n",
    ],
)
def test_read_runs_drops_urls_that_are_not_of_a_workflow_run(tmp_path: Path, page: str) -> None:
    write_runs(tmp_path, (replace(RUN, page=page),))

    assert read_runs(tmp_path) == (replace(RUN, page=""),)
