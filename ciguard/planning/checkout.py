"""The repository as it is checked out, and what it changes against a base commit, by git."""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.baseline import Git, GitError
from ciguard.domain.text import visible
from ciguard.errors import BaselineError, PlanError

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger(__name__)

MAX_BYTES = 8 * 1024 * 1024
"""Of a file that is read."""
REGISTERING = (".py", ".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".mm", ".yaml")
"""Endings of files that may register operators."""
_WITH_LINES = (*REGISTERING, ".ipynb")
"""Of files whose changed lines matter; of others it is enough that they changed."""
_MAX_DIFFS = 400
"""Files whose changed lines are looked at one by one; of the others every line counts."""
_LIMIT_S = 60.0
_DEPTHS = ("--deepen=1", "--deepen=30", "--deepen=500", "--unshallow")
"""How much more history is fetched, one after the other, until the base is among it."""
_QUIETLY = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_EVERY_LINE = ((1, 2**31),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that differs between base and checkout."""

    path: str
    is_gone: bool = False
    is_new: bool = False
    lines: tuple[tuple[int, int], ...] = ()
    """Changed lines in the checkout, first and last; around a deletion, its neighbours."""

    def touches(self, first: int, last: int) -> bool:
        """Return whether a changed line lies in this span."""
        return any(begin <= last and first <= end for begin, end in self.lines)


class Checkout:
    """Reads a repository. Paths are relative to its root, as git holds them: any bytes but NUL."""

    def __init__(self, folder: Path) -> None:
        """Find the repository of a folder; only what lies below the folder is looked at.

        Raises:
            PlanError: if the folder is in none, or there is no git.
        """
        self._folder = folder
        self._git = Git(Path(), name="the repository", limit_s=_LIMIT_S)
        try:
            top = self._run("rev-parse", "--show-toplevel")
        except GitError as error:
            msg = f"{folder}: not the checkout of a git repository ({error}). Plan inside of one."
            raise PlanError(msg) from error
        self.root = Path(os.fsdecode(top.removesuffix(b"\n")))

    def files(self) -> list[str]:
        """Return the paths of the tracked files."""
        listed = self._paths("ls-files", "--full-name", "--cached", "-z", *_BELOW)
        return sorted(set(listed))

    def base_of(self, ref: str) -> str:
        """Return the commit where the checkout left `ref`.

        Raises:
            PlanError: if the commit or the history up to it is not here.
        """
        commit = self._commit(ref)
        try:
            return self._run("merge-base", commit, "HEAD").decode().strip()
        except GitError as error:
            msg = (
                f"--against {visible(ref)}: this checkout does not hold the history between it "
                f"and HEAD. {self._remedy()}"
            )
            raise PlanError(msg) from error

    def deepen(self, ref: str) -> None:
        """Fetch what a shallow checkout lacks of the history between `ref` and HEAD.

        A little at first, since the base is near as a rule. What cannot be fetched stays away, and
        `base_of` says what to do.

        Args:
            ref: a commit, or a branch as `origin/NAME`.
        """
        remote, _, branch = ref.partition("/")
        wanted = f"+refs/heads/{branch}:refs/remotes/{ref}" if remote == "origin" else ref
        if not self._is_shallow() or not (remote == "origin" or _COMMIT.fullmatch(ref)):
            return
        head = self._run("rev-parse", "HEAD").decode().strip()
        for depth in _DEPTHS:
            try:
                self._run("fetch", *_QUIETLY, depth, "--end-of-options", "origin", head, wanted)
                self._run("merge-base", ref, "HEAD")
            except GitError as error:
                log.debug("%s: %s", depth, error)
            else:
                return

    def changes(self, base: str) -> list[ChangedFile]:
        """Return what differs between a commit and the checkout, by path."""
        listed = self._paths("diff", *_PLAIN, "--name-status", "-z", base, *_BELOW)
        found = sorted(zip(listed[1::2], listed[::2], strict=True))
        return [
            ChangedFile(
                path=path,
                is_gone=status == "D",
                is_new=status == "A",
                lines=() if status == "D" else self._lines(base, path, is_close=at < _MAX_DIFFS),
            )
            for at, (path, status) in enumerate(found)
        ]

    def matching(self, base: str, pattern: str) -> list[str]:
        """Return the files in which a line that matches was added or removed, in whatever case.

        Args:
            base: commit that the checkout is compared with.
            pattern: extended regular expression, as git takes it.

        Raises:
            PlanError: if that takes too long.
        """
        words = ("--name-only", "-z", "--regexp-ignore-case", f"-G{pattern}")
        return self._paths("diff", *_PLAIN, *words, base, *_BELOW)

    def text(self, path: str) -> bytes:
        """Return a file of the checkout.

        Raises:
            ValueError: if it is larger than `MAX_BYTES`, or no regular file.
            OSError: if it cannot be read.
        """
        file = self.root / path
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            content = stream.read(MAX_BYTES + 1)
        return _bounded(content)

    def text_at(self, commit: str, path: str) -> bytes:
        """Return a file as a commit holds it; nothing if it does not.

        Raises:
            ValueError: if it is larger than `MAX_BYTES`.
        """
        name = f"{commit}:{path}"
        try:
            size = int(self._run("cat-file", "-s", name))
        except GitError:
            return b""
        return _bounded(self._run("cat-file", "blob", name) if size <= MAX_BYTES else None)

    def _lines(self, base: str, path: str, *, is_close: bool) -> tuple[tuple[int, int], ...]:
        if not is_close or not path.endswith(_WITH_LINES):
            return _EVERY_LINE
        # Literal: a path may look like a pattern.
        said = self._run("diff", *_PLAIN, "--unified=0", base, "--", f":(top,literal){path}")
        return tuple(map(_span, _HUNK.finditer(said)))

    def _commit(self, ref: str) -> str:
        try:
            found = self._run(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
            )
        except (GitError, ValueError) as error:  # a NUL cannot be an argument
            msg = f"--against {visible(ref)}: no such commit here. {self._remedy()}"
            raise PlanError(msg) from error
        return found.decode().strip()

    def _is_shallow(self) -> bool:
        return self._run("rev-parse", "--is-shallow-repository") == b"true\n"

    def _remedy(self) -> str:
        if self._is_shallow():
            return (
                "The checkout is shallow: give actions/checkout the input fetch-depth: 0, or run "
                "`git fetch --unshallow origin` first."
            )
        return "Run `git fetch origin` first, or name a commit that is here."

    def _paths(self, *words: str) -> list[str]:
        return [os.fsdecode(item) for item in self._run(*words).split(b"\0") if item]

    def _run(self, *words: str) -> bytes:
        try:
            return self._git.outside_raw(*words, folder=self._folder)
        except GitError:
            raise
        except BaselineError as error:
            raise PlanError(str(error)) from error


_BELOW = ("--", ".", ":(exclude,glob)**/.ciguard/**")
"""The folder, without what ciguard has written there: results, reproducers, baseline."""
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules")


def shown_path(path: str) -> str:
    """Return a path as plans hold it: text that can be written anywhere.

    A backslash would part folders elsewhere, and lead out of the repository there.
    """
    return os.fsencode(path).decode("utf-8", "replace").replace("\\", "\ufffd")


def readable(
    checkout: Checkout, paths: list[str], problems: list[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield path and content; what cannot be read is noted among the problems."""
    for path in paths:
        try:
            yield path, checkout.text(path)
        except (OSError, ValueError) as error:
            problems.append(f"{visible(shown_path(path))} was not read: {visible(str(error))}")


def _span(hunk: re.Match[bytes]) -> tuple[int, int]:
    first, count = int(hunk[1]), int(hunk[2] or 1)
    return (first, first + count - 1) if count else (first, first + 1)


def _bounded(content: bytes | None) -> bytes:
    if content is None or len(content) > MAX_BYTES:
        msg = f"larger than {MAX_BYTES} bytes"
        raise ValueError(msg)
    return content
