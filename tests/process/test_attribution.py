"""What only one side of a change has shown is tried on both sides before anybody is blamed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from surroundings import programs_without

from ciguard.campaign import run
from ciguard.campaign.stages.trial import REPETITIONS
from ciguard.config import Config
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Bucket, Comparison, Confirmation, Severity, Verdict

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "current[planted]", "current[planted] PLANTED_VERSION=2.0"


def judged(folder: Path, api: str, *, cases: int = 64) -> RunFinished:
    """Judge a change from the older to the newer release by one API."""
    config = Config(
        base=(OLD,),
        targets=(NEW,),
        api=(f"planted.{api}",),
        allow=("debug",),
        relations=(),
        budget_s=60.0,
        max_cases=cases,
        out=folder / "run",
        baseline=folder / "baseline",
        compare_only=True,
    )
    *_, last = run(config)
    assert isinstance(last, RunFinished)
    return last


def bucket_of(finished: RunFinished, oracle: str) -> Bucket:
    (bucket,) = (b for b in finished.buckets if b.finding.oracle == oracle)
    return bucket


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", str(programs_without("gdb")))  # its traces take seconds each
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))


def test_crash_that_the_base_shows_with_other_memory_is_known(tmp_path: Path) -> None:
    finished = judged(tmp_path, "memory.unlucky")

    bucket = bucket_of(finished, "crash")
    assert bucket.comparison is Comparison.KNOWN
    assert finished.verdict is Verdict.CLEAN


def test_crash_of_only_the_head_is_new_with_the_attempts(tmp_path: Path) -> None:
    finished = judged(tmp_path, "memory.broken")

    bucket = bucket_of(finished, "crash")
    assert bucket.comparison is Comparison.NEW
    assert finished.verdict is Verdict.NEW_FINDINGS
    counted = bucket.attribution
    assert counted is not None
    assert (counted.head_shown, counted.head_tried) == (REPETITIONS, REPETITIONS)
    assert counted.base_shown == 0
    assert counted.base_tried >= 200
    assert "attribute" in finished.stages


def test_crash_of_only_the_base_is_fixed_with_the_attempts(tmp_path: Path) -> None:
    bucket = bucket_of(judged(tmp_path, "memory.mended"), "crash")

    assert bucket.comparison is Comparison.FIXED
    counted = bucket.attribution
    assert counted is not None
    assert (counted.base_shown, counted.base_tried) == (REPETITIONS, REPETITIONS)
    assert counted.head_shown == 0
    assert counted.head_tried >= 200


def test_crash_in_some_workers_only_is_flaky(tmp_path: Path) -> None:
    finished = judged(tmp_path, "memory.erratic")

    bucket = bucket_of(finished, "crash")
    assert bucket.confirmation is Confirmation.FLAKY
    assert finished.verdict is Verdict.CLEAN


def test_difference_between_base_and_head_is_attributed_on_both(tmp_path: Path) -> None:
    finished = judged(tmp_path, "cube")

    (bucket,) = finished.buckets
    assert bucket.comparison is Comparison.NEW
    counted = bucket.attribution
    assert counted is not None
    assert counted.words == f"head {REPETITIONS} of {REPETITIONS}, base 0 of {REPETITIONS}"


def test_finding_shown_only_by_forbidden_calls_does_not_fail_the_check(
    tmp_path: Path,
) -> None:
    finished = judged(tmp_path, "documented.clipped", cases=320)

    bucket = bucket_of(finished, "differential")
    assert bucket.finding.severity is Severity.INFO
    assert (
        "which the documentation forbids: “A 0-D (scalar) tensor > 0"
        in bucket.finding.evidence.breach
    )
    assert finished.verdict is Verdict.CLEAN


def test_finding_of_an_allowed_call_keeps_its_severity(tmp_path: Path) -> None:
    finished = judged(tmp_path, "documented.shifted", cases=320)

    bucket = bucket_of(finished, "differential")
    assert bucket.finding.severity is Severity.HIGH
    assert bucket.finding.evidence.breach == ""
    assert finished.verdict is Verdict.NEW_FINDINGS
