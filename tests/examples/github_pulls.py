"""Pull requests and code scanning as GitHub keeps them, for one repository."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import dataclass, field

from github_repository import NAME, Json, RefusedError, shown_user

_API = "https://api.github.com"
_LINKS = (
    *("archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits"),
    *("compare", "contents", "contributors", "deployments", "downloads", "events", "forks"),
    *("git_commits", "git_refs", "git_tags", "hooks", "issue_comment", "issue_events", "issues"),
    *("keys", "labels", "languages", "merges", "milestones", "notifications", "pulls"),
    *("releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams"),
    *("trees", "clone", "git", "ssh", "svn"),
)
_REF = re.compile(r"refs/(heads/.+|pull/\d+/(head|merge))")
_MAX_BYTES = 10_000_000


@dataclass(frozen=True)
class Offered:
    """A pull request."""

    number: int
    sha: str
    repository: str = NAME
    """Of the head."""
    branch: str = "change"
    base: str = NAME
    state: str = "open"
    is_orphan: bool = False
    """Whether the fork has been deleted."""


@dataclass
class PullRequestStore:
    """The pull requests of one repository."""

    offered: list[Offered] = field(default_factory=list)
    may_read: bool = True

    def listed(self, query: dict[str, str]) -> list[Json]:
        if not self.may_read:
            raise RefusedError(403, "Resource not accessible by integration")
        state, head = query.get("state", "open"), query.get("head")
        return [
            shown_pull_request(one)
            for one in self.offered
            if state in {"all", one.state}
            and head in {None, f"{one.repository.partition('/')[0]}:{one.branch}"}
        ]


@dataclass
class CodeScanningStore:
    """What was uploaded to code scanning, unpacked."""

    analyses: list[Json] = field(default_factory=list)
    refusal: str = ""
    """Message of the answer 403; empty if uploads are accepted."""

    def upload(self, body: Json, base: str) -> Json:
        if self.refusal:
            raise RefusedError(403, self.refusal)
        packed = base64.b64decode(body["sarif"], validate=True)
        if len(packed) > _MAX_BYTES:
            raise RefusedError(413, "Payload Too Large")
        if not _REF.fullmatch(body["ref"]):
            raise RefusedError(400, "ref is invalid")
        self.analyses.append({**body, "sarif": json.loads(gzip.decompress(packed))})
        identity = f"47177e22-5596-11eb-80a1-{len(self.analyses):012}"
        url = f"{base}/repos/{NAME}/code-scanning/sarifs/{identity}"
        return {"id": identity, "url": url}


def shown_pull_request(one: Offered) -> Json:
    url = f"{_API}/repos/{NAME}/pulls/{one.number}"
    issue = f"{_API}/repos/{NAME}/issues/{one.number}"
    owner = one.repository.partition("/")[0]
    links = ("html", "diff", "patch", "commits", "review_comments", "review_comment", "statuses")
    moment = "2026-01-01T00:00:00Z"
    names = ("self", "html", "issue", "comments", "review_comments", "review_comment")
    return {
        "id": one.number,
        "node_id": f"PR_{one.number}",
        "number": one.number,
        "url": url,
        **{f"{name}_url": f"{url}/{name}" for name in links},
        "issue_url": issue,
        "comments_url": f"{issue}/comments",
        "state": one.state,
        "locked": False,
        "title": "a change",
        "user": shown_user(owner),
        "body": None,
        "labels": [],
        "milestone": None,
        "assignee": None,
        "created_at": moment,
        "updated_at": moment,
        "closed_at": None if one.state == "open" else moment,
        "merged_at": None,
        "merge_commit_sha": None,
        "head": _side(one.repository, one.branch, one.sha, is_orphan=one.is_orphan),
        "base": _side(one.base, "main", "f" * 40),
        "_links": {name: {"href": url} for name in (*names, "commits", "statuses")},
        "author_association": "NONE",
        "auto_merge": None,
    }


def _side(repository: str, branch: str, sha: str, *, is_orphan: bool = False) -> Json:
    owner = repository.partition("/")[0]
    return {
        "label": f"{owner}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": shown_user(owner),
        # The description of the API does not know this, and the API does it.
        "repo": None if is_orphan else shown_repository(repository),
    }


def shown_repository(full_name: str) -> Json:
    owner, _, name = full_name.partition("/")
    url = f"{_API}/repos/{full_name}"
    counts = ("forks", "forks_count", "open_issues", "open_issues_count", "size")
    flags = ("has_downloads", "has_issues", "has_projects", "has_wiki", "has_pages")
    return {
        "id": sum(map(ord, full_name)),
        "node_id": f"R_{name}",
        "name": name,
        "full_name": full_name,
        "owner": shown_user(owner),
        "private": False,
        "html_url": f"https://github.com/{full_name}",
        "description": None,
        "fork": full_name != NAME,
        "url": url,
        **{f"{link}_url": f"{url}/{link}" for link in _LINKS},
        **dict.fromkeys((*counts, "stargazers_count", "watchers", "watchers_count"), 0),
        **dict.fromkeys((*flags, "archived", "disabled"), False),
        **dict.fromkeys(("homepage", "language", "mirror_url", "license", "pushed_at")),
        "default_branch": "main",
        "created_at": None,
        "updated_at": None,
    }
