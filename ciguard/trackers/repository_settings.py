"""Settings of a repository on GitHub that ciguard needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ciguard.trackers.connection import Connection
    from ciguard.trackers.repository_state import BranchRules, RepositoryRunner, RepositoryState
    from ciguard.trackers.retry_budget import RetryBudget


class RepositorySettings(Protocol):
    """The settings of one repository. All methods raise a TrackerError if a request fails."""

    def state(self) -> RepositoryState:
        """Return the general settings of the repository."""

    def rules(self, branch: str) -> BranchRules:
        """Return the active rules of a branch."""

    def workflow_states(self) -> dict[str, str]:
        """Return the state of each workflow by the path of its file.

        The state is `active`, or names the reason why the workflow is disabled.
        """

    def runners(self) -> list[RepositoryRunner]:
        """Return the self-hosted runners of the repository, without runners of its organisation."""

    def has_label(self, name: str) -> bool:
        """Return whether the repository has a label of that name."""


def settings_of(connection: Connection, *, retry_budget: RetryBudget) -> RepositorySettings:
    """Return the settings of a repository; each setting is fetched when it is read."""
    from ciguard.trackers.github_settings import GitHubSettings

    return GitHubSettings(connection, retry_budget)
