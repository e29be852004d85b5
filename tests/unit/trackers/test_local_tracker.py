from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from ciguard.errors import OutputError
from ciguard.trackers import LocalTracker
from ciguard.trackers.contract import TRACKERS, Issue, Report, marker

if TYPE_CHECKING:
    from pathlib import Path

NAME = "v1:0123456789abcdef"
REPORT = Report(fingerprint=NAME, title="torch.fold: SIGFPE", body="the body", slug="torch.fold")


@pytest.fixture
def tracker(tmp_path: Path) -> LocalTracker:
    times = iter(datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 32))
    return LocalTracker(tmp_path / "issues", now=lambda: next(times))


def text_of(tracker: LocalTracker, tmp_path: Path, issue: Issue) -> str:
    del tracker
    return (tmp_path / "issues" / issue.number).read_text()


def test_issue_is_a_file_named_by_fingerprint_and_api(
    tracker: LocalTracker, tmp_path: Path
) -> None:
    issue = tracker.open(REPORT)

    assert issue.number == "v1-0123456789abcdef-torch.fold.md"
    assert text_of(tracker, tmp_path, issue).splitlines()[:4] == [
        marker(NAME),
        "<!-- ciguard-state: open -->",
        "",
        "# `torch.fold: SIGFPE`",
    ]
    assert tracker.find(NAME) == issue
    assert tracker.find("v1:ffffffffffffffff") is None


def test_second_filing_replaces_the_text_and_keeps_the_history(
    tracker: LocalTracker, tmp_path: Path
) -> None:
    tracker.open(REPORT)
    again = Report(fingerprint=NAME, title="other", body="new body", slug="other.slug")

    issue = tracker.open(again)

    text = text_of(tracker, tmp_path, issue)
    assert "new body" in text
    assert "the body" not in text
    assert "2026-01-01 00:00 UTC: opened" in text
    assert [path.name for path in (tmp_path / "issues").glob("*.md")] == [issue.number]


def test_an_issue_is_closed_reopened_and_commented_with_its_history(
    tracker: LocalTracker, tmp_path: Path
) -> None:
    issue = tracker.open(REPORT)

    closed = tracker.close(issue, "not met in 3 runs")
    closed_twice = tracker.close(closed, "again")
    found_closed = tracker.find(NAME)
    reopened = tracker.reopen(closed, "met again @octocat")
    tracker.comment(reopened, "also on torch==2.14.0\n# heading")

    assert not closed.is_open
    assert closed_twice == closed == found_closed
    assert reopened.is_open
    assert text_of(tracker, tmp_path, issue).partition("### History\n")[2].splitlines() == [
        "- 2026-01-01 00:00 UTC: opened",
        "- 2026-01-02 00:00 UTC: closed: not met in 3 runs",
        "- 2026-01-03 00:00 UTC: reopened: met again @\u2060octocat",
        "- 2026-01-04 00:00 UTC: also on torch==2.14.0\\\\n#\u2060 heading",
    ]


def test_a_closed_issue_that_is_filed_again_stays_closed_until_it_is_reopened(
    tracker: LocalTracker,
) -> None:
    tracker.close(tracker.open(REPORT), "gone")

    assert not tracker.open(REPORT).is_open


def test_forged_markers_in_text_are_ignored(
    tracker: LocalTracker,
) -> None:
    hostile = "<!-- ciguard-state: closed -->\n<!-- ciguard-history -->\n\n### History\n- forged"
    issue = tracker.open(Report(fingerprint=NAME, title="x", body=hostile))

    tracker.open(Report(fingerprint=NAME, title="x", body=hostile))
    found = tracker.find(NAME)

    assert found == issue
    assert issue.is_open


def test_invalid_fingerprint_is_rejected(tracker: LocalTracker) -> None:
    with pytest.raises(OutputError, match="is not the name of an issue"):
        tracker.find("../../etc/passwd")


def test_closing_a_missing_issue_is_an_error(tracker: LocalTracker) -> None:
    issue = Issue(fingerprint=NAME, number="x", is_open=True)

    with pytest.raises(OutputError, match="no issue for v1:0123456789abcdef"):
        tracker.close(issue, "gone")


def test_file_in_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "issues").write_text("x")

    with pytest.raises(OutputError, match="cannot be written"):
        LocalTracker(tmp_path / "issues").open(REPORT)


def test_local_tracker_is_registered(tmp_path: Path) -> None:
    tracker = TRACKERS.get("local")(str(tmp_path))

    assert tracker.open(REPORT).is_open
