"""Repositories to test with, and a server of git's own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PATIENCE_S = 30.0
_SETTINGS = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")


def git(folder: Path, *words: str, given: str | None = None) -> str:
    """Return what git prints in a folder, whatever this machine's settings are."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *_SETTINGS, "-C", str(folder), *words],  # noqa: S607 - the one of this machine
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def bare_repository(folder: Path) -> Path:
    """Make an empty repository and return it."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--bare")
    return folder


def commit_files(repository: Path, branch: str, files: dict[str, tuple[str, str]]) -> str:
    """Put a branch of a bare repository at a new commit with these files, by name.

    Args:
        repository: bare.
        branch: made or moved.
        files: mode and content by name; for a submodule the content is a commit.
    """
    entries = ""
    for name, (mode, content) in files.items():
        blob = content
        if mode != "160000":
            blob = git(repository, "hash-object", "-w", "--stdin", given=content)
        entries += f"{mode} {blob}\t{name}\n"
    git(repository, "read-tree", "--empty")
    git(repository, "update-index", "--index-info", given=entries)
    commit = git(repository, "commit-tree", git(repository, "write-tree"), "-m", "by hand")
    git(repository, "update-ref", f"refs/heads/{branch}", commit)
    return commit


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the repositories below a folder, pushes included; yield the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--reuseaddr", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1"]
    daemon = subprocess.Popen(
        ["git", "daemon", *words, f"--port={port}", f"--base-path={folder}", str(folder)],  # noqa: S607
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_for(port)
        yield f"git://127.0.0.1:{port}"
    finally:
        os.killpg(daemon.pid, 9)
        daemon.wait()


def _wait_for(port: int) -> None:
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return
