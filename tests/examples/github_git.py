"""GitHub's git database over a real bare repository, and its rules, which bind pushes as well."""

from __future__ import annotations

import base64
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from git_examples import bare_repository, git
from github_repository import NAME, Json, RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SIGNATURE = (
    "gpgsig -----BEGIN PGP SIGNATURE-----\n \n"
    " wsFcBAABCAAQBQJmAAAACRC1aQ7uu5UhlAAAtest\n -----END PGP SIGNATURE-----\n"
)
_HOOK = """#!/bin/sh
# GitHub's words, as a client of git sees them.
refuse() {{
  echo "error: GH013: Repository rule violations found for $ref." >&2
  echo "Review all repository rules at https://github.com/{name}/rules?ref=$ref" >&2
  echo >&2
  echo "- $1" >&2
  exit 1
}}
while read -r old new ref; do
  case "$new" in *[!0]*) ;; *) continue ;; esac
{rules}
done
"""
_SIGNED = """  for commit in $(git rev-list "$new" --not --all); do
    git cat-file commit "$commit" | sed '/^$/q' | grep -q '^gpgsig ' ||
      refuse "Commits must have verified signatures."
  done
"""
_THROUGH_PULL_REQUESTS = """  refuse "Changes must be made through a pull request."
"""
_PROTECTED = """#!/bin/sh
while read -r old new ref; do
  echo "error: GH006: Protected branch update failed for $ref." >&2
  echo "error: Changes must be made through a pull request." >&2
  exit 1
done
"""
SIGNED, THROUGH_PULL_REQUESTS, PROTECTED = "signed", "through pull requests", "protected"
_RULES = {SIGNED: _SIGNED, THROUGH_PULL_REQUESTS: _THROUGH_PULL_REQUESTS}
_VIOLATIONS = {
    THROUGH_PULL_REQUESTS: "Repository rule violations found\n\n"
    "Changes must be made through a pull request.\n\n",
    PROTECTED: "Changes must be made through a pull request.",
}
_UNSIGNED = "Repository rule violations found\n\nCommits must have verified signatures.\n\n"


@dataclass
class GitDatabase:
    """Objects and references of a bare repository, as the REST API writes them."""

    repository: Path
    writer: str = "github-actions[bot]"
    """Whose token it is. GitHub signs commits of bots that name no author."""
    may_write: bool = True
    rule: str = ""

    def __post_init__(self) -> None:
        bare_repository(self.repository)

    def require(self, rule: str) -> None:
        """Put every branch under a rule, of pushes too."""
        self.rule = rule
        hook = self.repository / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        text = _PROTECTED if rule == PROTECTED else _HOOK.format(name=NAME, rules=_RULES[rule])
        hook.write_text(text, encoding="utf-8")
        hook.chmod(0o755)

    def write(self, parts: list[str], body: Json, base: str) -> Json:
        """Carry out the POST or PATCH to a path below `git/`."""
        if not self.may_write:
            raise RefusedError(403, "Resource not accessible by integration")
        url = f"{base}/repos/{NAME}/git"
        match parts:
            case ["blobs"]:
                return self._blob(body, url)
            case ["trees"]:
                return self._tree(body, url)
            case ["commits"]:
                return self._commit(body, url)
            case ["refs"]:
                return self._ref(body, url)
            case ["refs", *names]:
                return self._updated_ref("/".join(names), body, url)
            case _:
                raise RefusedError(404, "Not Found")

    def _updated_ref(self, ref: str, body: Json, url: str) -> Json:
        old = self._resolved(f"refs/{ref}")
        if not old:
            raise RefusedError(422, "Reference does not exist")
        new = body["sha"]
        if not body.get("force") and not self._is_ancestor(old, new):
            raise RefusedError(422, "Update is not a fast forward")
        self._check_rules(new)
        self._move(f"refs/{ref}", new, old)
        return self._shown_ref(f"refs/{ref}", new, url)

    def _blob(self, body: Json, url: str) -> Json:
        content = body["content"]
        encoded = body.get("encoding", "utf-8") == "base64"
        sha = self._stored(base64.b64decode(content) if encoded else content.encode())
        return {"sha": sha, "url": f"{url}/blobs/{sha}"}

    def _tree(self, body: Json, url: str) -> Json:
        index = {"GIT_INDEX_FILE": str(self.repository / "api-index")}
        base = body.get("base_tree", "")
        self._git("read-tree", *((base,) if base else ("--empty",)), variables=index)
        for entry in body["tree"]:
            if {"sha", "content"} <= entry.keys():
                raise RefusedError(422, "GitRPC::BadObjectState")
            sha = self._stored(entry["content"].encode()) if "content" in entry else entry["sha"]
            line = f"{entry['mode']} {sha}\t" if sha else f"0 {'0' * 40}\t"
            given = f"{line}{entry['path']}\0".encode()
            self._git("update-index", "-z", "--index-info", given=given, variables=index)
        sha = self._git("write-tree", variables=index).decode().strip()
        listed = self._git("ls-tree", "-z", sha).decode().split("\0")
        entries = [self._entry(line, url) for line in filter(None, listed)]
        return {"sha": sha, "url": f"{url}/trees/{sha}", "tree": entries, "truncated": False}

    def _entry(self, line: str, url: str) -> Json:
        about, _, path = line.partition("\t")
        mode, kind, sha = about.split()
        return {"path": path, "mode": mode, "type": kind, "sha": sha, "url": f"{url}/{kind}s/{sha}"}

    def _commit(self, body: Json, url: str) -> Json:
        for sha in (body["tree"], *body["parents"]):
            if not self._resolved(f"{sha}^{{object}}"):
                raise RefusedError(422, "Tree SHA does not exist")
        is_signed = self.writer.endswith("[bot]") and not body.keys() & {"author", "committer"}
        author = {"name": self.writer, "email": f"{self.writer}@users.noreply.github.com"}
        committer = {"name": "GitHub", "email": "noreply@github.com"} if is_signed else author
        seconds, date = 1_767_225_600, "2026-01-01T00:00:00Z"
        lines = [f"tree {body['tree']}", *(f"parent {sha}" for sha in body["parents"])]
        for role, person in (("author", author), ("committer", committer)):
            lines.append(f"{role} {person['name']} <{person['email']}> {seconds} +0000")
        text = "\n".join(lines) + "\n" + (_SIGNATURE if is_signed else "")
        text += f"\n{body['message']}"
        sha = self._stored(text.encode(), kind="commit")
        return {
            "sha": sha,
            "node_id": f"C_{sha}",
            "url": f"{url}/commits/{sha}",
            "html_url": f"https://github.com/{NAME}/commit/{sha}",
            "author": {**author, "date": date},
            "committer": {**committer, "date": date},
            "tree": {"sha": body["tree"], "url": f"{url}/trees/{body['tree']}"},
            "message": body["message"],
            "parents": [
                {
                    "sha": parent,
                    "url": f"{url}/commits/{parent}",
                    "html_url": f"https://github.com/{NAME}/commit/{parent}",
                }
                for parent in body["parents"]
            ],
            "verification": {
                "verified": is_signed,
                "reason": "valid" if is_signed else "unsigned",
                "signature": _SIGNATURE if is_signed else None,
                "payload": text if is_signed else None,
                "verified_at": date if is_signed else None,
            },
        }

    def _ref(self, body: Json, url: str) -> Json:
        if self._resolved(body["ref"]):
            raise RefusedError(422, "Reference already exists")
        if not self._resolved(f"{body['sha']}^{{commit}}"):
            raise RefusedError(422, "Object does not exist")
        self._check_rules(body["sha"])
        self._move(body["ref"], body["sha"], "0" * 40)
        return self._shown_ref(body["ref"], body["sha"], url)

    def _check_rules(self, new: str) -> None:
        if violation := _VIOLATIONS.get(self.rule):
            raise RefusedError(422, violation)
        if self.rule != SIGNED:
            return
        for commit in self._git("rev-list", new, "--not", "--all").decode().split():
            header = self._git("cat-file", "commit", commit).partition(b"\n\n")[0]
            if b"\ngpgsig " not in header:
                raise RefusedError(422, _UNSIGNED)

    def _move(self, ref: str, new: str, old: str) -> None:
        try:
            self._git("update-ref", ref, new, old)
        except subprocess.CalledProcessError:
            raise RefusedError(409, "Reference cannot be updated") from None

    def _shown_ref(self, ref: str, sha: str, url: str) -> Json:
        return {
            "ref": ref,
            "node_id": f"R_{ref}",
            "url": f"{url}/{ref}",
            "object": {"type": "commit", "sha": sha, "url": f"{url}/commits/{sha}"},
        }

    def _stored(self, content: bytes, *, kind: str = "blob") -> str:
        words = ("hash-object", "-t", kind, "-w", "--stdin")
        return self._git(*words, given=content).decode().strip()

    def _resolved(self, name: str) -> str:
        try:
            return git(self.repository, "rev-parse", "--verify", "--quiet", name)
        except subprocess.CalledProcessError:
            return ""

    def _is_ancestor(self, old: str, new: str) -> bool:
        try:
            git(self.repository, "merge-base", "--is-ancestor", old, new)
        except subprocess.CalledProcessError:
            return False
        return True

    def _git(
        self, *words: str, given: bytes = b"", variables: Mapping[str, str] | None = None
    ) -> bytes:
        done = subprocess.run(
            ["git", "--git-dir", str(self.repository), *words],  # noqa: S607 - the one of this machine
            input=given,
            capture_output=True,
            check=True,
            env={**os.environ, **(variables or {})},
        )
        return done.stdout
