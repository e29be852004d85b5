"""A whole filing: from the end of a run to issues, baseline and outbox."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from baseline_examples import record
from filing_project import RULES, TARGET, Project, Stopped, bucket, finished, known

from ciguard.baseline import (
    Sighting,
    State,
    bucket_of,
    establish,
)
from ciguard.domain.findings import Comparison, Verdict
from ciguard.errors import OutputError, TrackerError, TrackerIssueError, TrackerUnavailableError
from ciguard.trackers import FilingReporter, FilingRules, IssueFiler, IssueSources
from ciguard.trackers.contract import ROLL_UP, Report
from ciguard.trackers.status_changes import evidence, regression, status_changes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.run()
    return made


def test_new_bucket_is_filed_and_its_issue_recorded(project: Project) -> None:
    says = project.run(bucket())

    record = project.store.load()[bucket().fingerprint]
    assert project.numbers() == {"torch.fold": True}
    assert record.issue.endswith("torch.fold.md")
    assert says == [f"{record.issue}: torch.fold: SIGSEGV"]
    assert project.outbox.tasks() == []


def test_first_run_files_only_the_roll_up_issue(tmp_path: Path) -> None:
    project = Project(tmp_path)

    project.run(bucket())

    assert project.numbers() == {"further-findings": True}


def test_known_bucket_gets_a_comment_only_for_changes(project: Project) -> None:
    project.run(bucket())
    before = project.text(bucket())

    project.run(known())
    same = project.text(bucket())
    project.run(known(), version="2.14.0")
    project.run(known(), version="2.14.0")

    assert same == before
    assert project.text(bucket()).count("Also seen on torch==2.13.0 (version 2.14.0).") == 1


def test_clean_runs_close_the_issue_with_evidence(project: Project) -> None:
    project.run(bucket())
    gone = bucket(comparison=Comparison.FIXED)

    states = [project.numbers() for _ in range(3) if project.run(gone) is not None]

    assert [state["torch.fold"] for state in states] == [True, True, False]
    text = project.text(bucket())
    assert (
        "3 consecutive runs of the bucket's case did not show the defect: "
        "2026-01-03T00:00:00Z on torch==2.13.0"
    ) in text
    assert text.count("commit abc") >= 3


def test_clean_run_on_another_release_restarts_the_count(project: Project) -> None:
    project.run(bucket())
    gone = bucket(comparison=Comparison.FIXED)
    for version in ("2.13.0", "2.13.0", "2.14.0", "2.14.0.dev20260101"):
        project.run(gone, version=version)
    open_still = project.numbers()["torch.fold"]

    project.run(gone, version="2.14.0.dev20260102")

    assert open_still
    assert project.numbers() == {"torch.fold": False}


def test_regression_reopens_the_issue_with_the_version(project: Project) -> None:
    project.run(bucket())
    for _ in range(3):
        project.run(bucket(comparison=Comparison.FIXED))

    project.run(bucket(), version="2.14.0")

    assert project.numbers() == {"torch.fold": True}
    assert "Seen again on torch==2.13.0 (version 2.14.0)" in project.text(bucket())
    assert "This defect was fixed before and has returned." in project.text(bucket())


def test_buckets_beyond_the_caps_are_listed_in_one_issue(project: Project) -> None:
    project.rules = FilingRules(cap=2, per_day=3)

    project.run(*[bucket(f"torch.a{n}") for n in range(4)])
    project.run(*[bucket(f"torch.b{n}") for n in range(4)])

    filed = sorted(project.numbers())
    assert filed == ["further-findings", "torch.a0", "torch.a1", "torch.b0"]
    listing = project.issues.find(ROLL_UP)
    assert listing is not None
    assert "5 known findings" in (project.folder / "issues" / listing.number).read_text("utf-8")


def test_unresponsive_trackers_tasks_are_done_by_the_next_run(project: Project) -> None:
    down = Stopped(project.issues, after=1, error=TrackerUnavailableError)

    says = project.run(bucket("torch.a"), bucket("torch.b"), tracker=down)
    filed = project.numbers()
    project.run(known("torch.a"), known("torch.b"))

    assert filed == {"torch.a": True}
    assert says[-2:] == ["GitHub cannot be reached", "2 tasks wait for the next run"]
    assert project.numbers() == {"torch.a": True, "torch.b": True}
    assert project.outbox.tasks() == []
    assert all(record.issue for record in project.store.load().values())


def test_queued_bucket_that_was_fixed_meanwhile_is_not_filed(project: Project) -> None:
    project.run(bucket(), tracker=Stopped(project.issues, after=0, error=TrackerUnavailableError))

    for _ in range(3):
        down = Stopped(project.issues, after=0, error=TrackerUnavailableError)
        project.run(bucket(comparison=Comparison.FIXED), tracker=down)
    project.run()

    assert project.store.load()[bucket().fingerprint].state is State.FIXED
    assert project.numbers() == {}
    assert project.outbox.tasks() == []


def test_rejected_task_is_an_error_and_stays_queued(project: Project) -> None:
    refusing = Stopped(project.issues, after=0, error=TrackerError)

    with pytest.raises(TrackerError, match="cannot be reached"):
        project.run(bucket(), tracker=refusing)
    project.run(known())

    assert project.numbers() == {"torch.fold": True}


def test_errors_of_single_issues_do_not_block_others(project: Project) -> None:
    troubled = [f"torch.troubled_{n}" for n in range(4)]

    class Troubled(Stopped):
        def open(self, report: Report) -> object:
            if "troubled" in report.title:
                msg = "owner/library#4: GitHub rejects the new content"
                raise TrackerIssueError(msg)
            return self._tracker.open(report)

    tracker = Troubled(project.issues, after=0, error=TrackerError)
    project.rules = FilingRules(cap=9, per_day=20)

    with pytest.raises(TrackerIssueError, match="rejects the new content"):
        project.run(*map(bucket, [*troubled, "torch.fold"]), tracker=tracker)

    assert project.numbers() == {"torch.fold": True}
    assert len(project.outbox.tasks()) == len(troubled)


def test_run_killed_while_filing_leaves_no_second_issue(project: Project) -> None:
    class Killed(Stopped):
        def open(self, report: Report) -> object:
            self._tracker.open(report)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        project.run(bucket(), tracker=Killed(project.issues, after=0, error=TrackerError))
    project.run(known())

    assert project.numbers() == {"torch.fold": True}
    assert project.store.load()[bucket().fingerprint].issue


def test_failing_plan_issues_does_not_prevent_writing_the_baseline(
    project: Project,
) -> None:
    outbox = project.store.folder / "outbox.jsonl"
    outbox.write_text("damaged\n")

    with pytest.raises(OutputError, match=r"outbox.jsonl: line 1"):
        project.run(bucket())

    assert set(project.store.load()) == {bucket().fingerprint}
    assert outbox.read_text() == "damaged\n"
    assert project.numbers() == {}


def test_rejecting_tracker_does_not_prevent_writing_the_baseline(
    project: Project,
) -> None:
    class Refusing(Stopped):
        def opened_since(self, _: datetime) -> int:
            msg = "bad credentials"
            raise self._error(msg)

    with pytest.raises(TrackerError, match="bad credentials"):
        project.run(bucket(), tracker=Refusing(project.issues, after=0, error=TrackerError))

    assert set(project.store.load()) == {bucket().fingerprint}


def test_filing_without_plan_issues_files_at_the_end(project: Project) -> None:
    issue_filer = IssueFiler(project.issues, project.outbox)
    filing = FilingReporter(
        issue_filer, project.store, rules=RULES, sources=IssueSources(out=project.folder / "run")
    )
    project.store.save(establish([bucket()], Sighting(time="2026-01-02T00:00:00Z")))

    filing.receive(finished(Verdict.CLEAN, (bucket(),), "2.13.0"))

    assert project.numbers() == {"torch.fold": True}
    assert project.store.load()[bucket().fingerprint].issue
    assert project.outbox.tasks() == []


def test_dry_run_reports_what_would_be_done_and_does_nothing(project: Project) -> None:
    project.run(bucket("torch.a"))
    before = (project.text(bucket("torch.a")), project.store.load()[bucket("torch.a").fingerprint])

    says = project.run(known("torch.a"), bucket("torch.b"), version="2.14.0", dry=True)

    issue = before[1].issue
    assert says == [
        "would open torch.b: SIGSEGV",
        f"would update the text of {issue}",
        f"would comment on {issue}: Also seen on torch==2.13.0 (version 2.14.0).",
    ]
    assert project.text(bucket("torch.a")) == before[0]
    assert project.numbers() == {"torch.a": True}
    assert project.outbox.tasks() == []


def test_inconclusive_run_files_nothing(project: Project) -> None:
    issue_filer = IssueFiler(project.issues, project.outbox)
    filing = FilingReporter(
        issue_filer, project.store, rules=RULES, sources=IssueSources(out=project.folder / "run")
    )

    filing.receive(finished(Verdict.INTERRUPTED, (bucket(),), "2.13.0"))

    assert project.numbers() == {}
    assert issue_filer.messages == []


def test_evidence_of_clean_runs_is_kept_by_the_baseline(project: Project) -> None:
    project.store.save(establish([bucket()], Sighting(time="2026-01-01T00:00:00Z")))
    project.run(bucket(comparison=Comparison.FIXED))

    (clean,) = project.store.load()[bucket().fingerprint].decision.clean_on

    assert datetime.strptime(clean.time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).day == 2
    assert clean.versions == ((TARGET, "2.13.0"),)


def test_comments_contain_no_local_paths() -> None:
    wheel = "torch==2.13.0 + /home/alice/dist/ops-1.0-py3-none-any.whl"
    known = record()
    met = bucket_of(replace(known, targets=(wheel,)), Comparison.KNOWN)
    clean = Sighting(time="2026-01-02T10:00:00Z", versions=((wheel, "2.13.0"),))
    gone = replace(known, decision=replace(known.decision, clean_on=(clean,)))

    for said in (
        status_changes([met], [known], {wheel: "2.13.0"}),
        regression([met], [known], {wheel: "2.13.0"}),
        evidence(gone),
    ):
        assert "torch==2.13.0 + …/ops-1.0-py3-none-any.whl (version 2.13.0)" in said
        assert "alice" not in said
