"""The context of an issue's text: everything besides the bucket itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.project import CiguardProject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.findings import Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueRow:
    """One member of a group, as a row of the issue's table."""

    bucket: Bucket
    script: str = ""
    """Text of the standalone reproducer; empty if there is none."""
    first_seen: str = ""
    """Time when the bucket was first seen; empty if unknown."""
    state: str = ""
    """State of the bucket: `fixed` or `accepted`; empty while it is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The context of an issue's text."""

    script: str = ""
    """Text of the standalone reproducer; empty if there is none."""
    run_page: str = ""
    """URL of the workflow run that found the bucket; empty if there is none."""
    repository_page: str = ""
    """URL of the tested repository; empty if it is unknown."""
    project: CiguardProject = field(default_factory=CiguardProject)
    """Repository and release of this copy of ciguard."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Library version by target."""
    commit: str = ""
    """Commit at which the group was first seen; empty if unknown."""
    first_seen: str = ""
    """Time when the group was first seen; empty if unknown."""
    is_regression: bool = False
    """True if the group had been fixed and is back."""
    name: str = ""
    """Name of the group; empty if it is the bucket's fingerprint."""
    aliases: tuple[str, ...] = ()
    """Other names under which the group's issue may have been filed."""
    rows: tuple[IssueRow, ...] = ()
    """Rows of all members, the shown one first; empty for a group of one."""
    split_from: tuple[str, ...] = ()
    """Numbers of the issues that the group was part of before."""

    @property
    def apis(self) -> int:
        """Number of APIs that show the cause."""
        return len({row.bucket.finding.api for row in self.rows})
