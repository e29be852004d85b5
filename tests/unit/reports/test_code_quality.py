"""GitLab's code quality report has the fields that GitLab documents."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from ciguard.domain.findings import Comparison
from ciguard.reports import Destination
from ciguard.reports.code_quality import FILE, CodeQualityReporter

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.events import Event

# docs.gitlab.com/ci/testing/code_quality, "Code Quality report format".
ISSUE = {
    "type": "object",
    "required": ["description", "check_name", "fingerprint", "severity", "location"],
    "additionalProperties": False,
    "properties": {
        "description": {"type": "string", "minLength": 1},
        "check_name": {"type": "string", "minLength": 1},
        "fingerprint": {"type": "string", "minLength": 1},
        "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
        "location": {
            "type": "object",
            "required": ["path", "lines"],
            "properties": {
                "path": {"type": "string", "pattern": r"^(?!\.?/)."},
                "lines": {
                    "type": "object",
                    "required": ["begin"],
                    "properties": {"begin": {"type": "integer", "minimum": 1}},
                },
            },
        },
    },
}
VALIDATOR = Draft202012Validator({"type": "array", "items": ISSUE})


def _report(events: list[Event], folder: Path) -> list[dict[str, Any]]:
    reporter = CodeQualityReporter(Destination(folder=folder, stream=io.StringIO(), sources=folder))
    for event in events:
        reporter.receive(event)
    reporter.close()
    issues: list[dict[str, Any]] = json.loads((folder / FILE).read_text("utf-8"))
    assert [error.message for error in VALIDATOR.iter_errors(issues)] == []
    return issues


def test_code_quality_lists_open_buckets_but_no_fixed_ones(
    planned: list[Event], tmp_path: Path
) -> None:
    issues = _report(planned, tmp_path)

    states = {issue["description"].partition(":")[0].partition(",")[0] for issue in issues}
    assert Comparison.NEW.value in states
    assert Comparison.KNOWN.value in states
    assert Comparison.FIXED.value not in states
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)


def test_an_issue_is_shown_where_the_sources_use_the_api(
    planned: list[Event], tmp_path: Path
) -> None:
    places = {
        (issue["location"]["path"], issue["location"]["lines"]["begin"])
        for issue in _report(planned, tmp_path)
    }

    assert ("model/net.py", 12) in places


def test_fingerprints_are_the_same_in_every_run(planned: list[Event], tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"

    assert _report(planned, first) == _report(planned, second)


def test_fuzzed_text_is_shown_inert(planned: list[Event], tmp_path: Path) -> None:
    for issue in _report(planned, tmp_path):
        assert issue["description"].isprintable()
        assert len(issue["description"]) <= 320
