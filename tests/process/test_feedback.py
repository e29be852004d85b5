"""What outcomes teach, through real workers on the planted library."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from surroundings import programs_without

from ciguard.campaign import JOURNAL, run
from ciguard.config import Config
from ciguard.domain.events import BatchFinished, Event, RunFinished
from ciguard.levels.api.level import BATCH_SIZES

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = "current[planted]", "current[planted] PLANTED_VERSION=2.0"


def campaign(folder: Path, **changes: Any) -> list[Event]:
    settings: dict[str, Any] = {
        "targets": (ONE,),
        "budget_s": 120.0,
        "out": folder / "run",
        "baseline": folder / "baseline",
        **changes,
    }
    return list(run(Config(**settings)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", str(programs_without("gdb")))  # its traces take seconds each
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))
    return tmp_path


def batches(events: list[Event]) -> list[tuple[str, dict[str, int]]]:
    return [(e.api, dict(e.counts)) for e in events if isinstance(e, BatchFinished)]


def share(events: list[Event], status: str, *, last: bool) -> float:
    """Return the share of a status among the first or the last third of the batches."""
    counts = [batch_counts for _, batch_counts in batches(events)]
    third = len(counts) // 3
    total: Counter[str] = Counter()
    for batch_counts in counts[-third:] if last else counts[:third]:
        total.update(batch_counts)
    return total[status] / total.total()


def test_feedback_takes_effect_in_the_next_batch(folder: Path) -> None:
    events = campaign(folder, targets=(TWO,), api=("planted.tail",), max_cases=148)

    _, second, third, fourth, *_ = (Counter(counts) for _, counts in batches(events))
    # Without a call that is known to pass, the second batch would be drawn.
    assert second.total() != BATCH_SIZES[1]
    assert second.total() == fourth.total()  # the changes of a call that passed in the first one
    assert third.total() == BATCH_SIZES[2]
    assert third["passed"] > 0.8 * third.total()  # some boundary values are rejected


def test_feedback_hides_no_internal_error(folder: Path) -> None:
    events = campaign(folder, api=("planted.leak",), max_cases=1920)

    assert share(events, "errored", last=True) > 0.5 * share(events, "errored", last=False) > 0
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    assert {bucket.finding.oracle for bucket in finished.buckets} == {"internal-error"}


def test_cases_do_not_depend_on_the_number_of_workers(folder: Path) -> None:
    api = ("planted.tail", "planted.leak", "planted.double")

    runs = [
        campaign(folder, api=api, jobs=jobs, max_cases=1920, baseline=folder / str(jobs))
        for jobs in (1, 2)
    ]

    assert batches(runs[0]) == batches(runs[1])


def test_run_reports_its_initial_and_its_new_feedback(folder: Path) -> None:
    events = campaign(folder, api=("planted.tail",), max_cases=640)

    finished = events[-1]
    assert isinstance(finished, RunFinished)
    assert finished.parameters["experience"] == {"planted": ""}
    lines = [json.loads(line) for line in (folder / "run" / JOURNAL).read_text().splitlines()]
    assert any(line.get("lessons") for line in lines if line["type"] == "progress")
