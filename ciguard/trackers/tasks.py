"""Tasks: one thing to do in a tracker each, complete enough to be done by a later run.

Doing a task again does nothing twice, so a task that may or may not have been done is done again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from ciguard.baseline import State, find_record
from ciguard.errors import TrackerGoneError
from ciguard.trackers.contract import ROLL_UP, Report, is_name
from ciguard.triage import is_cause_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.baseline import BaselineRecord, Records
    from ciguard.domain.values import Json
    from ciguard.trackers.contract import Issue, Tracker


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """Open the group's issue, or open it again."""

    report: Report
    because: str = "met again"
    """Why it is opened again, where it is closed."""

    @property
    def fingerprint(self) -> str:
        """The group's name."""
        return self.report.fingerprint

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the group and its buckets."""
        return self.report.names


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """Show the latest evidence in an issue that there is, and say what is new."""

    report: Report
    news: str = ""
    """Empty where there is only a better case."""

    @property
    def fingerprint(self) -> str:
        """The group's name."""
        return self.report.fingerprint

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the group and its buckets."""
        return self.report.names


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Close the group's issue."""

    fingerprint: str
    because: str
    aliases: tuple[str, ...] = ()
    """Fingerprints of its buckets."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the group and its buckets."""
        return (self.fingerprint, *self.aliases)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostComment:
    """Say in the group's issue what is new, and leave its text: this run has none better."""

    fingerprint: str
    news: str
    aliases: tuple[str, ...] = ()
    """Fingerprints of its buckets."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the group and its buckets."""
        return (self.fingerprint, *self.aliases)


Task: TypeAlias = File | Refresh | PostComment | Close

_KINDS: Mapping[str, type[Task]] = {
    "file": File,
    "refresh": Refresh,
    "remark": PostComment,
    "close": Close,
}


def perform(task: Task, tracker: Tracker) -> Issue | None:
    """Do what the task says; an issue that is gone meanwhile is filed anew, else left gone.

    Returns:
        The group's issue, if it has one.

    Raises:
        CiguardError: if the tracker fails; doing the task again later is safe.
    """
    try:
        return _performed(task, tracker)
    except TrackerGoneError as gone:
        return _performed(_after(task, gone), tracker) if isinstance(task, File) else None


def _after(task: File, gone: TrackerGoneError) -> File:
    """Return the task whose report names the issue that cannot be used any more."""
    if not gone.successor_of:
        return task
    body = f"{task.report.body}\n\nEarlier issue: #{gone.successor_of}."
    return replace(task, report=replace(task.report, body=body))


def _performed(task: Task, tracker: Tracker) -> Issue | None:
    match task:
        case File(report=report, because=because):
            issue = tracker.open(report)
            return issue if issue.is_open else tracker.reopen(issue, because)
        case Refresh():
            return _refresh(task, tracker)
        case PostComment():
            return _remark(task, tracker)
        case Close():
            return _close(task, tracker)
        case _:
            assert_never(task)


def _refresh(task: Refresh, tracker: Tracker) -> Issue | None:
    if tracker.find(*task.names) is None:
        return None  # a person deleted it, or took its label away: they want it no more
    issue = tracker.open(task.report)
    if task.news and issue.is_open:
        tracker.comment(issue, task.news)
    elif task.news:
        return tracker.reopen(issue, task.news)
    return issue


def _remark(task: PostComment, tracker: Tracker) -> Issue | None:
    issue = tracker.find(*task.names)
    if issue is not None and issue.is_open:
        tracker.comment(issue, task.news)
    return issue


def _close(task: Close, tracker: Tracker) -> Issue | None:
    issue = tracker.find(*task.names)
    # Those of its buckets that had an issue before they were one group are fixed, too.
    for name in task.aliases:
        other = tracker.find(name)
        if issue is not None and other is not None and other.number != issue.number:
            tracker.close(other, task.because)
    return None if issue is None else tracker.close(issue, task.because)


def still_holds(task: Task, records: Records) -> bool:
    """Return whether a task of an earlier run is still to be done, by what is known now."""
    if task.fingerprint == ROLL_UP:
        return True
    states = {record.state for record in records_of(task, records)}
    if isinstance(task, Close):
        return State.OPEN not in states and State.FIXED in states
    return State.OPEN in states


def records_of(task: Task, records: Records) -> list[BaselineRecord]:
    """Return what the baseline knows of a task's buckets."""
    # To look for a name that no record has takes as long as the baseline is large.
    fingerprints = (name for name in task.names if not is_cause_name(name))
    found = (find_record(records, fingerprint) for fingerprint in fingerprints)
    return [record for record in found if record is not None]


def replaces(later: Task, earlier: Task) -> bool:
    """Return whether the earlier task need not be done any more, since the later one will be."""
    if later.fingerprint != earlier.fingerprint:
        return False
    if isinstance(earlier, Refresh):
        return not earlier.news
    return not isinstance(later, Refresh | PostComment)


def task_to_json(task: Task) -> dict[str, Json]:
    """Return the JSON form of a task."""
    kind = next(name for name, made in _KINDS.items() if isinstance(task, made))
    return {"task": kind, **asdict(task)}


def task_from_json(encoded: Json) -> Task:
    """Rebuild a task; the text may come from a file that a stranger has edited.

    Raises:
        ValueError: if it is not the JSON form of a task.
    """
    if not isinstance(encoded, dict):
        msg = "not a task: no object"
        raise ValueError(msg)  # noqa: TRY004 - a defect of the stored text, not of a caller
    try:
        fields: dict[str, Any] = dict(encoded)
        kind = _KINDS[fields.pop("task")]
        if "report" in fields:
            fields["report"] = _report(fields["report"])
        if "aliases" in fields:  # not in what ciguard wrote while every bucket had its own issue
            fields["aliases"] = _names(fields["aliases"])
        fields.pop("related", None)  # links, as ciguard 0.1 wrote them
        task = kind(**fields)
    except (AttributeError, KeyError, TypeError) as error:
        msg = f"not a task: {error!r:.100}"
        raise ValueError(msg) from error
    texts = [value for value in fields.values() if not isinstance(value, (Report, tuple))]
    if not all(isinstance(text, str) for text in texts) or not is_name(task.fingerprint):
        msg = "not a task: one of its texts is none"
        raise ValueError(msg)
    return task


def _report(encoded: Json) -> Report:
    fields: dict[str, Any] = {**encoded, "aliases": _names(encoded["aliases"])}
    if not all(isinstance(text, str) for name, text in fields.items() if name != "aliases"):
        msg = "not a task: its report is none"
        raise ValueError(msg)
    return Report(**fields)


def _names(encoded: Json) -> tuple[str, ...]:
    if not isinstance(encoded, list) or not all(
        isinstance(name, str) and is_name(name) for name in encoded
    ):
        msg = "not a task: it names something that is no name of an issue"
        raise ValueError(msg)
    return tuple(encoded)
