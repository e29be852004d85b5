"""What the text of an issue says beside the bucket itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.project import Project

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is known beside the bucket itself."""

    script: str = ""
    """The standalone reproducer."""
    run_page: str = ""
    """Address of the workflow's run that found it; empty where there is none."""
    repository_page: str = ""
    """Address of the repository whose checkout was tested; empty where it is unknown."""
    project: Project = field(default_factory=Project)
    """Where this copy of ciguard comes from."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Library version by target."""
    commit: str = ""
    first_seen: str = ""
    is_regression: bool = False
    aliases: tuple[str, ...] = ()
    """Older fingerprints of the bucket."""
