"""The protocol of trackers, which file issues for buckets, and the registry of trackers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ciguard.registry import Registry
from ciguard.triage import is_cause_name, is_fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

ROLL_UP = "v1:" + "0" * 16
"""Reserved name of the issue that lists all groups without an issue of their own."""

_MARKER = re.compile(r"\s*<!-- ciguard-fp: (\S{1,40}) -->")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The text of one issue, ready to publish: escaped, bounded, without local paths."""

    fingerprint: str
    """Name of the group: the name of a cause, or a fingerprint; see `is_name`."""
    title: str
    body: str
    """Markdown that starts with `marker(fingerprint)`."""
    slug: str = ""
    """Name of the API as a part of a file name, with safe characters only."""
    aliases: tuple[str, ...] = ()
    """Fingerprints of the group's buckets, under which its issue may have been filed."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names under which the issue may have been filed."""
        return (self.fingerprint, *self.aliases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """An issue in a tracker."""

    fingerprint: str
    """Name of the group for which the issue was filed."""
    number: str
    """Number of the issue, or the name of its file."""
    is_open: bool
    is_silenced: bool = False
    """True if a person silenced the issue, so that ciguard never changes it."""


class Tracker(Protocol):
    """A place for issues. `ciguard.trackers.policy` decides what is filed there.

    A tracker keeps exactly one issue per group, even if two jobs file concurrently. A silenced
    issue is found but never changed. Every method can be repeated after a failure.
    """

    def remember(self, numbers: Mapping[str, str]) -> None:
        """Set the issue numbers that the baseline records, by fingerprint.

        A tracker whose search may miss an issue looks up the recorded number first.
        """

    def find(self, *names: str) -> Issue | None:
        """Return the group's issue, open or closed; None if there is none."""

    def open(self, report: Report) -> Issue:
        """File an issue, or replace the text of the group's issue if it has one.

        If the group has several issues, because its buckets formed several groups before, one issue
        is kept: a silenced issue that was filed under the report's own name, else the oldest open
        issue. The other open issues are closed as duplicates.

        Raises:
            TrackerUnavailableError: if the tracker does not respond in time; a retry may succeed.
            CiguardError: if the tracker rejects the issue.
        """

    def comment(self, issue: Issue, text: str) -> None:
        """Add a line of plain text to the issue's history, unless the latest entry contains it."""

    def close(self, issue: Issue, because: str) -> Issue:
        """Close the issue with a reason, unless it is closed."""

    def reopen(self, issue: Issue, because: str) -> Issue:
        """Reopen the issue with a reason, unless it is open."""

    def opened_since(self, moment: datetime) -> int:
        """Return how many issues of groups were opened since `moment`; `ROLL_UP` does not count."""


TrackerFactory: TypeAlias = Callable[[str], Tracker]
"""Creates a tracker for a location, such as a folder or `owner/repository`."""

TRACKERS: Registry[TrackerFactory] = Registry("tracker", group="ciguard.trackers", accepts=callable)


def is_name(text: str) -> bool:
    """Return whether an issue can be filed under `text`: a fingerprint, or the name of a cause."""
    return is_fingerprint(text) or is_cause_name(text)


def marker(name: str) -> str:
    """Return the hidden first line of an issue, by which ciguard finds the issue again."""
    return f"<!-- ciguard-fp: {name} -->"


def marked_with(text: str) -> str:
    """Return the name in the marker at the start of an issue's text; empty if there is no marker.

    Only the start counts, because text from fuzzed calls may contain a forged marker.
    """
    match = _MARKER.match(text)
    return match[1] if match and is_name(match[1]) else ""
