"""Findings about documentation: what a library says of its API that cannot be right.

They come from reading, not from running: there is no case, no outcome and nothing to reproduce, so
they are no buckets and never decide a check.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.domain.findings import Severity

if TYPE_CHECKING:
    from ciguard.domain.values import Json

DOCUMENTATION_SCHEMA = 1
_DIGITS = 16


class DocumentationCheck(StrEnum):
    """What is wrong with a documentation."""

    FORMATTING = "formatting"
    """Backquotes or brackets without their other half; an item of the section without its colon."""
    STRANGER = "stranger"
    """The parameter section describes what the signature lacks."""
    UNDESCRIBED = "undescribed"
    """There is a parameter section, and it says nothing of this parameter."""
    DANGLING = "dangling"
    """A description refers to a parameter that does not exist."""
    CONTRADICTION = "contradiction"
    """Two sources say different things: description, signature, operator definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentationFinding:
    """One thing that is wrong with the documentation of an API."""

    check: DocumentationCheck
    library: str
    api: str
    parameter: str
    message: str
    """One line for a person. Holds text of the library: escape where it is shown."""
    evidence: str
    """The words that prove it."""

    @property
    def severity(self) -> Severity:
        """Always low: nothing computes wrongly, somebody reads wrongly."""
        return Severity.LOW

    @property
    def fingerprint(self) -> str:
        """Return a name that stays when wording, order or version change: `d1:` and hex digits."""
        named = f"{self.check.value}\n{self.library}\n{self.api}\n{self.parameter}"
        return f"d1:{hashlib.sha256(named.encode('utf-8', 'replace')).hexdigest()[:_DIGITS]}"


def documentation_to_json(finding: DocumentationFinding) -> dict[str, Json]:
    """Return the JSON form of a finding, one line of `documentation.jsonl`."""
    return {
        "schema": DOCUMENTATION_SCHEMA,
        "fingerprint": finding.fingerprint,
        "kind": "documentation",
        "check": finding.check.value,
        "severity": finding.severity.label,
        "library": finding.library,
        "api": finding.api,
        "parameter": finding.parameter,
        "message": finding.message,
        "evidence": finding.evidence,
    }
