"""The checked-out repository, and its changes since a base commit, read with git."""

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
"""Maximum size of a file that is read, in bytes."""
REGISTERING_SUFFIXES = (
    ".py",
    ".c",
    ".cc",
    ".cpp",
    ".cxx",
    ".cu",
    ".cuh",
    ".h",
    ".hpp",
    ".mm",
    ".yaml",
)
"""Suffixes of files that may register operators."""
_LINE_DIFF_SUFFIXES = (*REGISTERING_SUFFIXES, ".ipynb")
"""Suffixes of files whose changed lines are read; all lines of other files count as changed."""
_MAX_DIFFS = 400
"""Maximum number of files whose changed lines are read; all lines of others count as changed."""
_GIT_LIMIT_S = 60.0
_DEEPENING_OPTIONS = ("--deepen=1", "--deepen=30", "--deepen=500", "--unshallow")
"""Options of `git fetch` for more history, tried in turn until the base is included."""
_FETCH_OPTIONS = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUNK_HEADER = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_ALL_LINES = ((1, 2**31),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that differs between the base and the checkout."""

    path: str
    """Path relative to the root of the repository."""
    is_gone: bool = False
    """True if only the base contains the file."""
    is_new: bool = False
    """True if only the checkout contains the file."""
    lines: tuple[tuple[int, int], ...] = ()
    """Spans of changed lines in the checkout, each as (first, last). The span of a deletion is
    that of the neighbouring lines."""

    def touches(self, first: int, last: int) -> bool:
        """Return whether a line from `first` to `last`, inclusive, has changed."""
        return any(begin <= last and first <= end for begin, end in self.lines)


class Checkout:
    """A repository. Paths are relative to its root and may contain any bytes but NUL, as in git."""

    def __init__(self, folder: Path) -> None:
        """Find the repository that contains a folder; only files below the folder are considered.

        Raises:
            PlanError: if the folder is not in a repository, or git is missing.
        """
        self._folder = folder
        self._git = Git(Path(), name="the repository", limit_s=_GIT_LIMIT_S)
        try:
            top = self._run("rev-parse", "--show-toplevel")
        except GitError as error:
            msg = f"{folder}: not inside a git checkout ({error}). Run the command in a checkout."
            raise PlanError(msg) from error
        self.root = Path(os.fsdecode(top.removesuffix(b"\n")))

    def files(self) -> list[str]:
        """Return the paths of the tracked files."""
        tracked_paths = self._paths("ls-files", "--full-name", "--cached", "-z", *_PATHSPEC)
        return sorted(set(tracked_paths))

    def base_of(self, ref: str) -> str:
        """Return the merge base of `ref` and HEAD.

        Raises:
            PlanError: if the checkout does not contain the commit, or the history up to it.
        """
        commit = self._commit(ref)
        try:
            return self._run("merge-base", commit, "HEAD").decode().strip()
        except GitError as error:
            msg = (
                f"--against {visible(ref)}: this checkout lacks the history between this "
                f"commit and HEAD. {self._advice()}"
            )
            raise PlanError(msg) from error

    def deepen(self, ref: str) -> None:
        """Fetch the history between `ref` and HEAD if the checkout is shallow.

        A few commits are fetched first, since the base is usually near. If fetching fails,
        `base_of` raises an error with advice.

        Args:
            ref: a full commit hash, or a branch as `origin/NAME`.
        """
        remote, _, branch = ref.partition("/")
        refspec = f"+refs/heads/{branch}:refs/remotes/{ref}" if remote == "origin" else ref
        if not self._is_shallow() or not (remote == "origin" or _COMMIT.fullmatch(ref)):
            return
        head = self._run("rev-parse", "HEAD").decode().strip()
        for depth in _DEEPENING_OPTIONS:
            try:
                self._run(
                    "fetch", *_FETCH_OPTIONS, depth, "--end-of-options", "origin", head, refspec
                )
                self._run("merge-base", ref, "HEAD")
            except GitError as error:
                log.debug("%s: %s", depth, error)
            else:
                return

    def changes(self, base: str) -> list[ChangedFile]:
        """Return the files that differ between a commit and the checkout, by path."""
        fields = self._paths("diff", *_DIFF_OPTIONS, "--name-status", "-z", base, *_PATHSPEC)
        changes = sorted(zip(fields[1::2], fields[::2], strict=True))
        return [
            ChangedFile(
                path=path,
                is_gone=status == "D",
                is_new=status == "A",
                lines=()
                if status == "D"
                else self._lines(base, path, reads_diff=index < _MAX_DIFFS),
            )
            for index, (path, status) in enumerate(changes)
        ]

    def files_with_changed_lines(self, base: str, pattern: str) -> list[str]:
        """Return the paths of files with an added or removed line that matches a pattern.

        Args:
            base: the commit with which the checkout is compared.
            pattern: an extended regular expression of git; case is ignored.

        Raises:
            PlanError: if the comparison takes too long.
        """
        words = ("--name-only", "-z", "--regexp-ignore-case", f"-G{pattern}")
        return self._paths("diff", *_DIFF_OPTIONS, *words, base, *_PATHSPEC)

    def content(self, path: str) -> bytes:
        """Return the content of a file in the checkout.

        Raises:
            ValueError: if the file is larger than `MAX_BYTES`.
            OSError: if the file cannot be read.
        """
        file = self.root / path
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            content = stream.read(MAX_BYTES + 1)
        return _checked_size(content)

    def content_at(self, commit: str, path: str) -> bytes:
        """Return the content of a file at a commit; empty if the commit does not contain it.

        Raises:
            ValueError: if the file is larger than `MAX_BYTES`.
        """
        name = f"{commit}:{path}"
        try:
            size = int(self._run("cat-file", "-s", name))
        except GitError:
            return b""
        return _checked_size(self._run("cat-file", "blob", name) if size <= MAX_BYTES else None)

    def _lines(self, base: str, path: str, *, reads_diff: bool) -> tuple[tuple[int, int], ...]:
        """Return the spans of changed lines; all lines unless the diff of the file is read."""
        if not reads_diff or not path.endswith(_LINE_DIFF_SUFFIXES):
            return _ALL_LINES
        # `literal` is needed, since a path may look like a pattern.
        diff = self._run("diff", *_DIFF_OPTIONS, "--unified=0", base, "--", f":(top,literal){path}")
        return tuple(map(_changed_span, _HUNK_HEADER.finditer(diff)))

    def _commit(self, ref: str) -> str:
        """Return the hash of the commit that a reference names."""
        try:
            commit = self._run(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
            )
        except (GitError, ValueError) as error:  # ValueError: `ref` contains NUL
            msg = f"--against {visible(ref)}: this commit is not in the checkout. {self._advice()}"
            raise PlanError(msg) from error
        return commit.decode().strip()

    def _is_shallow(self) -> bool:
        return self._run("rev-parse", "--is-shallow-repository") == b"true\n"

    def _advice(self) -> str:
        """Return advice on how to get a missing commit or history."""
        if self._is_shallow():
            return (
                "The checkout is shallow: set the input fetch-depth: 0 of actions/checkout, or run "
                "`git fetch --unshallow origin` first."
            )
        return "Run `git fetch origin` first, or name a commit of this checkout."

    def _paths(self, *words: str) -> list[str]:
        return [os.fsdecode(item) for item in self._run(*words).split(b"\0") if item]

    def _run(self, *words: str) -> bytes:
        """Return the output of a git command that runs in the folder."""
        try:
            return self._git.outside_raw(*words, folder=self._folder)
        except GitError:
            raise
        except BaselineError as error:
            raise PlanError(str(error)) from error


_PATHSPEC = ("--", ".", ":(exclude,glob)**/.ciguard/**")
"""Arguments of git that select the folder, without results, reproducers and baseline of ciguard."""
_DIFF_OPTIONS = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--ignore-submodules",
)


def display_path(path: str) -> str:
    """Return a path as text for plans, with backslashes and undecodable bytes replaced.

    On Windows, a backslash would separate folders, and could lead out of the repository.
    """
    return os.fsencode(path).decode("utf-8", "replace").replace("\\", "\ufffd")


def readable_files(
    checkout: Checkout, paths: list[str], problems: list[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each readable file; append sentences on others to `problems`."""
    for path in paths:
        try:
            yield path, checkout.content(path)
        except (OSError, ValueError) as error:
            problems.append(f"{visible(display_path(path))} was not read: {visible(str(error))}")


def _changed_span(hunk: re.Match[bytes]) -> tuple[int, int]:
    """Return the first and last line of a hunk; the neighbouring lines of a deletion."""
    first, count = int(hunk[1]), int(hunk[2] or 1)
    return (first, first + count - 1) if count else (first, first + 1)


def _checked_size(content: bytes | None) -> bytes:
    if content is None or len(content) > MAX_BYTES:
        msg = f"larger than {MAX_BYTES} bytes"
        raise ValueError(msg)
    return content
