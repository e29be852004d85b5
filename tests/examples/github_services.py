"""Stand-ins for the actions of others, with folders for the services of GitHub behind them.

What they do with missing, single and several artifacts is what `actions/upload-artifact` 7 and
`actions/download-artifact` 8 do.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from action_scenarios import git

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_NOT_IN_NAMES = re.compile(r'["*:<>?|\r\n\\/]|^$')
_ANOTHER_REF = re.compile(r"refs/(?!heads/)|[0-9a-f]{40}$")
"""What is no branch."""
_BRACES = re.compile(r"\{([^{}]*)\}")


class ActionFailedError(Exception):
    """The action ends with an error."""


@dataclass(frozen=True)
class Services:
    """What one run of a workflow has at GitHub."""

    workspace: Path
    """Of the job."""
    artifacts: Path
    """Holds a folder per artifact of the run."""
    caches: Path
    """Holds a folder per key."""
    repositories: Mapping[str, Path] = field(default_factory=dict)
    """By `owner/name`."""
    repository: str = ""
    """That of the workflow's run."""
    ref: str = ""
    is_private: bool = False
    """Whether the repository of the run answers only those who log in."""
    other_runs: Mapping[str, Path] = field(default_factory=dict)
    """Artifacts of other runs by the id of the run."""

    def use(self, action: str, with_: Mapping[str, str]) -> dict[str, str]:
        """Do what an action does, and return its outputs.

        Raises:
            ActionFailedError: if it would fail.
        """
        match action:
            case "actions/checkout":
                return self._check_out(with_)
            case "actions/cache/restore":
                return self._restore(with_)
            case "actions/cache/save":
                shutil.copytree(with_["path"], self.caches / with_["key"], symlinks=True)
            case "actions/upload-artifact":
                self._upload(with_["name"], self.workspace / with_["path"])
            case "actions/download-artifact":
                self._download(with_)
            case _:
                msg = f"no stand-in for {action}"
                raise AssertionError(msg)
        return {}

    def _check_out(self, with_: Mapping[str, str]) -> dict[str, str]:
        """Fetch one commit, or with `fetch-depth: 0` all branches."""
        ref = with_.get("ref") or self.ref
        folder = self.workspace / with_.get("path", "")
        remote = self.repositories[with_.get("repository") or self.repository]
        git(self.workspace, "init", "--quiet", str(folder))
        git(folder, "remote", "add", "origin", remote.as_uri())
        depth = ["--depth=1"]
        if with_.get("fetch-depth") == "0":
            depth = []
            git(folder, "fetch", "--quiet", "origin", "+refs/heads/*:refs/remotes/origin/*")
        git(folder, "fetch", "--quiet", "--no-tags", *depth, "origin", ref)
        at = ["--detach"] if _ANOTHER_REF.match(ref) else ["-B", ref.removeprefix("refs/heads/")]
        git(folder, "checkout", "--quiet", *at, "FETCH_HEAD")
        if self.is_private and with_.get("persist-credentials") == "false":
            git(folder, "remote", "set-url", "origin", (folder / "refused").as_uri())
        return {"ref": ref, "commit": git(folder, "rev-parse", "HEAD")}

    def _restore(self, with_: Mapping[str, str]) -> dict[str, str]:
        kept = self.caches / with_["key"]
        if not kept.is_dir():
            return {"cache-hit": ""}
        shutil.copytree(kept, with_["path"], symlinks=True, dirs_exist_ok=True)
        return {"cache-hit": "true"}

    def _upload(self, name: str, path: Path) -> None:
        if _NOT_IN_NAMES.search(name):
            msg = f"The artifact name is not valid: {name!r}"
            raise ActionFailedError(msg)
        if not any(found.is_file() for found in path.rglob("*")):
            return  # with a warning
        if (self.artifacts / name).exists():
            msg = f"an artifact with this name already exists on the workflow run: {name}"
            raise ActionFailedError(msg)
        shutil.copytree(path, self.artifacts / name)

    def _download(self, with_: Mapping[str, str]) -> None:
        """One artifact is put into the folder itself, also if a pattern happens to match one."""
        folder = self.artifacts
        if with_.get("github-token") and with_.get("run-id"):
            folder = self.other_runs[with_["run-id"]]
        known = sorted(path.name for path in folder.iterdir())
        wanted = with_.get("name", "")
        if wanted and wanted not in known:
            msg = f"Unable to download artifact(s): Artifact not found for name: {wanted}"
            raise ActionFailedError(msg)
        names = [wanted] if wanted else _matching(known, with_.get("pattern") or "*")
        path = self.workspace / with_.get("path", "")
        for name in names:
            into = path if len(names) == 1 else path / name
            shutil.copytree(folder / name, into, dirs_exist_ok=True)


def _matching(names: list[str], pattern: str) -> list[str]:
    """Return the names that a pattern of shells means, with `{one,other}`."""
    if found := _BRACES.search(pattern):
        begin, end = pattern[: found.start()], pattern[found.end() :]
        each = (_matching(names, begin + word + end) for word in found[1].split(","))
        return sorted({name for matched in each for name in matched})
    return [name for name in names if fnmatchcase(name, pattern)]
