"""Locations of a baseline: a folder, or a branch of a git repository."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

DEFAULT_BRANCH = "ciguard-baseline"
_PREFIX = "git+"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""Matches the name of a git remote."""
_URL = re.compile(r"(https?|ssh|git|file)://[^\s\x00-\x20\x7f]+")
_HOST_AND_PATH = re.compile(
    r"([A-Za-z0-9_.-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!:)[^\s\x00-\x20:-]\S*"
)
_BRANCH = re.compile(r"(?!.*(\.\.|//|/\.|\.lock(/|$)|[./]$))[A-Za-z0-9_][A-Za-z0-9_./-]*")
"""Matches names of branches, except names that a shell, path or refspec could misread."""
_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]*@")


@dataclass(frozen=True, slots=True)
class GitBranch:
    """A git branch that stores a baseline."""

    remote: str
    """Repository of the branch: name of a remote, URL, `host:path` or absolute path."""
    branch: str = DEFAULT_BRANCH

    @property
    def is_named(self) -> bool:
        """True if the remote is a name, which the current repository resolves to a URL."""
        return _NAME.fullmatch(self.remote) is not None

    def __str__(self) -> str:
        """Return the location in the form of the setting."""
        return f"{_PREFIX}{self.remote}#{self.branch}"


Location: TypeAlias = Path | GitBranch


def parse_location(text: str) -> Location:
    """Parse the path of a folder, or `git+REMOTE#BRANCH`.

    Raises:
        ValueError: if the text is malformed. The message never contains a password.
    """
    location = text.strip()
    if not location.startswith(_PREFIX):
        if not location or "\0" in location:
            msg = "not a path"
            raise ValueError(msg)
        return Path(location)
    remote, _, branch = location.removeprefix(_PREFIX).partition("#")
    branch = branch or DEFAULT_BRANCH
    if _PASSWORD.search(remote):
        msg = "the URL contains a password, which logs would show: use git's credential helper"
        raise ValueError(msg)
    is_path = remote.startswith("/") and remote.isprintable()
    if not is_path and not any(p.fullmatch(remote) for p in (_NAME, _URL, _HOST_AND_PATH)):
        msg = f"{remote!r} is neither the name of a remote, nor a URL, nor an absolute path"
        raise ValueError(msg)
    if not _BRANCH.fullmatch(branch):
        msg = f"{branch!r} is not a branch name of letters, digits and _ . / -"
        raise ValueError(msg)
    return GitBranch(remote, branch)


def location_text(location: Location) -> str:
    """Return a location in the form that `parse_location` reads."""
    return str(location) if isinstance(location, GitBranch) else location.as_posix()
