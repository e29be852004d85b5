"""The settings of a GitHub repository, as far as the token can read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from github import UnknownObjectException

from ciguard.trackers.github_client import GitHubClient
from ciguard.trackers.repository_state import BranchRules, RepositoryRunner, RepositoryState

if TYPE_CHECKING:
    from ciguard.trackers.connection import Connection
    from ciguard.trackers.retry_budget import RetryBudget


class GitHubSettings:
    """See `RepositorySettings`."""

    def __init__(self, connection: Connection, retry_budget: RetryBudget) -> None:
        self._client = GitHubClient(connection, retry_budget, needs="metadata: read")
        self._path = f"/repos/{connection.repository}"

    def state(self) -> RepositoryState:
        """See `RepositorySettings`."""
        repository: dict[str, Any] = self._get(self._path)
        return RepositoryState(
            default_branch=str(repository["default_branch"]),
            is_archived=bool(repository["archived"]),
            is_fork=bool(repository["fork"]),
            has_issues=bool(repository["has_issues"]),
            may_push=(repository.get("permissions") or {}).get("push"),
        )

    def rules(self, branch: str) -> BranchRules:
        """See `RepositorySettings`."""
        rules: list[dict[str, Any]] = self._get(
            f"{self._path}/rules/branches/{quote(branch, safe='')}"
        )
        parameters = [
            rule.get("parameters") or {}
            for rule in rules
            if rule["type"] == "required_status_checks"
        ]
        return BranchRules(
            kinds=frozenset(str(rule["type"]) for rule in rules),
            required_checks=tuple(
                str(check["context"])
                for parameter in parameters
                for check in parameter["required_status_checks"]
            ),
        )

    def workflow_states(self) -> dict[str, str]:
        """See `RepositorySettings`."""
        listed = self._client.retry(lambda: list(self._client.repository.get_workflows()))
        return {workflow.path: workflow.state for workflow in listed}

    def runners(self) -> list[RepositoryRunner]:
        """See `RepositorySettings`."""
        repository = self._client.repository
        listed = self._client.retry(lambda: list(repository.get_self_hosted_runners()))
        return [
            RepositoryRunner(
                labels=frozenset(str(label["name"]).casefold() for label in runner.labels),
                is_online=runner.status == "online",
            )
            for runner in listed
        ]

    def has_label(self, name: str) -> bool:
        """See `RepositorySettings`."""

        def request() -> bool:
            try:
                self._client.repository.get_label(name).complete()
            except UnknownObjectException:
                return False
            return True

        return self._client.retry(request)

    def _get(self, path: str) -> Any:
        requester = self._client.repository.requester
        return self._client.retry(lambda: requester.requestJsonAndCheck("GET", path)[1])
