"""What GitHub says of a repository's settings, as far as the token may read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from github import UnknownObjectException

from ciguard.trackers.github_client import GitHubClient
from ciguard.trackers.repository_state import BranchRules, RepositoryRunner, RepositoryState

if TYPE_CHECKING:
    from ciguard.trackers.connection import Connection
    from ciguard.trackers.patience import Patience


class GitHubSettings:
    """See `RepositorySettings`."""

    def __init__(self, to: Connection, patience: Patience) -> None:
        self._client = GitHubClient(to, patience, needs="metadata: read")
        self._path = f"/repos/{to.repository}"

    def state(self) -> RepositoryState:
        """Return what decides whether runs can write."""
        answered: dict[str, Any] = self._get(self._path)
        return RepositoryState(
            default_branch=str(answered["default_branch"]),
            is_archived=bool(answered["archived"]),
            is_fork=bool(answered["fork"]),
            has_issues=bool(answered["has_issues"]),
            may_push=(answered.get("permissions") or {}).get("push"),
        )

    def rules(self, branch: str) -> BranchRules:
        """Return the rules for a branch."""
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
                for each in parameters
                for check in each["required_status_checks"]
            ),
        )

    def workflow_states(self) -> dict[str, str]:
        """Return `active` or how it is disabled, by the path of a workflow's file."""
        listed = self._client.repeat(lambda: list(self._client.repository.get_workflows()))
        return {workflow.path: workflow.state for workflow in listed}

    def runners(self) -> list[RepositoryRunner]:
        """Return the runners of the repository's own; those of its organisation are not listed."""
        repository = self._client.repository
        listed = self._client.repeat(lambda: list(repository.get_self_hosted_runners()))
        return [
            RepositoryRunner(
                labels=frozenset(str(label["name"]).casefold() for label in runner.labels),
                is_online=runner.status == "online",
            )
            for runner in listed
        ]

    def has_label(self, name: str) -> bool:
        """Return whether a label exists."""

        def ask() -> bool:
            try:
                self._client.repository.get_label(name).complete()
            except UnknownObjectException:
                return False
            return True

        return self._client.repeat(ask)

    def _get(self, path: str) -> Any:
        requester = self._client.repository.requester
        return self._client.repeat(lambda: requester.requestJsonAndCheck("GET", path)[1])
