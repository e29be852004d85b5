"""A difference between base and head that release notes name is an announced change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from ciguard.campaign import run
from ciguard.config import Config
from ciguard.domain.events import DocumentationChecked, Event, RunFinished
from ciguard.domain.findings import Comparison, Severity, Verdict
from ciguard.domain.policy import Action, FindingClass, PolicyRule, class_of
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "current[planted]", "current[planted] PLANTED_VERSION=2.0"


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))


def events_of(folder: Path, notes: str, *rules: PolicyRule) -> list[Event]:
    """Return the events of a run that compares `planted.cube`, whose values differ."""
    path = folder / "NOTES.md"
    path.write_text(notes)
    config = Config(
        base=(OLD,),
        targets=(NEW,),
        api=("planted.cube", "planted.double"),
        relations=(),
        budget_s=60.0,
        max_cases=64,
        rules=rules,
        release_notes=(str(path),),
        out=folder / "run",
        baseline=folder / "baseline",
        compare_only=True,
    )
    return list(run(config))


def finished(events: list[Event]) -> RunFinished:
    last = events[-1]
    assert isinstance(last, RunFinished)
    return last


def test_a_difference_that_release_notes_name_does_not_fail_the_check(tmp_path: Path) -> None:
    events = events_of(tmp_path, "* planted.cube computes other values.\n")

    end = finished(events)
    (bucket,) = end.buckets
    assert bucket.comparison is Comparison.NEW
    assert bucket.finding.severity is Severity.INFO
    assert class_of(bucket.finding) is FindingClass.ANNOUNCED
    assert bucket.finding.evidence.announced == (
        "NOTES.md, line 1, says “planted.cube computes other values.”"
    )
    assert end.verdict is Verdict.CLEAN
    assert "announce" in end.stages
    assert any(isinstance(event, DocumentationChecked) for event in events)


def test_a_difference_that_release_notes_do_not_name_fails_the_check(tmp_path: Path) -> None:
    end = finished(events_of(tmp_path, "* planted.double computes other values.\n"))

    (bucket,) = end.buckets
    assert bucket.finding.evidence.announced == ""
    assert end.verdict is Verdict.NEW_FINDINGS


def test_a_policy_can_fail_the_check_for_announced_changes(tmp_path: Path) -> None:
    rule = PolicyRule("announced-change", Action.FAIL)
    end = finished(events_of(tmp_path, "* planted.cube computes other values.\n", rule))

    assert end.verdict is Verdict.NEW_FINDINGS


def test_release_notes_that_do_not_exist_are_an_error(tmp_path: Path) -> None:
    config = Config(
        base=(OLD,),
        targets=(NEW,),
        api=("planted.double",),
        budget_s=20.0,
        max_cases=16,
        release_notes=("absent.md",),
        out=tmp_path / "run",
        baseline=tmp_path / "baseline",
        compare_only=True,
    )

    with pytest.raises(ConfigurationError, match=r"release-notes: absent.md: cannot be read"):
        list(run(config))
