"""A baseline on a branch of a git repository, to which several jobs can write at the same time.

Each store has its own bare repository in a temporary folder, so that processes share only the
remote. A change is committed on top of the branch's tip, and pushed only if the tip is still the
same. Otherwise the store repeats the change, so that no update is lost. If rules of GitHub reject
the push, `github_branch` writes the commit through GitHub's API.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.baseline.comparison import merge
from ciguard.baseline.encoding import SCHEMA
from ciguard.baseline.files import stored_layout
from ciguard.baseline.git_command import Git, GitError
from ciguard.baseline.github_branch import (
    BusyError,
    GitHubBranch,
    is_refused_by_rules,
    permission,
    repository_behind,
)
from ciguard.baseline.layout import INDEX, leftovers
from ciguard.baseline.store import FolderStore
from ciguard.domain.text import visible
from ciguard.errors import BaselineError
from ciguard.files import file_stamp
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from ciguard.baseline.comparison import Records
    from ciguard.baseline.store import Change, ExtraFilesWriter
    from ciguard.config import GitBranch
    from ciguard.files import Stamp

_TIP = "refs/ciguard/tip"
_BASELINE_FILE = re.compile(
    r"(?:buckets|corpus|outbox|runs)\.jsonl|(?:frontier|badge)\.json|index\.html|experience-[\w.-]{1,100}\.jsonl"
    r"|(?:buckets|corpus)/[\w-]{1,60}\.jsonl?",
    re.ASCII,
)
"""Matches paths of a baseline's files. Other files on the branch, such as a README, stay
unchanged."""
_PART_FOLDERS = ("buckets/", "corpus/")
_REGULAR_FILE_MODES = frozenset({"100644", "100755"})
_MAX_TOTAL_BYTES = 1 << 30
"""Maximum size of all files together."""
_MAX_HEADER = 200
_COMMAND_TIMEOUT_S = 300.0
_FETCH = ("--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--force")
_FIRST_WAIT_S = 0.05
_MAX_WAIT_S = 4.0
_MAX_FAILURES = 4
"""Maximum number of consecutive failures for which no other writer is the reason, because the tip
stays the same."""

_jitter = secrets.SystemRandom()


def _wait_s(attempts: int) -> float:
    """Return a random wait before the next attempt, in seconds, longer after more attempts."""
    return _jitter.uniform(0, min(_MAX_WAIT_S, _FIRST_WAIT_S * 2**attempts))


class GitBranchStore:
    """A store for a baseline on a git branch; see `FolderStore` for its files."""

    def __init__(self, location: GitBranch, *, retry_limit_s: float = 120.0) -> None:
        """Create a store, without access to the remote.

        Args:
            location: the remote and the branch.
            retry_limit_s: the time for which a change is retried, in seconds.
        """
        self._name = str(location)
        self._location = location
        self._ref = f"refs/heads/{location.branch}"
        self._retry_limit_s = retry_limit_s
        self._root = Path(tempfile.mkdtemp(prefix=scratch_prefix("baseline")))
        weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        self._git = Git(self._root / "repository", name=self._name, limit_s=_COMMAND_TIMEOUT_S)
        self._urls: tuple[str, str] | None = None
        self._github: GitHubBranch | None = None
        """Access by the REST API; None unless rules of GitHub have rejected a push."""
        self._tip = ""
        self._stored_blobs: dict[str, tuple[Stamp, str]] = {}
        """Stamp and git blob of each file that is stored in git, by the file's path."""
        self.folder = self._root / "files"
        """Folder with the files of the commit that was read last."""
        self._local = FolderStore(self.folder, name=self._name)

    def exists(self) -> bool:
        """Return whether the branch exists.

        Raises:
            BaselineError: if the remote cannot be read, or the branch does not contain a baseline.
        """
        self._read_tip()
        return bool(self._tip)

    def load(self) -> Records:
        """Return the records by fingerprint; none if the branch does not exist.

        Raises:
            BaselineError: if the remote cannot be read, or the baseline is malformed. Nothing is
                changed.
        """
        self._read_tip()
        return self._local.load()

    def save(self, records: Records, *, beside: ExtraFilesWriter | None = None) -> Records:
        """Merge the records with the records of the branch, push the result and return it.

        Raises:
            BaselineError: if the result cannot be pushed; the branch is unchanged.
        """
        return self.change(partial(merge, records), beside=beside)

    def change(self, transform: Change, *, beside: ExtraFilesWriter | None = None) -> Records:
        """Apply `transform` to the records of the branch, push the result and return it.

        Raises:
            BaselineError: if the result cannot be pushed; the branch is unchanged.
        """
        deadline = time.monotonic() + self._retry_limit_s
        failures = attempts = 0
        while True:
            tip = self._read_tip()
            self._tip = ""  # until the push succeeds, the files belong to no commit of the branch
            records = self._local.change(transform, beside=beside)
            commit = self._commit(tip, len(records))
            failure = self._write(commit, tip)
            if failure is None:
                return records
            failures = 0 if self._remote_tip() != tip else failures + 1
            attempts += 1
            min_wait_s = failure.wait_s if isinstance(failure, BusyError) else 0
            wait_s = max(_wait_s(attempts), min_wait_s)
            if failures == _MAX_FAILURES or time.monotonic() + wait_s > deadline:
                raise failure
            time.sleep(wait_s)

    def _read_tip(self) -> str:
        """Fetch and check out the branch's files if they changed; return the branch's commit.

        The result is empty if the branch does not exist.
        """
        tip = self._remote_tip()
        if not tip:
            self._checkout({})
        elif tip != self._tip:
            self._read_remote("fetch", *_FETCH, "--", self._url(), f"{self._ref}:{_TIP}")
            tip = self._git.text("rev-parse", "--verify", f"{_TIP}^{{commit}}")
            self._checkout(self._blobs(tip))
        self._tip = tip
        return tip

    def _remote_tip(self) -> str:
        """Return the commit of the remote branch; empty if it does not exist."""
        for line in self._read_remote(
            "ls-remote", "--refs", "--", self._url(), self._ref
        ).splitlines():
            commit, _, ref = line.partition("\t")
            if ref == self._ref:
                return commit
        return ""

    def _read_remote(self, *words: str) -> str:
        """Run a git command that only reads from the remote, with retries; return its output."""
        for attempts in range(1, _MAX_FAILURES):
            with suppress(GitError):
                return self._git.text(*words)
            time.sleep(_wait_s(attempts + _MAX_FAILURES))
        return self._git.text(*words)

    def _checkout(self, blobs: dict[str, str]) -> None:
        """Write the baseline's files into a new folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = Path(tempfile.mkdtemp(dir=self._root, prefix="files-"))
        self._local = FolderStore(self.folder, name=self._name)
        requests = "".join(f"{blob}\n" for blob in blobs.values())
        stream = memoryview(self._git.raw("cat-file", "--batch", given=requests) if blobs else b"")
        for file, blob in blobs.items():
            header = bytes(stream[:_MAX_HEADER]).partition(b"\n")[0]
            name, _, size = header.decode("ascii").partition(" blob ")
            if name != blob:
                msg = f"{file} cannot be read from git: {header!r}"
                raise self._error(msg)
            content = stream[len(header) + 1 :][: int(size)]
            path = self.folder / file
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
            stream = stream[len(header) + len(content) + 2 :]
        self._stored_blobs = {
            file: (file_stamp(self.folder / file), blob) for file, blob in blobs.items()
        }
        if part := _misplaced_part(self.folder):
            msg = f"{visible(part)} does not match the layout in {INDEX}"
            raise self._error(msg)

    def _blobs(self, tip: str) -> dict[str, str]:
        """Return the git blob of each baseline file in a commit, by the file's path.

        Raises:
            BaselineError: if a file is unexpected, or the files are too large.
        """
        listed = self._git.text("ls-tree", "-r", "-l", "-z", "--full-tree", tip)
        blobs: dict[str, str] = {}
        total = 0
        for entry in filter(None, listed.split("\0")):
            attributes, _, file = entry.partition("\t")
            mode, _, blob, size = attributes.split()
            if mode not in _REGULAR_FILE_MODES:
                msg = f"{visible(file)} is a link or a submodule, which a baseline must not have"
                raise self._error(msg)
            if _BASELINE_FILE.fullmatch(file):
                blobs[file] = blob
                total += int(size)
            elif file.startswith(_PART_FOLDERS) and ".json" in file:
                msg = f"{visible(file)} is not a valid name of a part"
                raise self._error(msg)
        if total > _MAX_TOTAL_BYTES:
            msg = f"the files of the baseline exceed {_MAX_TOTAL_BYTES} bytes"
            raise self._error(msg)
        if INDEX not in blobs:
            msg = f"the branch contains no baseline: {INDEX} is missing. Name another branch"
            raise self._error(msg)
        return blobs

    def _commit(self, tip: str, count: int) -> str:
        """Commit the current files on top of `tip`, and return the commit; `tip` if unchanged.

        Args:
            tip: the parent commit; empty if the branch does not exist.
            count: the number of buckets, for the commit message.
        """
        paths = {
            path.relative_to(self.folder).as_posix(): path for path in self.folder.rglob("*.*")
        }
        stamps = {
            file: file_stamp(path) for file, path in paths.items() if _BASELINE_FILE.fullmatch(file)
        }
        changed = [file for file in sorted(stamps) if not self._is_stored(file, stamps[file])]
        removed = self._stored_blobs.keys() - stamps
        if tip and not changed and not removed:
            return tip
        index = {"GIT_INDEX_FILE": str(self._root / "index")}
        git = self._git
        listed = "".join(f"{self.folder / file}\n" for file in changed)
        hashes = git.text(
            "hash-object", "-w", "--no-filters", "--stdin-paths", given=listed
        ).split()
        entries = [
            *(f"0 {'0' * 40}\t{file}\0" for file in sorted(removed)),
            *(f"100644 {blob}\t{file}\0" for blob, file in zip(hashes, changed, strict=True)),
        ]
        for blob, file in zip(hashes, changed, strict=True):
            self._stored_blobs[file] = (stamps[file], blob)
        for file in removed:
            del self._stored_blobs[file]
        git.text("read-tree", *((tip,) if tip else ("--empty",)), variables=index)
        git.text("update-index", "-z", "--index-info", given="".join(entries), variables=index)
        tree = git.text("write-tree", variables=index)
        if tip and tree == git.text("rev-parse", f"{tip}^{{tree}}"):
            return tip
        parents = ("-p", tip) if tip else ()
        return git.text("commit-tree", tree, *parents, given=f"Baseline of {count} buckets\n")

    def _is_stored(self, file: str, current: Stamp) -> bool:
        return file in self._stored_blobs and self._stored_blobs[file][0] == current

    def _write(self, commit: str, tip: str) -> BaselineError | None:
        """Move the branch to `commit` if it is still at `tip`.

        Returns:
            None after success, else the error, if a retry may succeed.

        Raises:
            BaselineError: if a retry is useless.
        """
        if commit == tip:
            self._tip = tip
            return None
        if self._github is None:
            failure = self._push(commit, tip)
            if failure is None or not is_refused_by_rules(failure):
                return failure
            self._github = self._github_branch(failure)
        return self._write_by_api(self._github, commit, tip)

    def _push(self, commit: str, tip: str) -> GitError | None:
        """Push a commit if the branch is still at `tip`; return the error, or None."""
        lease = f"--force-with-lease={self._ref}:{tip}"
        words = ("--quiet", "--porcelain", "--no-verify", lease)
        try:
            self._git.text("push", *words, "--", self._url(push=True), f"{commit}:{self._ref}")
        except GitError as failure:
            if self._remote_tip() != commit:
                return failure
            # The push succeeded, and only its response was lost.
        self._tip = commit
        return None

    def _write_by_api(self, github: GitHubBranch, commit: str, tip: str) -> BusyError | None:
        created = ""
        try:
            created = github.create_commit(self._git, commit, tip)
            github.move(created, tip)
        except BusyError as failure:
            # The tip stays unknown, because GitHub's commit is not in the local repository.
            return None if created and self._remote_tip() == created else failure
        return None

    def _github_branch(self, push_error: GitError) -> GitHubBranch:
        """Return access to the branch by the REST API after a rejected push.

        Raises:
            BaselineError: if the remote is not on GitHub; the message says what to change.
        """
        branch = self._location.branch
        repository = repository_behind(self._url(push=True), os.environ)
        if repository is None:
            msg = f"{push_error} {permission(branch)}"
            raise BaselineError(msg)
        return GitHubBranch(repository, branch, refusal=push_error, location=self._name)

    def _url(self, *, push: bool = False) -> str:
        """Return the URL to fetch from, or to push to.

        The first call creates the local repository.
        """
        if self._urls is None:
            self._git.init()
            self._git.text("check-ref-format", self._ref)
            self._urls = self._resolve_urls()
        return self._urls[push]

    def _resolve_urls(self) -> tuple[str, str]:
        remote = self._location.remote
        if not self._location.is_named:
            return remote, remote
        git = self._git
        urls = (
            git.outside("remote", "get-url", remote),
            git.outside("remote", "get-url", "--push", remote),
        )
        git.logins = tuple(_login_settings(git))
        return urls

    def _error(self, reason: str) -> BaselineError:
        return BaselineError(f"{self._name}: {reason}. The branch is unchanged.")


def _misplaced_part(folder: Path) -> str:
    """Return the path of a file that does not match the layout; empty if there is none.

    A complete commit has no such file.
    """
    try:
        layout = stored_layout(folder)
    except ValueError:
        return ""  # the reader reports the malformed header
    if layout is None or layout.schema != SCHEMA:
        return ""
    return next((path.relative_to(folder).as_posix() for path in leftovers(folder, layout)), "")


def _login_settings(git: Git) -> list[tuple[str, str]]:
    """Return the HTTP headers with credentials in the current repository's git settings.

    `actions/checkout` stores its token in such a header. Other settings are not used, because some
    of them run commands.

    Returns:
        Pairs of a setting's key and value.
    """
    pattern = r"^http\.(.*\.)?extraheader$"
    try:
        listed = git.outside("config", "--local", "--includes", "-z", "--get-regexp", pattern)
    except GitError:
        return []  # there is no such setting
    pairs = (entry.partition("\n") for entry in filter(None, listed.split("\0")))
    return [(key, value) for key, _, value in pairs]
