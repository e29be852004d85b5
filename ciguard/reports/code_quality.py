"""`gl-code-quality-report.json`: the report for GitLab's code quality widget in merge requests.

GitLab compares the reports of the source and target branches by fingerprint. The file also has
known buckets, since GitLab would show a missing bucket as fixed.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from ciguard.domain.events import RunFinished, RunStarted
from ciguard.domain.findings import Comparison, Severity
from ciguard.domain.policy import Action, class_of
from ciguard.reports.entries import entries
from ciguard.reports.files import write_atomically
from ciguard.reports.places import places_of
from ciguard.reports.wording import publishable, short_fingerprint, state

if TYPE_CHECKING:
    from ciguard.domain.events import Event
    from ciguard.domain.plan import Plan
    from ciguard.domain.values import Json
    from ciguard.reports.contract import Destination
    from ciguard.reports.entries import Entry
    from ciguard.reports.places import Places

FILE = "gl-code-quality-report.json"
MAX_ISSUES = 5_000
"""Maximum number of entries in the file; the least severe ones are omitted."""
_MAX_DESCRIPTION = 300
_SHOWN = frozenset({Comparison.NEW, Comparison.KNOWN, Comparison.ACCEPTED, Comparison.NOT_RUN})
_SEVERITIES = {
    Severity.INFO: "info",
    Severity.LOW: "minor",
    Severity.MEDIUM: "major",
    Severity.HIGH: "critical",
    Severity.CRITICAL: "blocker",
}


class CodeQualityReporter:
    """Writes buckets as issues at lines of the user's sources, except fixed and flaky ones."""

    def __init__(self, destination: Destination) -> None:
        self._destination = destination
        self._plan: Plan | None = None

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        if isinstance(event, RunStarted):
            self._plan = event.plan
        if isinstance(event, RunFinished):
            places = places_of(event, self._plan, self._destination.sources)
            shown = entries(bucket for bucket in event.buckets if bucket.comparison in _SHOWN)
            issues = [self._issue(entry, places) for entry in shown[:MAX_ISSUES]]
            write_atomically(self._destination.folder / FILE, json.dumps(issues, indent=1) + "\n")

    def close(self) -> None:
        """See `Reporter`."""

    def _issue(self, entry: Entry, places: Places) -> Json:
        bucket = entry.most_severe
        finding = bucket.finding
        place = places.locate(bucket)[0]
        action = self._destination.policy.action
        fails = any(action(member.finding) is Action.FAIL for member in entry.buckets)
        note = "" if fails else ", does not fail the check"
        also = f"; {entry.others_text}" if entry.others_text else ""
        text = (
            f"{state(bucket)}{note}: {finding.message} "
            f"[{short_fingerprint(bucket.fingerprint)}]{also}"
        )
        return {
            "description": publishable(text, limit=_MAX_DESCRIPTION),
            "check_name": f"ciguard.{class_of(finding).value}",
            "fingerprint": hashlib.sha256(entry.fingerprint.encode()).hexdigest(),
            "severity": _SEVERITIES[finding.severity],
            "location": {"path": place.path, "lines": {"begin": place.line}},
        }
