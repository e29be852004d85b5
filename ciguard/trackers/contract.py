"""What a tracker is: the place where buckets become issues."""

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
"""In the place of a name: the one list of what has no issue of its own."""

_MARKER = re.compile(r"\s*<!-- ciguard-fp: (\S{1,40}) -->")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The text of one issue: escaped, bounded, free of local paths, fit to be published."""

    fingerprint: str
    """Name of the group: of a cause, or a fingerprint; see `is_name`."""
    title: str
    body: str
    """Markdown that begins with `marker(fingerprint)`."""
    slug: str = ""
    """A few safe characters for a file's name."""
    aliases: tuple[str, ...] = ()
    """Fingerprints of the group's buckets: an issue that was filed under one of them is its
    issue."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which the issue may be found."""
        return (self.fingerprint, *self.aliases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """An issue as the tracker knows it."""

    fingerprint: str
    number: str
    """Number, or path of a file."""
    is_open: bool
    is_silenced: bool = False
    """A person wants to hear no more of it: such an issue is left as it is."""


class Tracker(Protocol):
    """Files issues, finds them again, and nothing else: what is filed is a policy's decision.

    Exactly one issue per group, also when two jobs file at once. A silenced issue is found, and
    nothing else is done to it. Where a call fails, doing it again makes nothing twice.
    """

    def remember(self, numbers: Mapping[str, str]) -> None:
        """Learn anew which issue (`Issue.number`) the baseline knows for which fingerprint.

        A tracker that could lose sight of an issue looks at that one first.
        """

    def find(self, *names: str) -> Issue | None:
        """Return the issue of the group with these names, open or closed, if there is one."""

    def open(self, report: Report) -> Issue:
        """File an issue. Where the group has one, its text is replaced and no second one is made.

        Where it has several, of buckets that were taken for different faults once, one stays: the
        one that was filed under the report's own name and silenced, else an open one, the oldest
        first. Others that are open are closed as duplicates of it.

        Raises:
            TrackerUnavailableError: if the tracker does not answer in time; later it may.
            CiguardError: if the tracker cannot be written.
        """

    def comment(self, issue: Issue, text: str) -> None:
        """Add a line of plain text to the issue's history, unless its latest entry holds it."""

    def close(self, issue: Issue, because: str) -> Issue:
        """Close the issue with a line that says why; a closed one stays as it is."""

    def reopen(self, issue: Issue, because: str) -> Issue:
        """Open the issue again with a line that says why; an open one stays as it is."""

    def opened_since(self, moment: datetime) -> int:
        """Return how many groups got their issue at `moment` or later; the list does not count."""


TrackerFactory: TypeAlias = Callable[[str], Tracker]
"""Makes a tracker of a location: a folder, `owner/repository`, …"""

TRACKERS: Registry[TrackerFactory] = Registry("tracker", group="ciguard.trackers", accepts=callable)


def is_name(text: str) -> bool:
    """Return whether `text` can name an issue: a fingerprint, or a cause that buckets share."""
    return is_fingerprint(text) or is_cause_name(text)


def marker(name: str) -> str:
    """Return the hidden line by which an issue is found again."""
    return f"<!-- ciguard-fp: {name} -->"


def marked_with(text: str) -> str:
    """Return the name in the marker that `text` begins with; empty if there is none.

    Only the beginning counts: whatever a bug makes a program print stands further down.
    """
    found = _MARKER.match(text)
    return found[1] if found and is_name(found[1]) else ""
