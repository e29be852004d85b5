"""Check runs on GitHub: one per head commit and name, completed once all annotations are sent."""

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
    from ciguard.trackers.publication import CheckReport, Head
    from ciguard.trackers.retry_budget import RetryBudget

EXTERNAL_ID = "ciguard"
"""External id of ciguard's check runs. GitHub also creates a check run for each job of a workflow,
which may have the same name."""
BATCH_SIZE = 50
"""Maximum number of annotations in one request, set by GitHub."""
MAX_ANNOTATIONS = 500
"""Maximum number of annotations of a check run, which need ten requests."""
_SETTLE_S = 5.0
_LEVELS = {
    RemarkLevel.ERROR: "failure",
    RemarkLevel.WARNING: "warning",
    RemarkLevel.NOTICE: "notice",
}

Annotation: TypeAlias = dict[str, str | int]
Key: TypeAlias = tuple[str, int, str, str]


class CheckRuns:
    """The check runs of one repository."""

    def __init__(self, connection: Connection, retry_budget: RetryBudget) -> None:
        self._client = GitHubClient(connection, retry_budget, needs="checks: write")

    def publish(self, head: Head, check: CheckReport) -> str:
        """Create or update the check run; return a sentence about what was done.

        GitHub cannot remove annotations. If our check run has obsolete annotations, a new check run
        of the same name replaces it.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        placed = [
            _annotation(remark, remark.place)
            for remark in check.remarks
            if remark.place is not None
        ]
        wanted = {_key(annotation): annotation for annotation in placed[:MAX_ANNOTATIONS]}
        omitted = len(placed) - MAX_ANNOTATIONS
        note = f"\n\n{omitted} more annotations are omitted." if omitted > 0 else ""
        output = {"title": check.title, "summary": check.summary + note}
        run = self._reusable(head, wanted)
        done = "updated" if run is not None else "created"
        if run is None:
            run = self._create(head, check, output)
        elif _is_current(run, check, output) and self._keys(run) == set(wanted):
            return f"check run {head.name!r} is up to date"
        self._complete(run, check, output, wanted)
        return f"check run {head.name!r} {done}: {check.conclusion}, {len(wanted)} annotations"

    def _reusable(self, head: Head, wanted: dict[Key, Annotation]) -> CheckRun | None:
        """Return our latest check run; None if there is none, or it has obsolete annotations."""
        run = self._latest(head)
        if run is None or not self._keys(run) <= set(wanted):
            return None
        return run

    def _latest(self, head: Head) -> CheckRun | None:
        commit = self._client.repository.get_commit(head.sha)
        runs = self._client.retry(
            lambda: list(commit.get_check_runs(check_name=head.name, filter="all"))
        )
        ours = [run for run in runs if run.external_id == EXTERNAL_ID and run.name == head.name]
        return max(ours, key=lambda run: run.id, default=None)

    def _keys(self, run: CheckRun) -> set[Key]:
        annotations = self._client.retry(lambda: list(run.get_annotations()))
        return {
            (item.path, item.start_line, item.title or "", item.message) for item in annotations
        }

    def _create(self, head: Head, check: CheckReport, output: dict[str, str]) -> CheckRun:
        """Create a check run in the state `in_progress`."""
        before = self._latest(head)
        repository = self._client.repository

        def make() -> CheckRun:
            return repository.create_check_run(
                head.name,
                head.sha,
                external_id=EXTERNAL_ID,
                status="in_progress",
                output=dict(output),
                details_url=check.details or NotSet,
            )

        def look() -> CheckRun | None:
            latest = self._latest(head)
            is_older = latest is not None and before is not None and latest.id == before.id
            return None if is_older else latest

        return self._client.create(make, look, name=f"check run {head.name!r}")

    def _complete(
        self,
        run: CheckRun,
        check: CheckReport,
        output: dict[str, str],
        wanted: dict[Key, Annotation],
    ) -> None:
        """Add the missing annotations in batches; the last batch sets the conclusion."""
        attempt = 0
        missing = self._missing(run, wanted)
        while True:
            batch, rest = missing[:BATCH_SIZE], missing[BATCH_SIZE:]
            try:
                run.edit(
                    output={**output, "annotations": batch},
                    # The conclusion must not appear before all annotations are sent.
                    status="in_progress" if rest else "completed",
                    conclusion=NotSet if rest else check.conclusion,
                )
            except FAILURES as failure:
                self._client.wait_or_raise(failure, attempt, first_wait_s=_SETTLE_S)
                attempt += 1
                # The request may have succeeded, and annotations sent twice would appear twice.
                missing = self._missing(run, wanted)
                continue
            if not rest:
                return
            missing = rest

    def _missing(self, run: CheckRun, wanted: dict[Key, Annotation]) -> list[Annotation]:
        existing = self._keys(run)
        return [annotation for key, annotation in wanted.items() if key not in existing]


def _annotation(remark: Remark, place: Place) -> Annotation:
    return {
        "path": place.path,
        "start_line": place.line,
        "end_line": place.line,
        "annotation_level": _LEVELS[remark.level],
        "title": remark.title,
        "message": remark.message,
    }


def _key(annotation: Annotation) -> Key:
    return (
        str(annotation["path"]),
        int(annotation["start_line"]),
        str(annotation["title"]),
        str(annotation["message"]),
    )


def _is_current(run: CheckRun, check: CheckReport, output: dict[str, str]) -> bool:
    current = (run.status, run.conclusion, run.output.title, run.output.summary)
    return current == ("completed", check.conclusion, output["title"], output["summary"])
