"""Check runs on GitHub: one per head and name, completed only when all of it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from github.GithubObject import NotSet

from ciguard.domain.remarks import RemarkLevel
from ciguard.trackers.github_client import FAILURES, GitHubClient

if TYPE_CHECKING:
    from github.CheckRun import CheckRun

    from ciguard.domain.plan import Place
    from ciguard.domain.remarks import Remark
    from ciguard.trackers.connection import Connection
    from ciguard.trackers.patience import Patience
    from ciguard.trackers.shown import CheckReport, Head

OURS = "ciguard"
"""External id of our check runs: jobs of workflows are check runs too, and may have our name."""
BATCH = 50
"""Annotations that GitHub takes in one request."""
MAX_ANNOTATIONS = 500
"""Ten requests; nobody reads more."""
_SETTLE_S = 5.0
_LEVELS = {
    RemarkLevel.ERROR: "failure",
    RemarkLevel.WARNING: "warning",
    RemarkLevel.NOTICE: "notice",
}

Annotation: TypeAlias = dict[str, str | int]
Key: TypeAlias = tuple[str, int, str, str]


class CheckRuns:
    """Check runs of one repository."""

    def __init__(self, to: Connection, patience: Patience) -> None:
        self._client = GitHubClient(to, patience, needs="checks: write")

    def publish(self, head: Head, check: CheckReport) -> str:
        """Create the check run or bring it up to date; doing it again changes nothing.

        GitHub only ever adds annotations. Where a check run of ours has some that are not wanted
        any more, a new one of the same name takes its place.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        placed = [
            _annotation(remark, remark.place)
            for remark in check.remarks
            if remark.place is not None
        ]
        wanted = {_key(one): one for one in placed[:MAX_ANNOTATIONS]}
        cut = len(placed) - MAX_ANNOTATIONS
        note = f"\n\n{cut} more annotations are left out." if cut > 0 else ""
        output = {"title": check.title, "summary": check.summary + note}
        run = self._fitting(head, wanted)
        done = "updated" if run is not None else "created"
        if run is None:
            run = self._created(head, check, output)
        elif _is_as(run, check, output) and self._keys(run) == set(wanted):
            return f"check run {head.name!r} is up to date"
        self._complete(run, check, output, wanted)
        return f"check run {head.name!r} {done}: {check.conclusion}, {len(wanted)} annotations"

    def _fitting(self, head: Head, wanted: dict[Key, Annotation]) -> CheckRun | None:
        """Return our latest check run, if all that it is annotated with is still wanted."""
        found = self._latest(head)
        if found is None or not self._keys(found) <= set(wanted):
            return None
        return found

    def _latest(self, head: Head) -> CheckRun | None:
        commit = self._client.repository.get_commit(head.sha)
        runs = self._client.repeat(
            lambda: list(commit.get_check_runs(check_name=head.name, filter="all"))
        )
        ours = [run for run in runs if run.external_id == OURS and run.name == head.name]
        return max(ours, key=lambda run: run.id, default=None)

    def _keys(self, run: CheckRun) -> set[Key]:
        there = self._client.repeat(lambda: list(run.get_annotations()))
        return {(one.path, one.start_line, one.title or "", one.message) for one in there}

    def _created(self, head: Head, check: CheckReport, output: dict[str, str]) -> CheckRun:
        """Create a check run that is in progress."""
        before = self._latest(head)
        repository = self._client.repository

        def make() -> CheckRun:
            return repository.create_check_run(
                head.name,
                head.sha,
                external_id=OURS,
                status="in_progress",
                output=dict(output),
                details_url=check.details or NotSet,
            )

        def look() -> CheckRun | None:
            latest = self._latest(head)
            is_older = latest is not None and before is not None and latest.id == before.id
            return None if is_older else latest

        return self._client.create(make, look, what=f"check run {head.name!r}")

    def _complete(
        self,
        run: CheckRun,
        check: CheckReport,
        output: dict[str, str],
        wanted: dict[Key, Annotation],
    ) -> None:
        """Add what is missing, batch by batch; the conclusion comes with the last one."""
        attempt = 0
        missing = self._missing(run, wanted)
        while True:
            batch, rest = missing[:BATCH], missing[BATCH:]
            try:
                run.edit(
                    output={**output, "annotations": batch},
                    # An older conclusion must not stand for what is still being told.
                    status="in_progress" if rest else "completed",
                    conclusion=NotSet if rest else check.conclusion,
                )
            except FAILURES as failure:
                self._client.give_way(failure, attempt, least_s=_SETTLE_S)
                attempt += 1
                # It may have been carried out: annotations that are sent again are there twice.
                missing = self._missing(run, wanted)
                continue
            if not rest:
                return
            missing = rest

    def _missing(self, run: CheckRun, wanted: dict[Key, Annotation]) -> list[Annotation]:
        there = self._keys(run)
        return [annotation for key, annotation in wanted.items() if key not in there]


def _annotation(remark: Remark, place: Place) -> Annotation:
    return {
        "path": place.path,
        "start_line": place.line,
        "end_line": place.line,
        "annotation_level": _LEVELS[remark.level],
        "title": remark.title,
        "message": remark.message,
    }


def _key(one: Annotation) -> Key:
    return str(one["path"]), int(one["start_line"]), str(one["title"]), str(one["message"])


def _is_as(run: CheckRun, check: CheckReport, output: dict[str, str]) -> bool:
    there = (run.status, run.conclusion, run.output.title, run.output.summary)
    return there == ("completed", check.conclusion, output["title"], output["summary"])
