"""Where a baseline is kept: a folder, or a branch of a git repository."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

DEFAULT_BRANCH = "ciguard-baseline"
_PREFIX = "git+"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""A remote of the repository that the command runs in."""
_URL = re.compile(r"(https?|ssh|git|file)://[^\s\x00-\x20\x7f]+")
_HOST_AND_PATH = re.compile(
    r"([A-Za-z0-9_.-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!:)[^\s\x00-\x20:-]\S*"
)
_BRANCH = re.compile(r"(?!.*(\.\.|//|/\.|\.lock(/|$)|[./]$))[A-Za-z0-9_][A-Za-z0-9_./-]*")
"""Less than git allows: nothing that a shell, a path or a refspec could read as something else."""
_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]*@")


@dataclass(frozen=True, slots=True)
class GitBranch:
    """A branch that keeps a baseline."""

    remote: str
    """Name of a remote, URL, `host:path` or absolute path of a repository."""
    branch: str = DEFAULT_BRANCH

    @property
    def is_named(self) -> bool:
        """True if the remote is a name that the repository at hand resolves."""
        return _NAME.fullmatch(self.remote) is not None

    def __str__(self) -> str:
        """Return it as it may be written."""
        return f"{_PREFIX}{self.remote}#{self.branch}"


Location: TypeAlias = Path | GitBranch


def parse_location(text: str) -> Location:
    """Read the path of a folder, or `git+REMOTE#BRANCH`.

    Raises:
        ValueError: with the reason. The reason never holds a password.
    """
    written = text.strip()
    if not written.startswith(_PREFIX):
        if not written or "\0" in written:
            msg = "not a path"
            raise ValueError(msg)
        return Path(written)
    remote, _, branch = written.removeprefix(_PREFIX).partition("#")
    branch = branch or DEFAULT_BRANCH
    if _PASSWORD.search(remote):
        msg = "a password in an address is shown to everybody: leave it to git's credential helper"
        raise ValueError(msg)
    is_path = remote.startswith("/") and remote.isprintable()
    if not is_path and not any(p.fullmatch(remote) for p in (_NAME, _URL, _HOST_AND_PATH)):
        msg = f"{remote!r} is neither the name of a remote, nor a URL, nor an absolute path"
        raise ValueError(msg)
    if not _BRANCH.fullmatch(branch):
        msg = f"{branch!r} is not the name of a branch, of letters, digits and _ . / -"
        raise ValueError(msg)
    return GitBranch(remote, branch)


def location_text(location: Location) -> str:
    """Return a location as `parse_location` reads it."""
    return str(location) if isinstance(location, GitBranch) else location.as_posix()
