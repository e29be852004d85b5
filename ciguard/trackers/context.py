"""The context of an issue's text: all data that the bucket itself does not contain."""

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
    """Time in UTC when the bucket was first seen, as in the baseline; empty if unknown."""
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
    """Repository and release of the installed ciguard."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Library version by target."""
    commit: str = ""
    """Commit at which the group was first seen; empty if unknown."""
    first_seen: str = ""
    """Time in UTC when the group was first seen, as in the baseline; empty if unknown."""
    is_regression: bool = False
    """True if the group was fixed and has returned."""
    name: str = ""
    """Name of the group; empty if it is the bucket's fingerprint."""
    aliases: tuple[str, ...] = ()
    """Other names under which the group's issue may have been filed."""
    rows: tuple[IssueRow, ...] = ()
    """Rows of all members, the shown member first; empty for a group with a single member."""
    split_from: tuple[str, ...] = ()
    """Numbers of issues to which members belonged before their cause was known better."""

    @property
    def apis(self) -> int:
        """Number of APIs that show the cause."""
        return len({row.bucket.finding.api for row in self.rows})
