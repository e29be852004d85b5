"""A tracker that only says what would be done in another one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.trackers.contract import Issue

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ciguard.trackers.contract import Report, Tracker


class DryRun:
    """Looks into a tracker and writes nothing."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._made: dict[str, Issue] = {}
        self.says: list[str] = []
        """What would have been done, one line each."""

    def remember(self, numbers: Mapping[str, str]) -> None:
        """Hand on what the baseline knows."""
        self._tracker.remember(numbers)

    def find(self, *names: str) -> Issue | None:
        """Return the issue, also one that would have been opened."""
        made = (self._made.get(name) for name in names)
        return next(filter(None, made), None) or self._tracker.find(*names)

    def open(self, report: Report) -> Issue:
        """Say that an issue would be opened, or its text replaced."""
        found = self.find(*report.names)
        if found is not None:
            if not found.is_silenced:
                self._say("show the latest evidence in", found)
            return found
        made = Issue(fingerprint=report.fingerprint, number=report.title, is_open=True)
        self._made[report.fingerprint] = made
        self._say("open", made)
        return made

    def comment(self, issue: Issue, text: str) -> None:
        """Say that a comment would be written."""
        if not issue.is_silenced:
            self._say("comment on", issue, text)

    def close(self, issue: Issue, because: str) -> Issue:
        """Say that the issue would be closed."""
        return self._turned("close", issue, because, is_open=False)

    def reopen(self, issue: Issue, because: str) -> Issue:
        """Say that the issue would be opened again."""
        return self._turned("open again", issue, because, is_open=True)

    def opened_since(self, moment: datetime) -> int:
        """Return what the tracker itself says."""
        return self._tracker.opened_since(moment)

    def _turned(self, verb: str, issue: Issue, because: str, *, is_open: bool) -> Issue:
        if issue.is_silenced or issue.is_open == is_open:
            return issue
        self._say(verb, issue, because)
        self._made[issue.fingerprint] = replace(issue, is_open=is_open)
        return self._made[issue.fingerprint]

    def _say(self, verb: str, issue: Issue, text: str = "") -> None:
        why = f": {visible(text)}" if text else ""
        self.says.append(f"would {verb} {visible(issue.number)}{why}")
