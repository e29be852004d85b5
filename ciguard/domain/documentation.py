"""Findings about documentation: statements about an API that cannot be right, or that changed.

They come from static analysis, so they have no case or outcome and cannot be reproduced. They form
no buckets and never decide a check.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.domain.findings import Severity

if TYPE_CHECKING:
    from ciguard.domain.untrusted import Untrusted
    from ciguard.domain.values import Json

DOCUMENTATION_SCHEMA = 1
_DIGITS = 16


class DocumentationCheck(StrEnum):
    """Kind of defect in a library's documentation."""

    FORMATTING = "formatting"
    """Unbalanced backquotes or brackets, or an item of the parameter section without a colon."""
    UNDECLARED = "stranger"
    """The parameter section describes a parameter that the signature does not declare."""
    UNDESCRIBED = "undescribed"
    """The parameter section does not describe a parameter of the signature."""
    DANGLING = "dangling"
    """A description refers to a parameter that does not exist."""
    CONTRADICTION = "contradiction"
    """Two sources disagree: the description, the signature or the operator definition."""
    CHANGED_ALONE = "changed-alone"
    """The head documents another behaviour than the base, and no call behaved differently."""
    REMOVED = "removed"
    """The head has no such API any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentationFinding:
    """One defect in the documentation of an API."""

    check: DocumentationCheck
    library: str
    api: str
    parameter: str
    message: str
    """The defect in one line. Holds text of the library: escape it for display."""
    evidence: str
    """Text of the documentation that shows the defect."""

    @property
    def severity(self) -> Severity:
        """Always low: the documentation misleads readers, but the library computes correctly."""
        return Severity.LOW

    @property
    def fingerprint(self) -> str:
        """`d1:` and 16 hex digits, independent of the wording and of the library's version."""
        identity = f"{self.check.value}\n{self.library}\n{self.api}\n{self.parameter}"
        return f"d1:{hashlib.sha256(identity.encode('utf-8', 'replace')).hexdigest()[:_DIGITS]}"


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


def documentation_from_json(reader: Untrusted) -> DocumentationFinding:
    """Return the finding in an untrusted line of `documentation.jsonl`.

    Raises:
        ValueError: if the line is malformed.
    """
    return DocumentationFinding(
        check=DocumentationCheck(reader.value("check", str)),
        library=reader.value("library", str),
        api=reader.value("api", str),
        parameter=reader.value("parameter", str),
        message=reader.value("message", str),
        evidence=reader.value("evidence", str),
    )
