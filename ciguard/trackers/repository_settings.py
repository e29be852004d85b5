"""Settings of a repository on GitHub that decide whether ciguard works there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ciguard.trackers.connection import Connection
    from ciguard.trackers.patience import Patience
    from ciguard.trackers.repository_state import BranchRules, RepositoryRunner, RepositoryState


class RepositorySettings(Protocol):
    """Asks one repository. Every method raises TrackerError where GitHub refuses or is away."""

    def state(self) -> RepositoryState:
        """Return what decides whether runs can write."""

    def rules(self, branch: str) -> BranchRules:
        """Return the rules for a branch."""

    def workflow_states(self) -> dict[str, str]:
        """Return `active` or how it is disabled, by the path of a workflow's file."""

    def runners(self) -> list[RepositoryRunner]:
        """Return the runners of the repository's own; those of its organisation are not listed."""

    def has_label(self, name: str) -> bool:
        """Return whether the label exists that issues are found by."""


def settings_of(to: Connection, *, patience: Patience) -> RepositorySettings:
    """Return what asks for the settings of a repository. Nothing is asked yet."""
    from ciguard.trackers.github_settings import GitHubSettings

    return GitHubSettings(to, patience)
