"""What a tracker is: the place where buckets become issues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ciguard.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The text of one issue: escaped, bounded, free of local paths, fit to be published."""

    fingerprint: str
    title: str
    body: str
    """Markdown that begins with `marker(fingerprint)`."""
    slug: str = ""
    """A few safe characters for a file's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """An issue as the tracker knows it."""

    fingerprint: str
    number: str
    """Number, or path of a file."""
    is_open: bool


class Tracker(Protocol):
    """Files issues, finds them again, and nothing else: what is filed is a policy's decision.

    Exactly one issue per fingerprint, also when two jobs file at once.
    """

    def find(self, fingerprint: str) -> Issue | None:
        """Return the issue of that bucket, open or closed, if there is one."""

    def open(self, report: Report) -> Issue:
        """File an issue. Where the bucket has one, its text is replaced and no second one is made.

        Raises:
            CiguardError: if the tracker cannot be written.
        """

    def comment(self, issue: Issue, text: str) -> None:
        """Add a line of plain text to the issue's history."""

    def close(self, issue: Issue, because: str) -> Issue:
        """Close the issue with a line that says why; a closed one stays as it is."""

    def reopen(self, issue: Issue, because: str) -> Issue:
        """Open the issue again with a line that says why; an open one stays as it is."""


TrackerFactory: TypeAlias = Callable[[str], Tracker]
"""Makes a tracker of a location: a folder, `owner/repository`, …"""

TRACKERS: Registry[TrackerFactory] = Registry("tracker", group="ciguard.trackers", accepts=callable)


def marker(fingerprint: str) -> str:
    """Return the hidden line by which an issue is found again."""
    return f"<!-- ciguard-fp: {fingerprint} -->"
