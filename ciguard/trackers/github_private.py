"""Private places on GitHub for security-relevant crashes: a repository, or draft advisories."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ciguard.errors import TrackerError, TrackerUnavailableError
from ciguard.trackers.contract import marked_with
from ciguard.trackers.disclosure import Disclosed
from ciguard.trackers.github import GitHubTracker
from ciguard.trackers.github_client import GitHubClient

if TYPE_CHECKING:
    from github.RepositoryAdvisory import RepositoryAdvisory as Advisory

    from ciguard.trackers.connection import Connection, Terms
    from ciguard.trackers.contract import Report
    from ciguard.trackers.disclosure import SecurityCrash
    from ciguard.trackers.patience import Patience

_NEEDS = (
    "repository security advisories: write, which the token of a workflow cannot have; put another "
    "token into CIGUARD_SECURITY_TOKEN"
)
_MAX_LISTED = 1_000
_MAX_SUMMARY = 1_024
_MAX_LOOKS = 5


class PrivateRepository:
    """Issues of a repository that only its members can read."""

    def __init__(self, to: Connection, *, terms: Terms, patience: Patience) -> None:
        """Connect on the first request; see `GitHubTracker`."""
        self._name = to.repository
        self._client = GitHubClient(to, patience)
        self._issues = GitHubTracker(to, terms=terms, patience=patience)
        self._is_private = False

    def disclose(self, crash: SecurityCrash, *, creates: bool) -> Disclosed | None:
        """File an issue; where the crash has one, its text is brought up to date.

        Raises:
            TrackerError: if others can read the repository, or GitHub refuses or does not answer.
        """
        self._require_private()
        is_known = self._issues.find(*crash.report.names) is not None
        if not is_known and not creates:
            return None
        issue = self._issues.open(crash.report)
        return Disclosed(f"{self._name}#{issue.number}", is_new=not is_known)

    def _require_private(self) -> None:
        if self._is_private:
            return
        self._is_private = self._client.repeat(lambda: self._client.repository.private)
        if not self._is_private:
            msg = (
                f"issues-security = 'github:{self._name}': the repository is public, so nothing "
                "was filed there. Name a private repository, or make this one private."
            )
            raise TrackerError(msg)


class Advisories:
    """Draft security advisories of the repository that builds the library.

    Two jobs may file at once: each lists before it creates and again afterwards, the oldest draft
    stays, and the others are closed and lose their marker.
    """

    def __init__(self, to: Connection, *, patience: Patience) -> None:
        """Connect on the first request.

        Args:
            to: the repository and the token.
            patience: how long all requests together may take.
        """
        self._client = GitHubClient(to, patience, needs=_NEEDS)

    def disclose(self, crash: SecurityCrash, *, creates: bool) -> Disclosed | None:
        """Draft an advisory; where the crash has a draft, its text is brought up to date.

        One that a person has published or closed is left as it is.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        stays = self._settled(crash.report)
        if stays is None:
            return Disclosed(self._created(crash).ghsa_id, is_new=True) if creates else None
        self._update(stays, crash.report.body)
        return Disclosed(stays.ghsa_id, is_new=False)

    def _update(self, advisory: Advisory, body: str) -> None:
        # Its own marker stays: a draft with that of a decided advisory would be its duplicate.
        text = "\n".join([*_lines(advisory.description)[:1], *_lines(body)[1:]])
        if advisory.state == "draft" and _lines(advisory.description) != _lines(text):
            self._client.repeat(lambda: advisory.edit(description=text))

    def _created(self, crash: SecurityCrash) -> Advisory:
        self._client.create(
            lambda: self._post(crash),
            lambda: self._settled(crash.report),
            what=crash.report.fingerprint,
        )
        for look in range(_MAX_LOOKS):
            stays = self._settled(crash.report)
            if stays is not None:
                return stays
            self._client.wait(2.0**look, because="a new advisory is not listed yet")
        msg = f"{crash.report.fingerprint}: GitHub does not show the advisory that was drafted"
        raise TrackerUnavailableError(msg)

    def _post(self, crash: SecurityCrash) -> Advisory | None:
        """Send the request; PyGithub's own method insists on a severity, which a person rates."""
        affected: dict[str, Any] = {
            "package": {"ecosystem": "pip", "name": crash.package},
            "vulnerable_functions": list(crash.apis),
        }
        ranges = [{"vulnerable_version_range": f"= {version}"} for version in crash.versions]
        body: dict[str, Any] = {
            "summary": crash.report.title[:_MAX_SUMMARY],
            "description": crash.report.body,
            "vulnerabilities": [affected | extra for extra in ranges or [{}]],
        }
        url = f"{self._client.repository.url}/security-advisories"
        self._client.repository.requester.requestJsonAndCheck("POST", url, input=body)
        return None

    def _settled(self, report: Report) -> Advisory | None:
        """Return the one advisory of a crash, after closing what two jobs drafted for one name.

        A draft comes before what a person has published or closed: that may have been about one
        of several crashes which have turned out to have one cause.
        """
        listed = [advisory for advisory in self._ours() if _mark(advisory) in report.names]
        first: dict[str, Advisory] = {}
        for advisory in sorted(listed, key=lambda a: a.state == "draft"):
            stays = first.setdefault(_mark(advisory), advisory)
            if stays is not advisory and advisory.state == "draft":
                self._close_as_duplicate(advisory, of=stays)
        kept = sorted(first.values(), key=lambda a: (a.state != "draft", a.created_at, a.ghsa_id))
        return next(iter(kept), None)

    def _close_as_duplicate(self, other: Advisory, *, of: Advisory) -> None:
        text = f"Duplicate of {of.ghsa_id}: two jobs filed at once."
        self._client.repeat(lambda: other.edit(description=text, state="closed"))

    def _ours(self) -> list[Advisory]:
        """Return the advisories that people with access wrote, the oldest first.

        Anybody may submit one to a repository: such a submission proves nothing.
        """
        listed = self._client.repeat(
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
