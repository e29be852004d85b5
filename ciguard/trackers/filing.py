"""The listener that files what a run found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ciguard.baseline import find_record, is_regression, merge, with_issues
from ciguard.domain import Comparison, Confirmation, RunFinished, Verdict, visible
from ciguard.errors import TrackerError, TrackerUnavailableError
from ciguard.project import Project
from ciguard.trackers.body import report, roll_up
from ciguard.trackers.context import Context
from ciguard.trackers.contract import ROLL_UP
from ciguard.trackers.disclosure import (
    crash_of,
    disclosed,
    is_security_relevant,
    withheld,
    write_upstream_reports,
)
from ciguard.trackers.news import evidence, news, regression
from ciguard.trackers.policy import of_this_tracker, plan
from ciguard.trackers.tasks import Close, File, Refresh
from ciguard.trackers.template import Template, built_in
from ciguard.triage import read_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ciguard.baseline import BaselineStore, Records
    from ciguard.domain import Bucket, Event
    from ciguard.trackers.contract import Issue, Report
    from ciguard.trackers.desk import Desk
    from ciguard.trackers.disclosure import SecurityCrash
    from ciguard.trackers.policy import FilingRules, Plan
    from ciguard.trackers.tasks import Task

_CONCLUSIVE = frozenset({Verdict.ESTABLISHED, Verdict.CLEAN, Verdict.NEW_FINDINGS})
_MET = frozenset({Comparison.NEW, Comparison.KNOWN})
_MAX_NAMED = 5
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where the text of an issue comes from."""

    out: Path
    """The run's folder, which holds the reproducers."""
    run_page: str = ""
    """Address of the run; empty where it has none."""
    repository_page: str = ""
    """Address of the repository that was tested; empty where it is unknown."""
    project: Project = field(default_factory=Project)
    """Where this copy of ciguard comes from."""
    template: Template | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """What a run has found."""

    verdict: Verdict
    buckets: tuple[Bucket, ...]
    versions: Mapping[str, str]


class Filing:
    """Files what a run found, once the run is over and the baseline knows it."""

    def __init__(
        self, desk: Desk, store: BaselineStore, *, rules: FilingRules, sources: Sources
    ) -> None:
        """Read the baseline as it is before the run.

        Args:
            desk: does what is decided here.
            store: the baseline; remembers which bucket has which issue.
            rules: what the project wants.
            sources: where texts come from.

        Raises:
            BaselineError: if the baseline cannot be read.
        """
        self._desk = desk
        self._store = store
        self._rules = rules
        self._sources = sources
        self._discloser = rules.discloser
        self._crashes: list[SecurityCrash] = []
        self._before: Records = self._load() if store.exists() else {}
        self._granted: int | None = None
        """How many issues this run may open, once its tasks are in the outbox."""
        self._adopted: dict[str, str] = {}
        """Issue by fingerprint, where the tracker has one and the baseline knows none."""
        self._is_answered = True
        """Whether the tracker has answered so far: it is not asked again in vain."""
        self._failure: Exception | None = None

    def intend(
        self, verdict: Verdict, buckets: tuple[Bucket, ...], versions: Mapping[str, str]
    ) -> Callable[[Path, Records], None]:
        """Prepare to put what is to be done into the outbox when the baseline is written.

        What was found and what is to be done about it are then one change. A failure here does not
        hinder the baseline: `receive` raises it.

        Args:
            verdict: of the run that is about to be remembered.
            buckets: as `RunFinished.buckets`.
            versions: of the library, by target.

        Returns:
            What writes into the baseline's folder, given the records that will be stored there.
        """
        found = _Found(verdict, buckets, versions)
        room = None if self._desk.is_dry else self._attempt(self._room)

        def put(folder: Path, after: Records) -> None:
            if room is None:
                return
            known = of_this_tracker(after, self._rules)
            self._granted = self._attempt(lambda: self._put(folder, found, known, room))

        return put

    def receive(self, event: Event) -> None:
        """File when the run is over; an interrupted or failed run proves nothing and files nothing.

        Raises:
            CiguardError: if the tracker refuses, or outbox or baseline cannot be written. A
                tracker that does not answer is no error: what was not filed waits in the outbox.
        """
        if isinstance(event, RunFinished) and event.verdict in _CONCLUSIVE:
            if self._failure is not None:
                raise self._failure
            self._file(event)

    def close(self) -> None:
        """Nothing to release."""

    def _load(self) -> Records:
        return of_this_tracker(self._store.load(), self._rules)

    def _attempt(self, act: Callable[[], int]) -> int | None:
        self._failure = None
        try:
            return act()
        except Exception as error:  # noqa: BLE001 - a reporter's failure must not hinder the run
            self._failure = error
            return None

    def _put(self, folder: Path, found: _Found, after: Records, room: int) -> int:
        self._desk.put(folder, self._tasks(found, after, room))
        return room

    def _tasks(self, found: _Found, after: Records, room: int) -> list[Task]:
        """Return what is to be done about a run's buckets, beside what waits already."""
        self._desk.remember(after)
        self._look(found.buckets, after)
        after = with_issues(after, self._adopted)
        waiting = self._desk.waiting(after)
        promised = {task.fingerprint for task in waiting if isinstance(task, File)} - {ROLL_UP}
        chosen = plan(
            [bucket for bucket in found.buckets if bucket.fingerprint not in promised],
            before=self._before,
            after=after,
            rules=replace(self._rules, cap=max(0, room - len(promised))),
            establishes=found.verdict is Verdict.ESTABLISHED,
        )
        self._warn_of_gone(chosen, after)
        author = _Author(self._before, after, found.versions, self._sources)
        self._prepare_disclosure(found, chosen, author)
        return author.tasks(chosen)

    def _prepare_disclosure(self, found: _Found, chosen: Plan, author: _Author) -> None:
        """Write what a person may send upstream, and keep what is to be filed in private."""
        met = [b for b in found.buckets if b.comparison in _MET and is_security_relevant(b)]
        confirmed = [b for b in met if b.confirmation is Confirmation.CONFIRMED]
        crashes = {b.fingerprint: author.crash(b) for b in confirmed}
        write_upstream_reports(self._sources.out, crashes.values())
        hidden = [b for b in chosen.withheld if b.fingerprint in crashes]
        self._crashes = [crashes[bucket.fingerprint] for bucket in hidden]
        if chosen.withheld and (self._discloser is None or self._desk.is_dry):
            self._desk.says.append(withheld(len(chosen.withheld)))

    def _file(self, event: RunFinished) -> None:
        after = self._load()
        room = self._granted
        tasks: list[Task] = []
        if room is None:  # nobody has asked what it intends
            versions = {target.name: target.version for target in event.targets}
            room = self._room()
            tasks = self._tasks(_Found(event.verdict, event.buckets, versions), after, room)
        issues = self._desk.work(tasks, with_issues(after, self._adopted), room=room)
        # The older issue stays where another job has noted one meanwhile.
        self._desk.settle(change=lambda stored: merge(stored, with_issues(stored, issues)))
        refusal = self._desk.refusal
        try:
            self._disclose()
        except TrackerError as error:
            if refusal is None:
                raise
            self._desk.says.append(visible(str(error)))
        if refusal is not None:
            raise refusal

    def _disclose(self) -> None:
        """File in private. The baseline, which others may read, does not know of it.

        What fails is done by the next run that meets the crash.
        """
        places: list[str] = []
        try:
            for place in self._disclosed():
                places.append(place)  # noqa: PERF402 - what was filed is said after a failure too
        except TrackerUnavailableError as error:
            self._desk.says.append(str(error))
        finally:
            if places:
                self._desk.says.append(disclosed(places))

    def _disclosed(self) -> Iterator[str]:
        """File one crash after the other, and yield where each is."""
        room = self._rules.cap
        if self._discloser is None or self._desk.is_dry:
            return
        for crash in self._crashes:
            filed = self._discloser.disclose(crash, creates=room > 0)
            if filed is not None:
                room -= filed.is_new
                yield filed.place

    def _look(self, buckets: tuple[Bucket, ...], after: Records) -> None:
        """Look for issues that a lost baseline does not know: they are adopted, not filed twice."""
        self._adopted = {}
        for bucket in buckets:
            names = (bucket.fingerprint, *bucket.aliases)
            record = find_record(after, *names)
            if record is None or record.issue or bucket.comparison not in _MET:
                continue
            issue = self._issue_of(names)
            if issue is not None:
                self._adopted[record.fingerprint] = issue.number

    def _warn_of_gone(self, chosen: Plan, after: Records) -> None:
        """Say which issues of buckets that were met are gone: nothing else would."""
        gone = []
        for bucket in chosen.refreshed:
            names = (bucket.fingerprint, *bucket.aliases)
            record = find_record(after, *names)
            if record is not None and self._issue_of(names) is None:
                gone.append(record.issue)
        if gone and self._is_answered:
            self._desk.says.append(_gone(gone))

    def _issue_of(self, names: tuple[str, ...]) -> Issue | None:
        """Return the bucket's issue; nothing where the tracker does not answer."""
        if not self._is_answered:
            return None
        try:
            return next(filter(None, map(self._desk.tracker.find, names)), None)
        except TrackerUnavailableError:
            self._is_answered = False
            return None

    def _room(self) -> int:
        """Return how many issues this run may open."""
        try:
            today = self._desk.tracker.opened_since(datetime.now(UTC) - _DAY)
        except TrackerUnavailableError:
            self._is_answered = False
            today = 0  # nothing will be opened now, and the outbox is emptied by these rules, too
        return max(0, min(self._rules.cap, self._rules.per_day - today))


def _gone(issues: list[str]) -> str:
    named = ", ".join(visible(issue, limit=60) for issue in issues[:_MAX_NAMED])
    more = f" and {len(issues) - _MAX_NAMED} more" if len(issues) > _MAX_NAMED else ""
    what = "1 known issue is" if len(issues) == 1 else f"{len(issues)} known issues are"
    return (
        f"warning: {what} gone ({named}{more}): deleted, transferred, or without ciguard's marker. "
        "A bug is filed anew only when it comes back after a fix (docs/trackers.md)"
    )


class _Author:
    """Writes what a plan wants to say."""

    def __init__(
        self, before: Records, after: Records, versions: Mapping[str, str], sources: Sources
    ) -> None:
        self._before = before
        self._after = after
        self._versions = versions
        self._sources = sources

    def tasks(self, chosen: Plan) -> list[Task]:
        """Return what is to be done, what matters most first."""
        filed = chosen.reopened + chosen.adopted + chosen.opened
        written: list[Task] = [self._file(bucket) for bucket in filed]
        written += filter(None, map(self._refresh, chosen.refreshed))
        for fingerprint in chosen.closed:
            because = evidence(self._after[fingerprint])
            written.append(Close(fingerprint=fingerprint, because=because))
        if chosen.listed:
            listing = roll_up(chosen.listed)
            written.append(File(report=listing, because="The list has entries again."))
        else:
            written.append(Close(fingerprint=ROLL_UP, because="Nothing is left on the list."))
        return written

    def crash(self, bucket: Bucket) -> SecurityCrash:
        """Return what is to be filed in private or sent upstream of a bucket."""
        return crash_of(bucket, self._report(bucket), self._versions)

    def _file(self, bucket: Bucket) -> File:
        before = find_record(self._before, bucket.fingerprint)
        because = "Met again." if before is None else regression(bucket, before, self._versions)
        return File(report=self._report(bucket), because=because)

    def _refresh(self, bucket: Bucket) -> Refresh | None:
        before = find_record(self._before, bucket.fingerprint)
        after = find_record(self._after, bucket.fingerprint)
        if before is None or after is None:
            return None
        says = news(bucket, before, self._versions)
        if not says and after.exhibit.case == before.exhibit.case:
            return None
        return Refresh(report=self._report(bucket), news=says)

    def _report(self, bucket: Bucket) -> Report:
        record = find_record(self._after, bucket.fingerprint)
        names = {*bucket.aliases, *((record.fingerprint, *record.aliases) if record else ())}
        context = Context(
            script=read_script(self._sources.out, bucket),
            run_page=self._sources.run_page,
            repository_page=self._sources.repository_page,
            project=self._sources.project,
            versions=self._versions,
            commit="" if record is None else record.first_seen.commit,
            first_seen="" if record is None else record.first_seen.time,
            is_regression=is_regression(bucket, self._before),
            aliases=tuple(sorted(names - {bucket.fingerprint})),
        )
        return report(bucket, context, template=self._sources.template or built_in())
