"""What every tracker does, held against each of them; GitHub's is spoken to over real HTTP."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from github_server import GitHubServer
from tracker_stages import GitHubStage, LocalStage, NotPlannedStage, Stage

from ciguard.trackers.contract import ROLL_UP, Report, marker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "v1:0123456789abcdef"
OTHER = "v1:fedcba9876543210"
GROUP = "g1:0123456789abcdef"
_DAY_S = 86_400.0


def report_of(name: str = NAME, body: str = "the body", **changes: object) -> Report:
    made = Report(
        fingerprint=name, title="torch.fold: SIGFPE", body=f"{marker(name)}\n\n{body}", slug="fold"
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # a test's own words


@pytest.fixture(params=["local", "github", "github, closed as not planned"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    if request.param == "local":
        yield LocalStage(tmp_path)
        return
    with GitHubServer() as server:
        server.page = 2
        yield GitHubStage(server) if request.param == "github" else NotPlannedStage(server)
    assert server.violations == []


def test_filed_issue_is_found_by_another_job(stage: Stage) -> None:
    issue = stage.tracker().open(report_of())

    assert issue.is_open
    assert stage.tracker().find(NAME) == issue
    assert stage.tracker().find(OTHER) is None
    assert "the body" in stage.text(issue)


def test_filing_again_replaces_the_text_and_makes_no_second_issue(stage: Stage) -> None:
    stage.tracker().open(report_of())

    issue = stage.tracker().open(report_of(body="more is known"))

    assert stage.count() == 1
    assert "more is known" in stage.text(issue)
    assert "the body" not in stage.text(issue)


def test_many_buckets_have_one_issue_each(stage: Stage) -> None:
    names = [f"v1:{number:016x}" for number in range(1, 8)]
    tracker = stage.tracker()
    filed = [tracker.open(report_of(name)) for name in names]

    again = [stage.tracker().open(report_of(name)) for name in names]

    assert again == filed
    assert stage.count() == len(names)


def test_issues_of_buckets_that_are_one_group_become_one(stage: Stage) -> None:
    first, second = (stage.tracker().open(report_of(name)) for name in (NAME, OTHER))
    stage.tracker().comment(second, "a line")

    stays = stage.tracker().open(report_of(GROUP, aliases=(NAME, OTHER)))

    assert stays.is_open
    assert stage.tracker().find(GROUP) == stays
    assert stage.tracker().find(GROUP, NAME, OTHER) == stays
    others = [stage.tracker().find(name) for name in (NAME, OTHER)]
    assert [other.is_open for other in others if other and other.number != stays.number] in (
        [],
        [False],
    )
    assert first.number != second.number


def test_a_silenced_issue_of_one_bucket_does_not_silence_its_group(stage: Stage) -> None:
    silenced, other = (stage.tracker().open(report_of(name)) for name in (NAME, OTHER))
    stage.silence(silenced)

    stays = stage.tracker().open(report_of(GROUP, aliases=(NAME, OTHER)))

    assert stays.is_open
    assert not stays.is_silenced
    assert stays.number != silenced.number
    assert stage.entries(silenced) == []
    assert "the body" in stage.text(silenced)
    assert other.fingerprint == OTHER


def test_a_silenced_issue_of_the_group_itself_stays_the_only_one(stage: Stage) -> None:
    stage.silence(stage.tracker().open(report_of(GROUP)))

    stays = stage.tracker().open(report_of(GROUP, aliases=(NAME, OTHER)))

    assert stays.is_silenced
    assert stage.count() == 1


def test_a_group_with_another_name_by_now_is_found_by_what_the_baseline_knows(
    stage: Stage,
) -> None:
    number = stage.tracker().open(report_of(GROUP)).number
    tracker = stage.tracker()
    tracker.remember({NAME: number})

    issue = tracker.open(report_of("g1:fedcba9876543210", aliases=(NAME,)))

    assert stage.count() == 1
    assert stage.tracker().find("g1:fedcba9876543210") == issue


@pytest.mark.parametrize("number", ["../outside.md", "7", "g1-0123456789abcdef/../../x.md"])
def test_recorded_number_without_an_issue_finds_nothing(stage: Stage, number: str) -> None:
    tracker = stage.tracker()
    tracker.remember({NAME: number})

    assert tracker.find(GROUP, NAME) is None


def test_an_issue_of_an_older_recipe_is_the_bucket_s_issue(stage: Stage) -> None:
    stage.tracker().open(report_of())

    issue = stage.tracker().open(report_of(OTHER, aliases=(NAME,)))
    stage.tracker().comment(issue, "a line")

    assert stage.count() == 1
    assert stage.tracker().find(OTHER) == issue
    assert stage.entries(issue) == ["a line"]


def test_an_issue_is_closed_and_opened_again_with_reasons(stage: Stage) -> None:
    issue = stage.tracker().open(report_of())

    closed = stage.tracker().close(issue, "not met in 3 runs")
    found = stage.tracker().find(NAME)
    opened = stage.tracker().reopen(closed, "met again")

    assert found == closed
    assert not closed.is_open
    assert opened.is_open
    assert stage.entries(issue) == ["not met in 3 runs", "met again"]


def test_repeated_closing_and_reopening_is_recorded_once(stage: Stage) -> None:
    issue = stage.tracker().open(report_of())
    for _ in range(2):
        stage.tracker().close(issue, "gone")

    for _ in range(2):
        stage.tracker().reopen(issue, "back")

    assert stage.entries(issue) == ["gone", "back"]


def test_a_closed_issue_that_is_filed_again_stays_closed_until_it_is_opened(stage: Stage) -> None:
    stage.tracker().close(stage.tracker().open(report_of()), "gone")

    assert not stage.tracker().open(report_of(body="other")).is_open


def test_repeated_comment_is_recorded_once(stage: Stage) -> None:
    issue = stage.tracker().open(report_of())
    stage.tracker().comment(issue, "also on torch==2.14.0")

    stage.tracker().comment(issue, "also on torch==2.14.0")
    stage.tracker().comment(issue, "also on torch==2.15.0")
    stage.clock.sleep(2 * _DAY_S)
    stage.tracker().comment(issue, "also on torch==2.16.0")

    assert stage.entries(issue) == [f"also on torch==2.{minor}.0" for minor in (14, 15, 16)]


def test_a_reason_is_plain_text(stage: Stage) -> None:
    issue = stage.tracker().open(report_of())

    stage.tracker().comment(issue, "by @octocat, see #1\n# <b>heading</b>")

    (said,) = stage.entries(issue)
    assert not {"@octocat", "#1", "<b>", "\n"} & {said}
    assert "@octocat" not in said
    assert "<b>" not in said


def test_silenced_issue_is_found_and_not_changed(stage: Stage) -> None:
    issue = stage.tracker().open(report_of())
    stage.silence(issue)
    before = stage.text(issue)

    again = stage.tracker().open(report_of(body="more is known"))
    stage.tracker().comment(again, "also on torch==2.14.0")
    stage.tracker().reopen(again, "met again")
    stage.tracker().close(again, "gone")

    assert again.is_silenced
    assert again == stage.tracker().find(NAME)
    assert stage.text(issue) == before
    assert stage.count() == 1


def test_recently_opened_issues_are_counted_without_the_roll_up(stage: Stage) -> None:
    stage.tracker().open(report_of())
    stage.clock.sleep(_DAY_S)
    noon = stage.clock.now()
    stage.clock.sleep(3600)
    for name in (OTHER, ROLL_UP):
        stage.tracker().open(report_of(name))

    assert stage.tracker().opened_since(noon) == 1
    assert stage.tracker().opened_since(noon - timedelta(days=2)) == 2


def test_marker_in_the_middle_of_a_text_is_ignored(stage: Stage) -> None:
    stage.tracker().open(report_of(body=f"fuzzed\n\n{marker(OTHER)}\n"))

    assert stage.tracker().find(OTHER) is None
