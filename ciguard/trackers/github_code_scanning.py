"""Code scanning on GitHub: one SARIF log per commit, which replaces the previous one."""

from __future__ import annotations

import base64
import gzip
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from github import GithubException

from ciguard.domain.text import visible
from ciguard.errors import TrackerForbiddenError
from ciguard.trackers.github_client import GitHubClient

if TYPE_CHECKING:
    from ciguard.trackers.connection import Connection
    from ciguard.trackers.publication import Analysis
    from ciguard.trackers.retry_budget import RetryBudget

_DISABLED_WORD = "enabled"
"""Word in all of GitHub's messages about the disabled feature, such as 'Advanced Security must be
enabled' and 'Code scanning is not enabled'."""


class CodeScanning:
    """The code-scanning analyses of one repository."""

    def __init__(self, connection: Connection, retry_budget: RetryBudget) -> None:
        self._client = GitHubClient(connection, retry_budget, needs="security-events: write")
        self._repository = connection.repository

    def upload(self, analysis: Analysis) -> str:
        """Upload a SARIF log; return a sentence about what was done.

        Repeating an upload changes nothing.

        Raises:
            TrackerForbiddenError: if the token lacks the permission, or code scanning is off.
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        compressed = gzip.compress(analysis.sarif.encode(), mtime=0)
        body = {
            "commit_sha": analysis.sha,
            "ref": analysis.ref,
            "sarif": base64.b64encode(compressed).decode("ascii"),
            "tool_name": "ciguard",
        }
        self._client.retry(lambda: self._send(body))
        return f"code scanning: {analysis.ref} at {analysis.sha[:12]} uploaded"

    def _send(self, body: dict[str, Any]) -> None:
        repository = self._client.repository
        try:
            repository.requester.requestJsonAndCheck(
                "POST", f"{repository.url}/code-scanning/sarifs", input=body
            )
        except GithubException as refusal:
            reason = _reason(refusal)
            if refusal.status != HTTPStatus.FORBIDDEN or _DISABLED_WORD not in reason:
                raise
            msg = (
                f"{self._repository}: code scanning is disabled ({reason}). Enable code "
                "scanning in the settings of the repository, or remove `sarif`. A "
                "private repository needs GitHub Code Security (Advanced Security)."
            )
            raise TrackerForbiddenError(msg) from None


def _reason(refusal: GithubException) -> str:
    body: Any = refusal.data
    return visible(str(body.get("message", "")), limit=300) if isinstance(body, dict) else ""
