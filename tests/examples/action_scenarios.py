"""What happens in a repository that has the action: commits, pull requests, other events."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from action_file import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from action_runner import Runner

BEFORE, AFTER = "current[planted]", "current[planted] PLANTED_VERSION=2.0"
INPUTS = {
    "plugins": str(ROOT / "tests" / "planted"),
    "budget": "10s",
    "baseline": ".ciguard/baseline",
    "seed": "1",
}
ONLY = {"api": "planted.cube"}
FEW = {"CIGUARD_MAX_CASES": "320"}
"""Enough for what is planted; a run that has met it need not wait for its budget."""
MATRIX = {"targets": AFTER, "base": BEFORE, **ONLY}
ANSWERS = {"group", "endgroup", "error", "warning", "notice"}
"""Commands that ciguard itself writes into a log."""


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=somebody", "-c", "user.email=somebody@invalid")
    done = subprocess.run(
        ["/usr/bin/env", "git", "-C", folder, *names, *words],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.strip()


def commit(folder: Path, **files: str) -> str:
    """Commit files, and return the commit."""
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        git(folder, "add", str(path))
    git(folder, "commit", "--quiet", "--message", "a change")
    return git(folder, "rev-parse", "HEAD")


def origin(runner: Runner, folder: Path) -> Path:
    """Give the checkout a remote, and return it."""
    remote = folder / "remote.git"
    git(folder, "init", "--quiet", "--bare", str(remote))
    git(runner.workspace, "remote", "add", "origin", str(remote))
    return remote


def pull_request(runner: Runner, *, from_fork: bool = False, **files: str) -> None:
    """Check out a pull request that changes files."""
    git(runner.workspace, "init", "--quiet", "--initial-branch", "main")
    base = commit(runner.workspace, README="first\n")
    head = commit(runner.workspace, **files)
    runner.event = event(base, head, owner="somebody/fork" if from_fork else "owner/name")


def event(base: str, head: str, *, owner: str = "owner/name") -> dict[str, Any]:
    """Return what GitHub says of a pull request."""
    return {
        "repository": {"default_branch": "main", "full_name": "owner/name"},
        "pull_request": {
            "number": 7,
            "title": "${{ github.token }} `id` $(id)\n::error::x",
            "base": {"sha": base},
            "head": {"sha": head, "repo": {"full_name": owner}},
        },
    }


def run_of(folder: Path) -> dict[str, Any]:
    run: dict[str, Any] = json.loads((folder / "run.json").read_text("utf-8"))
    return run
