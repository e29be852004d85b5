"""Private places on GitHub for security-relevant crashes: a repository or draft advisories."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ciguard.errors import TrackerError, TrackerUnavailableError
from ciguard.trackers.contract import marked_with
from ciguard.trackers.disclosure import PrivateReport
from ciguard.trackers.github import GitHubTracker
from ciguard.trackers.github_client import GitHubClient

if TYPE_CHECKING:
    from github.RepositoryAdvisory import RepositoryAdvisory as Advisory

    from ciguard.trackers.connection import Connection, IssueDefaults
    from ciguard.trackers.contract import Report
    from ciguard.trackers.disclosure import SecurityCrash
    from ciguard.trackers.retry_budget import RetryBudget

_NEEDS = (
    "repository security advisories: write, which the token of a workflow cannot have; set another "
    "token in CIGUARD_SECURITY_TOKEN"
)
_MAX_LISTED = 1_000
_MAX_SUMMARY_LENGTH = 1_024
_MAX_LISTINGS = 5


class PrivateRepository:
    """The issues of a private repository."""

    def __init__(
        self, connection: Connection, *, defaults: IssueDefaults, retry_budget: RetryBudget
    ) -> None:
        """Connect on the first request; see `GitHubTracker`."""
        self._name = connection.repository
        self._client = GitHubClient(connection, retry_budget)
        self._issues = GitHubTracker(connection, defaults=defaults, retry_budget=retry_budget)
        self._is_private = False

    def disclose(self, crash: SecurityCrash, *, may_create: bool) -> PrivateReport | None:
        """File an issue, or update the text of the crash's issue.

        Raises:
            TrackerError: if the repository is public, or GitHub rejects the request or does not
                respond in time.
        """
        self._require_private()
        is_known = self._issues.find(*crash.report.names) is not None
        if not is_known and not may_create:
            return None
        issue = self._issues.open(crash.report)
        return PrivateReport(f"{self._name}#{issue.number}", is_new=not is_known)

    def _require_private(self) -> None:
        if self._is_private:
            return
        self._is_private = self._client.retry(lambda: self._client.repository.private)
        if not self._is_private:
            msg = (
                f"issues-security = 'github:{self._name}': nothing was filed, because the "
                "repository is public. Name a private repository."
            )
            raise TrackerError(msg)


class Advisories:
    """The draft security advisories of the repository that builds the library.

    Two jobs may file concurrently. Each job lists the drafts before and after it creates a draft.
    Of a crash's drafts, the oldest is kept; the others are closed, and lose their marker.
    """

    def __init__(self, connection: Connection, *, retry_budget: RetryBudget) -> None:
        """Connect on the first request.

        Args:
            connection: the repository and the token.
            retry_budget: the time limit of all requests together.
        """
        self._client = GitHubClient(connection, retry_budget, needs=_NEEDS)

    def disclose(self, crash: SecurityCrash, *, may_create: bool) -> PrivateReport | None:
        """Draft an advisory, or update the text of the crash's draft.

        A published or closed advisory stays unchanged.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        kept = self._deduplicate(crash.report)
        if kept is None:
            return PrivateReport(self._create(crash).ghsa_id, is_new=True) if may_create else None
        self._update(kept, crash.report.body)
        return PrivateReport(kept.ghsa_id, is_new=False)

    def _update(self, advisory: Advisory, body: str) -> None:
        # Keep the marker: with the marker of a published advisory, the draft would be a duplicate.
        text = "\n".join([*_lines(advisory.description)[:1], *_lines(body)[1:]])
        if advisory.state == "draft" and _lines(advisory.description) != _lines(text):
            self._client.retry(lambda: advisory.edit(description=text))

    def _create(self, crash: SecurityCrash) -> Advisory:
        self._client.create(
            lambda: self._post(crash),
            lambda: self._deduplicate(crash.report),
            name=crash.report.fingerprint,
        )
        for attempt in range(_MAX_LISTINGS):
            kept = self._deduplicate(crash.report)
            if kept is not None:
                return kept
            self._client.wait(2.0**attempt, because="GitHub does not list the new advisory yet")
        msg = (
            f"{crash.report.fingerprint}: GitHub does not list the new advisory. The next run "
            "will look for the advisory again."
        )
        raise TrackerUnavailableError(msg)

    def _post(self, crash: SecurityCrash) -> Advisory | None:
        """Send the request to create a draft; return None, since the listing returns the draft.

        PyGithub's own method requires a severity, which only a person can rate.
        """
        affected: dict[str, Any] = {
            "package": {"ecosystem": "pip", "name": crash.package},
            "vulnerable_functions": list(crash.apis),
        }
        ranges = [{"vulnerable_version_range": f"= {version}"} for version in crash.versions]
        body: dict[str, Any] = {
            "summary": crash.report.title[:_MAX_SUMMARY_LENGTH],
            "description": crash.report.body,
            "vulnerabilities": [affected | extra for extra in ranges or [{}]],
        }
        url = f"{self._client.repository.url}/security-advisories"
        self._client.repository.requester.requestJsonAndCheck("POST", url, input=body)
        return None

    def _deduplicate(self, report: Report) -> Advisory | None:
        """Return the advisory of a crash after closing duplicate drafts; None if there is none.

        A draft has precedence over a published or closed advisory, which may cover only one of
        several crashes with one cause.
        """
        listed = [advisory for advisory in self._ours() if _mark(advisory) in report.names]
        first: dict[str, Advisory] = {}
        for advisory in sorted(listed, key=lambda a: a.state == "draft"):
            kept = first.setdefault(_mark(advisory), advisory)
            if kept is not advisory and advisory.state == "draft":
                self._close_as_duplicate(advisory, of=kept)
        by_age = sorted(first.values(), key=lambda a: (a.state != "draft", a.created_at, a.ghsa_id))
        return next(iter(by_age), None)

    def _close_as_duplicate(self, other: Advisory, *, of: Advisory) -> None:
        text = f"Duplicate of {of.ghsa_id}: two jobs filed the crash at the same time."
        self._client.retry(lambda: other.edit(description=text, state="closed"))

    def _ours(self) -> list[Advisory]:
        """Return the advisories that users with write access created, the oldest first.

        Reports that other users submitted are ignored, since any user can submit one.
        """
        listed = self._client.retry(
            lambda: list(
                itertools.islice(self._client.repository.get_repository_advisories(), _MAX_LISTED)
            )
        )
        written = [a for a in listed if a.state != "triage" and not a.submission]
        return sorted(written, key=lambda advisory: (advisory.created_at, advisory.ghsa_id))


def _mark(advisory: Advisory) -> str:
    return marked_with(advisory.description or "")


def _lines(text: str | None) -> list[str]:
    return (text or "").replace("\r\n", "\n").strip().split("\n")
