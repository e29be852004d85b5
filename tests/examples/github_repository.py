"""A repository as GitHub keeps it: labels, issues and comments, and a clock of its own."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

Json = dict[str, Any]
NAME = "owner/library"
OTHER_NAME = "owner/elsewhere"
"""Where issues are transferred to."""
OTHER_ID = 4_711


class Clock:
    """Time that passes when somebody waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._elapsed_s = 0.0

    def monotonic(self) -> float:
        return self._elapsed_s

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self._elapsed_s += seconds

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self._elapsed_s)


class WallClock(Clock):
    """What a process reads that knows of no other; waits move it on, too."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.monotonic())


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Stored:
    """An issue, and what it was before."""

    number: int
    created: datetime
    states: list[tuple[datetime, Json]] = field(default_factory=list)
    comments: list[Json] = field(default_factory=list)

    @property
    def latest(self) -> Json:
        return self.states[-1][1]

    def as_of(self, moment: datetime) -> Json | None:
        """Return what a replica knows that is up to date as of that moment."""
        return next((state for at, state in reversed(self.states) if at <= moment), None)


def shown_user(login: str) -> Json:
    url = f"https://api.github.com/users/{quote(login)}"
    links = (
        *("events", "followers", "following", "gists", "organizations"),
        *("received_events", "repos", "starred", "subscriptions"),
    )
    return {
        "login": login,
        "id": sum(map(ord, login)),
        "node_id": f"U_{login}",
        "type": "Bot" if login.endswith("[bot]") else "User",
        "site_admin": False,
        "gravatar_id": "",
        "url": url,
        "html_url": url,
        "avatar_url": url,
        **{f"{name}_url": f"{url}/{name}" for name in links},
    }


_LINKS = (
    *("archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits"),
    *("compare", "contents", "contributors", "deployments", "downloads", "events", "forks"),
    *("git_commits", "git_refs", "git_tags", "hooks", "issue_comment", "issue_events", "issues"),
    *("keys", "labels", "languages", "merges", "milestones", "notifications", "pulls", "releases"),
    *("stargazers", "statuses", "subscribers", "subscription", "tags", "teams", "trees"),
    *("clone", "git", "ssh", "svn"),
)
_COUNTS = (
    *("forks", "forks_count", "open_issues", "open_issues_count", "size", "stargazers_count"),
    *("watchers", "watchers_count", "network_count", "subscribers_count"),
)
_SWITCHES = (
    *("fork", "has_projects", "has_wiki", "has_pages", "has_discussions", "archived"),
    "disabled",
)


def shown_repository(name: str, base: str, *, private: bool, has_issues: bool = True) -> Json:
    owner, _, short = name.partition("/")
    url = f"{base}/repos/{name}"
    moment = "2026-01-01T00:00:00Z"
    return {
        "id": sum(map(ord, name)),
        "node_id": f"R_{short}",
        "name": short,
        "full_name": name,
        "owner": shown_user(owner),
        "private": private,
        "visibility": "private" if private else "public",
        "has_issues": has_issues,
        "default_branch": "main",
        "url": url,
        "html_url": f"https://github.com/{name}",
        **{f"{link}_url": f"{url}/{link}" for link in _LINKS},
        **dict.fromkeys(_COUNTS, 0),
        **dict.fromkeys(_SWITCHES, False),
        **dict.fromkeys(("created_at", "updated_at", "pushed_at"), moment),
        **dict.fromkeys(("description", "homepage", "language", "mirror_url", "license")),
    }


class RefusedError(Exception):
    """GitHub answers with an error."""

    def __init__(
        self, status: int, message: str, errors: tuple[Json, ...] = (), *, moved_to: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body: Json = {
            "message": message,
            "documentation_url": "https://docs.github.com/rest",
            "status": str(status),
            **({"errors": list(errors)} if errors else {}),
            **({"url": moved_to} if moved_to else {}),
        }


class GitHubRepository:
    """State and rules of one repository."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.issues: dict[int, Stored] = {}
        self.labels: dict[str, Json] = {}
        self.lag_s = 0.0
        """How old the replica is that answers listings."""
        self.users = {"octocat"}
        self.writer = "github-actions[bot]"
        """Whose token it is."""
        self.heads: dict[int, str] = {}
        """Of pull requests, by number."""
        self.has_issues = True
        self.may_write = True
        self.is_archived = False
        self.locked: set[int] = set()
        """Numbers of issues that only collaborators may comment on; a token of a job is none."""
        self.gone: set[int] = set()
        """Numbers of issues that were deleted since they were listed."""
        self.transferred: dict[int, int] = {}
        """Numbers that issues have in another repository, by the number that they had here."""
        self.converted: set[int] = set()
        """Numbers of issues that became discussions: closed, locked, and not to be reopened."""
        self.is_private = False
        self.drops_labels = False
        self._ids = 1000

    def list_issues(self, query: dict[str, str], base: str) -> list[Json]:
        as_of = self.clock.now() - timedelta(seconds=self.lag_s)
        wanted = set(filter(None, query.get("labels", "").split(",")))
        found = []
        for stored in self.issues.values():
            state = stored.as_of(as_of)
            if state is None or stored.number in self.gone or not wanted <= set(state["labels"]):
                continue
            if stored.number in self.transferred:
                continue
            if query.get("state", "open") not in {"all", state["state"]}:
                continue
            if query.get("creator", state["login"]) != state["login"]:
                continue
            if state["updated_at"] >= query.get("since", ""):
                found.append(self.shown(stored, state, base))
        key = "updated_at" if query.get("sort") == "updated" else "number"
        return sorted(found, key=lambda issue: issue[key], reverse=query.get("direction") != "asc")

    def get_issue(self, number: int, base: str) -> Json:
        stored = self._issue(number)
        if number in self.transferred:
            elsewhere = f"{base}/repositories/{OTHER_ID}/issues/{self.transferred[number]}"
            raise RefusedError(301, "Moved Permanently", moved_to=elsewhere)
        return self.shown(stored, stored.latest, base)

    def get_moved_issue(self, number: int, base: str) -> Json:
        """Return a transferred issue as the repository shows it that it is in now."""
        known = {there: here for here, there in self.transferred.items()}
        if number not in known:
            raise RefusedError(404, "Not Found")
        stored = self.issues[known[number]]
        url = f"{base}/repos/{OTHER_NAME}/issues/{number}"
        shown = self.shown(stored, stored.latest, base)
        html_url = f"https://github.com/{OTHER_NAME}/issues/{number}"
        return {**shown, "number": number, "url": url, "html_url": html_url}

    def convert_to_discussion(self, number: int) -> None:
        self.edit_issue(number, {"state": "closed", "state_reason": "completed"}, "")
        self.converted.add(number)
        self.locked.add(number)

    def rename_label(self, old: str, new: str) -> None:
        """Rename a label as its settings page does: issues do not count as updated by that."""
        del self.labels[old]
        self.labels[new] = self._label(new, "b60205")
        for stored in self.issues.values():
            for _, state in stored.states:
                state["labels"] = tuple(new if n == old else n for n in state["labels"])

    def delete_label(self, name: str) -> None:
        del self.labels[name]
        for stored in self.issues.values():
            for _, state in stored.states:
                state["labels"] = tuple(n for n in state["labels"] if n != name)

    def create_issue(self, body: Json, base: str, *, by: str = "") -> Json:
        """Create an issue; a stranger's has no labels, since only who may push can set one."""
        self._require_issues()
        self._require_write()
        unknown = [name for name in body.get("assignees", ()) if name not in self.users]
        if unknown:
            error = {"value": unknown[0], "resource": "Issue", "field": "assignees"}
            raise RefusedError(422, "Validation Failed", ({**error, "code": "invalid"},))
        if len(body.get("body", "")) > 65_536:
            error = {"resource": "Issue", "field": "body", "code": "custom"}
            raise RefusedError(422, "Validation Failed", ({**error, "message": "too long"},))
        stored = Stored(number=len(self.issues) + 1, created=self.clock.now())
        for name in body.get("labels", ()):
            self.labels.setdefault(name, self._label(name, "ededed"))
        drops_labels = self.drops_labels or by not in {"", self.writer}
        labels = () if drops_labels else tuple(body.get("labels", ()))
        state = {"title": body["title"], "body": body.get("body"), "labels": labels}
        state["login"] = by or self.writer
        self._store(
            stored,
            {
                **state,
                "assignees": body.get("assignees", []),
                "state": "open",
                "state_reason": None,
            },
        )
        self.issues[stored.number] = stored
        return self.shown(stored, stored.latest, base)

    def edit_issue(self, number: int, body: Json, base: str) -> Json:
        self._require_write()
        stored = self._issue(number)
        if number in self.transferred:
            raise RefusedError(404, "Not Found")
        if number in self.converted and body.get("state") == "open":
            raise RefusedError(422, "Validation Failed")
        changed: Json = {key: body[key] for key in ("title", "body", "labels") if key in body}
        if body.get("state", stored.latest["state"]) != stored.latest["state"]:
            changed |= {"state": body["state"], "state_reason": body.get("state_reason")}
        self._store(stored, {**stored.latest, **changed})
        return self.shown(stored, stored.latest, base)

    def list_comments(self, number: int, query: dict[str, str], base: str) -> list[Json]:
        comments = self._issue(number).comments
        return [
            self.shown_comment(number, comment, base)
            for comment in comments
            if stamp(comment["updated"]) >= query.get("since", "")
        ]

    def create_comment(self, number: int, body: Json, base: str) -> Json:
        self._require_write()
        stored = self._issue(number)
        if number in self.locked and self.writer.endswith("[bot]"):
            raise RefusedError(403, "Unable to create comment because issue is locked.")
        now = self.clock.now()
        comment = {
            "id": self._next_id(),
            "body": body["body"],
            "created": now,
            "updated": now,
            "login": self.writer,
        }
        stored.comments.append(comment)
        self._store(stored, dict(stored.latest))
        return self.shown_comment(number, comment, base)

    def edit_comment(self, identity: int, body: Json, base: str) -> Json:
        self._require_write()
        for number, stored in self.issues.items():
            for comment in stored.comments:
                if comment["id"] == identity:
                    comment |= {"body": body["body"], "updated": self.clock.now()}
                    return self.shown_comment(number, comment, base)
        raise RefusedError(404, "Not Found")

    def delete_comment(self, identity: int) -> None:
        self._require_write()
        for stored in self.issues.values():
            kept = [comment for comment in stored.comments if comment["id"] != identity]
            if len(kept) < len(stored.comments):
                stored.comments = kept
                return
        raise RefusedError(404, "Not Found")

    def pull_request_head(self, number: int, base: str) -> Json:
        if number not in self.heads:
            raise RefusedError(404, "Not Found")
        sha = self.heads[number]
        url = f"{base}/repos/{NAME}/git"
        return {
            "ref": f"refs/pull/{number}/head",
            "node_id": "R_1",
            "url": f"{url}/refs/pull/{number}/head",
            "object": {"type": "commit", "sha": sha, "url": f"{url}/commits/{sha}"},
        }

    def get_label(self, name: str) -> Json:
        if name not in self.labels:
            raise RefusedError(404, "Not Found")
        return self.labels[name]

    def create_label(self, body: Json) -> Json:
        self._require_write()
        if body["name"] in self.labels:
            error = {"resource": "Label", "field": "name", "code": "already_exists"}
            raise RefusedError(422, "Validation Failed", (error,))
        self.labels[body["name"]] = self._label(body["name"], body["color"])
        return self.labels[body["name"]]

    def shown(self, stored: Stored, state: Json, base: str) -> Json:
        url = f"{base}/repos/{NAME}/issues/{stored.number}"
        return {
            "id": stored.number,
            "node_id": f"I_{stored.number}",
            "url": url,
            "repository_url": f"{base}/repos/{NAME}",
            "labels_url": f"{url}/labels{{/name}}",
            "comments_url": f"{url}/comments",
            "events_url": f"{url}/events",
            "html_url": f"https://github.com/{NAME}/issues/{stored.number}",
            "number": stored.number,
            "state": state["state"],
            "state_reason": state["state_reason"],
            "title": state["title"],
            "body": state["body"],
            "user": shown_user(state["login"]),
            "labels": [self.labels.get(n, self._label(n, "ededed")) for n in state["labels"]],
            "assignee": None,
            "assignees": [],
            "milestone": None,
            "locked": stored.number in self.locked,
            "comments": len(stored.comments),
            "closed_at": None,
            "created_at": stamp(stored.created),
            "updated_at": state["updated_at"],
        }

    def shown_comment(self, number: int, comment: Json, base: str) -> Json:
        return {
            "id": comment["id"],
            "node_id": f"C_{comment['id']}",
            "url": f"{base}/repos/{NAME}/issues/comments/{comment['id']}",
            "html_url": f"https://github.com/{NAME}/issues/{number}#{comment['id']}",
            "issue_url": f"{base}/repos/{NAME}/issues/{number}",
            "body": comment["body"],
            "user": shown_user(comment["login"]),
            "created_at": stamp(comment["created"]),
            "updated_at": stamp(comment["updated"]),
        }

    def _store(self, stored: Stored, state: Json) -> None:
        now = self.clock.now()
        stored.states.append((now, {**state, "updated_at": stamp(now)}))

    def _issue(self, number: int) -> Stored:
        self._require_issues()
        if number not in self.issues:
            raise RefusedError(404, "Not Found")
        if number in self.gone:
            raise RefusedError(410, "This issue was deleted")
        return self.issues[number]

    def shown_repository(self, base: str) -> Json:
        return shown_repository(NAME, base, private=self.is_private, has_issues=self.has_issues)

    def _require_issues(self) -> None:
        if not self.has_issues:
            raise RefusedError(410, "Issues has been disabled in this repository.")

    def _require_write(self) -> None:
        if self.is_archived:
            raise RefusedError(403, "Repository was archived so is read-only.")
        if not self.may_write:
            raise RefusedError(403, "Resource not accessible by integration")

    def _label(self, name: str, color: str) -> Json:
        return {
            "id": sum(map(ord, name)),
            "node_id": f"L_{name}",
            "url": f"https://api.github.com/repos/{NAME}/labels/{quote(name)}",
            "name": name,
            "description": None,
            "color": color,
            "default": False,
        }

    def _next_id(self) -> int:
        self._ids += 1
        return self._ids
