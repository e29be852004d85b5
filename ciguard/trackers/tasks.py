"""Tasks: single actions in a tracker, with all data that a later run needs to perform them.

Tasks are idempotent: a task with an unknown result can be repeated.
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
    """Open the group's issue, or reopen it."""

    report: Report
    because: str = "seen again"
    """Reason for reopening a closed issue."""

    @property
    def fingerprint(self) -> str:
        """Name of the group."""
        return self.report.fingerprint

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the group and its buckets."""
        return self.report.names


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """Update the text of an existing issue, and comment on what changed."""

    report: Report
    news: str = ""
    """Text of the comment; empty if no comment is posted."""

    @property
    def fingerprint(self) -> str:
        """Name of the group."""
        return self.report.fingerprint

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the group and its buckets."""
        return self.report.names


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Close the group's issue."""

    fingerprint: str
    because: str
    aliases: tuple[str, ...] = ()
    """Fingerprints of the group's buckets."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the group and its buckets."""
        return (self.fingerprint, *self.aliases)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostComment:
    """Comment on what changed in the group's issue, without updating its text."""

    fingerprint: str
    news: str
    aliases: tuple[str, ...] = ()
    """Fingerprints of the group's buckets."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the group and its buckets."""
        return (self.fingerprint, *self.aliases)


Task: TypeAlias = File | Refresh | PostComment | Close

_KINDS: Mapping[str, type[Task]] = {
    "file": File,
    "refresh": Refresh,
    "remark": PostComment,
    "close": Close,
}


def perform(task: Task, tracker: Tracker) -> Issue | None:
    """Perform a task. If the issue has been deleted, only the task `File` creates a new issue.

    Returns:
        The group's issue; None if it has none.

    Raises:
        CiguardError: if the tracker fails; the task can be repeated later.
    """
    try:
        return _perform_once(task, tracker)
    except TrackerGoneError as error:
        return _perform_once(_successor(task, error), tracker) if isinstance(task, File) else None


def _successor(task: File, error: TrackerGoneError) -> File:
    """Return the task with a report that links the earlier issue, which cannot be used any more."""
    if not error.successor_of:
        return task
    body = f"{task.report.body}\n\nEarlier issue: #{error.successor_of}."
    return replace(task, report=replace(task.report, body=body))


def _perform_once(task: Task, tracker: Tracker) -> Issue | None:
    match task:
        case File(report=report, because=because):
            issue = tracker.open(report)
            return issue if issue.is_open else tracker.reopen(issue, because)
        case Refresh():
            return _refresh(task, tracker)
        case PostComment():
            return _post_comment(task, tracker)
        case Close():
            return _close(task, tracker)
        case _:
            assert_never(task)


def _refresh(task: Refresh, tracker: Tracker) -> Issue | None:
    if tracker.find(*task.names) is None:
        return None  # a person deleted the issue or removed its label
    issue = tracker.open(task.report)
    if task.news and issue.is_open:
        tracker.comment(issue, task.news)
    elif task.news:
        return tracker.reopen(issue, task.news)
    return issue


def _post_comment(task: PostComment, tracker: Tracker) -> Issue | None:
    issue = tracker.find(*task.names)
    if issue is not None and issue.is_open:
        tracker.comment(issue, task.news)
    return issue


def _close(task: Close, tracker: Tracker) -> Issue | None:
    issue = tracker.find(*task.names)
    # Also close issues that buckets had before they formed one group.
    for name in task.aliases:
        other = tracker.find(name)
        if issue is not None and other is not None and other.number != issue.number:
            tracker.close(other, task.because)
    return None if issue is None else tracker.close(issue, task.because)


def is_due(task: Task, records: Records) -> bool:
    """Return whether a task of an earlier run still has to be done, given the current records."""
    if task.fingerprint == ROLL_UP:
        return True
    states = {record.state for record in records_of(task, records)}
    if isinstance(task, Close):
        return State.OPEN not in states and State.FIXED in states
    return State.OPEN in states


def records_of(task: Task, records: Records) -> list[BaselineRecord]:
    """Return the baseline's records of a task's buckets."""
    # Looking up a name without a record scans the whole baseline, so names of causes are skipped.
    fingerprints = (name for name in task.names if not is_cause_name(name))
    matches = (find_record(records, fingerprint) for fingerprint in fingerprints)
    return [record for record in matches if record is not None]


def replaces(later: Task, earlier: Task) -> bool:
    """Return whether the later task makes the earlier one obsolete."""
    if later.fingerprint != earlier.fingerprint:
        return False
    if isinstance(earlier, Refresh):
        return not earlier.news
    return not isinstance(later, Refresh | PostComment)


def task_to_json(task: Task) -> dict[str, Json]:
    """Return the JSON form of a task."""
    kind = next(name for name, task_type in _KINDS.items() if isinstance(task, task_type))
    return {"task": kind, **asdict(task)}


def task_from_json(encoded: Json) -> Task:
    """Rebuild a task from its JSON form, which is untrusted.

    Raises:
        ValueError: if it is not the JSON form of a task.
    """
    if not isinstance(encoded, dict):
        msg = "not a task: not a JSON object"
        raise ValueError(msg)  # noqa: TRY004 - the stored text is malformed, not the argument's type
    try:
        fields: dict[str, Any] = dict(encoded)
        kind = _KINDS[fields.pop("task")]
        if "report" in fields:
            fields["report"] = _report(fields["report"])
        if "aliases" in fields:  # missing in files of versions without groups
            fields["aliases"] = _names(fields["aliases"])
        fields.pop("related", None)  # obsolete field of ciguard 0.1
        task = kind(**fields)
    except (AttributeError, KeyError, TypeError) as error:
        msg = f"not a task: {error!r:.100}"
        raise ValueError(msg) from error
    texts = [value for value in fields.values() if not isinstance(value, (Report, tuple))]
    if not all(isinstance(text, str) for text in texts) or not is_name(task.fingerprint):
        msg = "not a task: a field is not a string, or the fingerprint is invalid"
        raise ValueError(msg)
    return task


def _report(encoded: Json) -> Report:
    fields: dict[str, Any] = {**encoded, "aliases": _names(encoded["aliases"])}
    if not all(isinstance(text, str) for name, text in fields.items() if name != "aliases"):
        msg = "not a task: a field of its report is not a string"
        raise ValueError(msg)
    return Report(**fields)


def _names(encoded: Json) -> tuple[str, ...]:
    if not isinstance(encoded, list) or not all(
        isinstance(name, str) and is_name(name) for name in encoded
    ):
        msg = "not a task: an alias is not the name of an issue"
        raise ValueError(msg)
    return tuple(encoded)
