"""What the text of an issue says beside the bucket itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.project import CiguardProject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.findings import Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueRow:
    """What an issue says of one member of a group."""

    bucket: Bucket
    script: str = ""
    """The standalone reproducer."""
    first_seen: str = ""
    standing: str = ""
    """`fixed` or `accepted`; empty while it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is known beside the bucket itself."""

    script: str = ""
    """The standalone reproducer."""
    run_page: str = ""
    """Address of the workflow's run that found it; empty where there is none."""
    repository_page: str = ""
    """Address of the repository whose checkout was tested; empty where it is unknown."""
    project: CiguardProject = field(default_factory=CiguardProject)
    """Where this copy of ciguard comes from."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Library version by target."""
    commit: str = ""
    first_seen: str = ""
    is_regression: bool = False
    name: str = ""
    """Name of the group; empty where it is the bucket's fingerprint."""
    aliases: tuple[str, ...] = ()
    """Other names under which the group's issue may have been filed."""
    rows: tuple[IssueRow, ...] = ()
    """Every member of the group, the one that is shown first; none where it is the only one."""
    split_from: tuple[str, ...] = ()
    """Numbers of the issues that the group was part of so far."""

    @property
    def apis(self) -> int:
        """How many functions show the cause."""
        return len({row.bucket.finding.api for row in self.rows})
