"""A project over several runs: a baseline, an outbox and a folder of issues."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from finding_examples import call, crash

from ciguard.baseline import BaselineStore, Records, Sighting, merge, update
from ciguard.baseline.store import FolderStore
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Bucket, Comparison, Confirmation, TargetSummary, Verdict
from ciguard.trackers import (
    FilingReporter,
    FilingRules,
    IssueFiler,
    IssueSources,
    LocalTracker,
    Outbox,
    Tracker,
)
from ciguard.triage import Buckets, cause_of

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.errors import TrackerError
    from ciguard.trackers.contract import Report

TARGET = "torch==2.13.0"
RULES = FilingRules(cap=3, per_day=20)


def bucket(api: str = "torch.fold", comparison: Comparison = Comparison.NEW) -> Bucket:
    made = Buckets().add(crash(case=call(api=api)))
    return replace(made, confirmation=Confirmation.CONFIRMED, comparison=comparison)


def known(api: str = "torch.fold") -> Bucket:
    return bucket(api, Comparison.KNOWN)


def checked(
    api: str, comparison: Comparison = Comparison.NEW, *, check: str = "dtype() == expected"
) -> Bucket:
    """Return a bucket whose cause is a failed check, whichever API leads there."""
    log = f"2026-01-31 10:00:00.1: F apply.cc:12] Check failed: {check} (3 vs. 1)"
    made = Buckets().add(crash(cause="SIGABRT", log=log, case=call(api=api)))
    return replace(made, confirmation=Confirmation.CONFIRMED, comparison=comparison)


class Stopped:
    """A tracker that answers some calls of `open`, then fails."""

    def __init__(self, tracker: Tracker, *, after: int, error: type[TrackerError]) -> None:
        self._tracker = tracker
        self._left = after
        self._error = error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tracker, name)

    def open(self, report: Report) -> object:
        if not self._left:
            msg = "GitHub cannot be reached"
            raise self._error(msg)
        self._left -= 1
        return self._tracker.open(report)


class Project:
    """A baseline, an outbox and a folder of issues, over several runs."""

    def __init__(self, folder: Path, store: BaselineStore | None = None) -> None:
        self.folder = folder
        self.store = store or FolderStore(folder / "baseline")
        self.outbox = Outbox(self.store)
        self.issues = LocalTracker(folder / "issues")
        self.day = 1
        self.rules = RULES
        self.says: list[str] = []
        """Of the last run, also if it raised."""

    def run(
        self, *compared: Bucket, tracker: object = None, version: str = "2.13.0", dry: bool = False
    ) -> list[str]:
        """Conclude a run as a campaign does, and file it."""
        issue_filer = IssueFiler(tracker or self.issues, self.outbox, dry_run=dry)  # type: ignore[arg-type]
        self.says = issue_filer.messages
        sources = IssueSources(out=self.folder / "run")
        filing = FilingReporter(issue_filer, self.store, rules=self.rules, sources=sources)
        sighting = Sighting(
            time=f"2026-01-{self.day:02}T00:00:00Z", commit="abc", versions=((TARGET, version),)
        )
        self.day += 1
        is_first = not self.store.exists()
        verdict = Verdict.ESTABLISHED if is_first else Verdict.CLEAN
        before: Records = {} if is_first else self.store.load()
        put = filing.plan_issues(verdict, compared, {TARGET: version})

        def changed(stored: Records) -> Records:
            after = merge(update(before, compared, sighting), stored)
            put(self.store.folder, after)
            return after

        self.store.change(changed)
        filing.receive(finished(verdict, compared, version))
        filing.close()
        return issue_filer.messages

    def numbers(self) -> dict[str, bool]:
        """Return whether each issue is open, by the API in its name."""
        names = [path.name for path in (self.folder / "issues").glob("*.md")]
        found = {name: self.issues.find(name[:19].replace("-", ":", 1)) for name in names}
        return {name[20:-3]: issue.is_open for name, issue in found.items() if issue}

    def text(self, name: Bucket) -> str:
        issue = self.issues.find(cause_of(name).name)
        assert issue is not None
        return (self.folder / "issues" / issue.number).read_text("utf-8")


def finished(verdict: Verdict, buckets: tuple[Bucket, ...], version: str) -> RunFinished:
    target = TargetSummary(
        name=TARGET,
        library="torch",
        version=version,
        python="3.11",
        device="cpu",
        packages={},
        confined_by=(),
        apis=1,
    )
    return RunFinished(
        verdict=verdict, exit_code=0, summary="", targets=(target,), buckets=buckets, stages={}
    )
