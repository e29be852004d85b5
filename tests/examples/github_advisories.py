"""Repository security advisories as GitHub keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from github_repository import NAME, RefusedError, shown_user, stamp

if TYPE_CHECKING:
    from github_repository import Clock, Json

_EMPTY = (
    *("cve_id", "publisher", "published_at", "closed_at", "withdrawn_at", "cvss", "cwes"),
    *("cwe_ids", "credits", "credits_detailed", "collaborating_users", "collaborating_teams"),
    "private_fork",
)


class AdvisoryStore:
    """The advisories of one repository, and who may see and write them."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.advisories: list[Json] = []
        self.may_write = True
        """Of administrators and security managers; a workflow's own token never may."""

    def listed(self, base: str) -> list[Json]:
        """Return what the token may see, the latest first."""
        visible = [a for a in self.advisories if self.may_write or a["state"] == "published"]
        latest = stamp(self.clock.now())
        return [{**a, "url": self._url(a, base)} for a in visible if a["created_at"] <= latest][
            ::-1
        ]

    def create(self, body: Json, base: str) -> Json:
        self._require()
        advisory = self._stored(body, "draft", submission=None)
        return {**advisory, "url": self._url(advisory, base)}

    def submit(self, body: Json) -> Json:
        """Submit an advisory as anybody may where private reporting is enabled."""
        return self._stored(body, "triage", submission={"accepted": False})

    def edit(self, ghsa_id: str, body: Json, base: str) -> Json:
        self._require()
        for advisory in self.advisories:
            if advisory["ghsa_id"] == ghsa_id:
                advisory |= {**body, "updated_at": stamp(self.clock.now())}
                return {**advisory, "url": self._url(advisory, base)}
        raise RefusedError(404, "Not Found")

    def _stored(self, body: Json, state: str, *, submission: Json | None) -> Json:
        number = len(self.advisories)
        ghsa_id = f"GHSA-2222-3333-{number:04}"
        moment = stamp(self.clock.now())
        vulnerabilities = [
            {
                "vulnerable_version_range": None,
                "patched_versions": None,
                "vulnerable_functions": None,
                **item,
            }
            for item in body["vulnerabilities"]
        ]
        advisory: Json = {
            **dict.fromkeys(_EMPTY),
            "ghsa_id": ghsa_id,
            "html_url": f"https://github.com/{NAME}/security/advisories/{ghsa_id}",
            "summary": body["summary"],
            "description": body["description"],
            "severity": body.get("severity"),
            "author": shown_user("octocat"),
            "identifiers": [{"type": "GHSA", "value": ghsa_id}],
            "state": state,
            "created_at": moment,
            "updated_at": moment,
            "submission": submission,
            "vulnerabilities": vulnerabilities,
        }
        self.advisories.append(advisory)
        return advisory

    def _url(self, advisory: Json, base: str) -> str:
        return f"{base}/repos/{NAME}/security-advisories/{advisory['ghsa_id']}"

    def _require(self) -> None:
        if not self.may_write:
            raise RefusedError(403, "Resource not accessible by integration")
