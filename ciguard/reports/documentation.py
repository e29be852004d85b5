"""`documentation.jsonl`: defects in the documentation of the tested libraries."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from ciguard.domain.documentation import DocumentationFinding, documentation_to_json
from ciguard.domain.events import DocumentationChecked, Event, RunFinished
from ciguard.reports.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.reports.contract import Destination

DOCUMENTATION_FILE = "documentation.jsonl"


class DocumentationReporter:
    """Writes one line per finding about documentation."""

    def __init__(self, destination: Destination) -> None:
        self._path = destination.folder / DOCUMENTATION_FILE
        self._findings: list[DocumentationFinding] = []

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        if isinstance(event, DocumentationChecked):
            self._findings += event.findings
        if isinstance(event, RunFinished):
            write_atomically(self._path, documentation_text(self._findings))

    def close(self) -> None:
        """See `Reporter`."""


def documentation_text(findings: Iterable[DocumentationFinding]) -> str:
    """Return findings as JSON Lines in ASCII."""
    return "".join(
        json.dumps(documentation_to_json(finding), sort_keys=True) + "\n" for finding in findings
    )


def documentation_counts(findings: Iterable[DocumentationFinding]) -> str:
    """Return the number of findings by check, the largest first: `12 undescribed, 3 dangling`."""
    counts = Counter(finding.check.value for finding in findings)
    return ", ".join(f"{count} {check}" for check, count in counts.most_common()) or "none"
