"""Code scanning on GitHub: one SARIF log per commit, in place of the one before."""

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
    from ciguard.trackers.patience import Patience
    from ciguard.trackers.shown import Analysis

_OFF = "enabled"
"""In every message by which GitHub refuses for want of the feature, whatever it is called then:
'Advanced Security must be enabled', 'Code scanning is not enabled'."""


class CodeScanning:
    """Analyses of one repository."""

    def __init__(self, to: Connection, patience: Patience) -> None:
        self._client = GitHubClient(to, patience, needs="security-events: write")
        self._repository = to.repository

    def upload(self, analysis: Analysis) -> str:
        """Upload a SARIF log; return what was done. An upload that is repeated changes nothing.

        Raises:
            TrackerForbiddenError: if the token may not, or the repository has no code scanning.
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        packed = gzip.compress(analysis.sarif.encode(), mtime=0)
        body = {
            "commit_sha": analysis.sha,
            "ref": analysis.ref,
            "sarif": base64.b64encode(packed).decode("ascii"),
            "tool_name": "ciguard",
        }
        self._client.repeat(lambda: self._send(body))
        return f"code scanning: {analysis.ref} at {analysis.sha[:12]} uploaded"

    def _send(self, body: dict[str, Any]) -> None:
        repository = self._client.repository
        try:
            repository.requester.requestJsonAndCheck(
                "POST", f"{repository.url}/code-scanning/sarifs", input=body
            )
        except GithubException as refusal:
            reason = _reason(refusal)
            if refusal.status != HTTPStatus.FORBIDDEN or _OFF not in reason:
                raise
            msg = (
                f"{self._repository}: code scanning is off. Enable it in the settings of the "
                "repository; a private one needs GitHub Code Security (Advanced Security). "
                f"Or leave `sarif` out. ({reason})"
            )
            raise TrackerForbiddenError(msg) from None


def _reason(refusal: GithubException) -> str:
    body: Any = refusal.data
    return visible(str(body.get("message", "")), limit=300) if isinstance(body, dict) else ""
