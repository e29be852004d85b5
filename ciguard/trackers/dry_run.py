"""A tracker that reports what would be done in another tracker, and does nothing."""

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
    """Reads a tracker, writes nothing, and reports what would be done."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._simulated: dict[str, Issue] = {}
        self.messages: list[str] = []
        """Messages about what would be done, one line each."""

    def remember(self, numbers: Mapping[str, str]) -> None:
        """See `Tracker`."""
        self._tracker.remember(numbers)

    def find(self, *names: str) -> Issue | None:
        """Return the group's issue, also if it only would be opened; None if there is none."""
        simulated = (self._simulated.get(name) for name in names)
        return next(filter(None, simulated), None) or self._tracker.find(*names)

    def open(self, report: Report) -> Issue:
        """Report that an issue would be opened, or its text replaced."""
        issue = self.find(*report.names)
        if issue is not None:
            if not issue.is_silenced:
                self._report("update the text of", issue)
            return issue
        new = Issue(fingerprint=report.fingerprint, number=report.title, is_open=True)
        self._simulated[report.fingerprint] = new
        self._report("open", new)
        return new

    def comment(self, issue: Issue, text: str) -> None:
        """Report that a comment would be posted."""
        if not issue.is_silenced:
            self._report("comment on", issue, text)

    def close(self, issue: Issue, because: str) -> Issue:
        """Report that the issue would be closed."""
        return self._set_state("close", issue, because, is_open=False)

    def reopen(self, issue: Issue, because: str) -> Issue:
        """Report that the issue would be reopened."""
        return self._set_state("reopen", issue, because, is_open=True)

    def opened_since(self, moment: datetime) -> int:
        """See `Tracker`."""
        return self._tracker.opened_since(moment)

    def _set_state(self, verb: str, issue: Issue, because: str, *, is_open: bool) -> Issue:
        if issue.is_silenced or issue.is_open == is_open:
            return issue
        self._report(verb, issue, because)
        self._simulated[issue.fingerprint] = replace(issue, is_open=is_open)
        return self._simulated[issue.fingerprint]

    def _report(self, verb: str, issue: Issue, text: str = "") -> None:
        reason = f": {visible(text)}" if text else ""
        self.messages.append(f"would {verb} {visible(issue.number)}{reason}")
