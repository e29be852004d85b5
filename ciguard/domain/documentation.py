"""Findings about documentation: statements about an API that cannot be right.

They come from static analysis: without a case, an outcome or anything to reproduce. They form no
buckets and never decide a check.
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
    """Kind of defect in a documentation."""

    FORMATTING = "formatting"
    """Unbalanced backquotes or brackets, or an item of the parameter section without a colon."""
    UNDECLARED = "stranger"
    """The parameter section describes a parameter that the signature does not declare."""
    UNDESCRIBED = "undescribed"
    """The parameter section does not describe a parameter of the signature."""
    DANGLING = "dangling"
    """A description refers to a parameter that does not exist."""
    CONTRADICTION = "contradiction"
    """Two of description, signature and operator definition disagree."""


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
    """The words of the documentation that show the defect."""

    @property
    def severity(self) -> Severity:
        """Always low: the library computes correctly, only a reader is misled."""
        return Severity.LOW

    @property
    def fingerprint(self) -> str:
        """`d1:` and 16 hex digits, independent of wording, order and version."""
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
