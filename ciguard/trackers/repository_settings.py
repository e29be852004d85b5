"""Settings of a repository on GitHub that decide whether ciguard works there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ciguard.trackers.connection import Connection
    from ciguard.trackers.repository_state import BranchRules, RepositoryRunner, RepositoryState
    from ciguard.trackers.retry_budget import RetryBudget


class RepositorySettings(Protocol):
    """The settings of one repository. All methods raise TrackerError if a request fails."""

    def state(self) -> RepositoryState:
        """Return the settings that decide whether runs can write."""

    def rules(self, branch: str) -> BranchRules:
        """Return the active rules of a branch."""

    def workflow_states(self) -> dict[str, str]:
        """Return the state of each workflow, `active` or why it is disabled, by its file's path."""

    def runners(self) -> list[RepositoryRunner]:
        """Return the runners of the repository itself, without those of its organisation."""

    def has_label(self, name: str) -> bool:
        """Return whether the repository has a label of that name."""


def settings_of(to: Connection, *, retry_budget: RetryBudget) -> RepositorySettings:
    """Return the settings of a repository, which are fetched on demand."""
    from ciguard.trackers.github_settings import GitHubSettings

    return GitHubSettings(to, retry_budget)
