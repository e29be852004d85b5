"""The repository and release of this copy of ciguard."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.files import read_text
from ciguard.programs import run_program

if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE = Path(__file__).parent
VARIABLE = "CIGUARD_PROJECT"
"""Environment variable `owner/name` or `owner/name@commit`, which overrides the other sources."""
RELEASE_FILE = "release.json"
"""Name of the file in a released wheel that the release workflow writes."""
REPOSITORY = re.compile(r"[\w-][\w.-]{0,99}/[\w.-]{1,100}", re.ASCII)
"""Matches `owner/name` on GitHub, which is safe in URLs and on command lines."""
_SERVER = "https://github.com"
_REMOTE = re.compile(
    r"(?:^|[/@.])github\.com(?::443)?[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$", re.ASCII
)
_ACTION_FOLDER = re.compile(r"/_actions/([^/]+/[^/]+)/([^/]+)")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_TAG = re.compile(r"v\d[\w.-]{0,60}", re.ASCII)
_MAX_BYTES = 65_536
_GIT_TIMEOUT_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class CiguardProject:
    """Repository, commit and release of this copy of ciguard."""

    repository: str = ""
    """`owner/name`; empty if unknown."""
    commit: str = ""
    """40 hexadecimal digits; empty if unknown."""
    tag: str = ""
    """Release tag of the commit, such as `v0.1.0`; empty if it has none."""

    @property
    def name(self) -> str:
        """Repository and commit in the form of the variable; empty if the repository is unknown."""
        return f"{self.repository}@{self.commit}".rstrip("@") if self.repository else ""

    def page(self, path: str = "") -> str:
        """Return the URL of a page of the project; empty if the repository is unknown.

        Args:
            path: path below the repository's URL, such as `blob/main/docs/action.md`.
        """
        if not self.repository:
            return ""
        return f"{_SERVER}/{self.repository}/{path}".rstrip("/")

    def document(self, path: str) -> str:
        """Return the URL of a file of the project at this release, commit or default branch."""
        return self.page(f"blob/{self.tag or self.commit or 'HEAD'}/{path}")


def this_project(environment: Mapping[str, str] = os.environ) -> CiguardProject:
    """Return the project of this copy, from the variable, the release or the checkout."""
    package = Path(__file__).parent
    return (
        _from_variable(environment.get(VARIABLE, ""))
        or _from_release(package / RELEASE_FILE)
        or _from_checkout(package.parent)
    )


def project_of_action(path: str) -> CiguardProject:
    """Return the project of the running action, from its folder.

    Runners download actions to `_actions/OWNER/NAME/REF`. The variables with owner and name are
    unreliable: inside a composite action, they may belong to another action.

    Args:
        path: value of the variable `GITHUB_ACTION_PATH`; empty outside of an action.
    """
    if not path:
        return CiguardProject()
    if match := _ACTION_FOLDER.search(path):
        return _from_variable(f"{match[1]}@{match[2]}") or CiguardProject()
    return _from_checkout(Path(path))


def repository_of(remote: str) -> str:
    """Return `owner/name` in the URL of a git remote; empty if it is not on GitHub."""
    match = _REMOTE.search(remote)
    return match[1] if match and REPOSITORY.fullmatch(match[1]) else ""


def git_output(folder: Path, *words: str) -> str:
    """Return the output of git in a folder; empty if it fails or is not installed."""
    program = shutil.which("git")
    if program is None:
        return ""
    completed = run_program([program, "-C", str(folder), *words], limit_s=_GIT_TIMEOUT_S)
    return completed.text.strip() if completed.code == 0 else ""


def _from_variable(text: str) -> CiguardProject | None:
    repository, _, commit = text.partition("@")
    if not REPOSITORY.fullmatch(repository):
        return None
    return CiguardProject(repository=repository, commit=commit if _COMMIT.fullmatch(commit) else "")


def _from_release(path: Path) -> CiguardProject | None:
    if not path.is_file():
        return None
    release = json.loads(read_text(path, most=_MAX_BYTES))
    return CiguardProject(
        repository=release["repository"], commit=release["commit"], tag=release["tag"]
    )


def _from_checkout(folder: Path) -> CiguardProject:
    root = git_output(folder, "rev-parse", "--show-toplevel")
    if not (folder / "action.yml").is_file() or Path(root) != folder.resolve():
        return CiguardProject()  # a copy within another repository is not that repository
    commit = git_output(folder, "rev-parse", "HEAD")
    tags = git_output(folder, "tag", "--points-at", "HEAD", "v*").split()
    return CiguardProject(
        repository=repository_of(git_output(folder, "remote", "get-url", "origin")),
        commit=commit if _COMMIT.fullmatch(commit) else "",
        tag=next(filter(_TAG.fullmatch, sorted(tags, key=len, reverse=True)), ""),
    )


def seeds_folder() -> Path:
    """Return the folder of ciguard's seeds, in the installed package or the checkout."""
    installed = _PACKAGE / "seeds"
    return installed if installed.is_dir() else _PACKAGE.parent / "seeds"
