"""A baseline on a branch of a git repository, pushed so that no job loses another's update.

Every store has a bare repository of its own in a temporary folder, so nothing is shared with other
processes but the remote, and a process that is killed leaves nothing behind that could hinder. A
change is made on the tip of the branch, committed on top of it, and pushed on the condition that
the tip is still the same; otherwise all of it is done again. Where rules of GitHub refuse every
push, `github_branch` writes the same commit.
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
from ciguard.files import stamp

if TYPE_CHECKING:
    from ciguard.baseline.comparison import Records
    from ciguard.baseline.store import Beside, Change
    from ciguard.config import GitBranch
    from ciguard.files import Stamp

_TIP = "refs/ciguard/tip"
_OWN = re.compile(
    r"(?:buckets|corpus|outbox|runs)\.jsonl|(?:frontier|badge)\.json|index\.html|experience-[\w.-]{1,100}\.jsonl"
    r"|(?:buckets|corpus)/[\w-]{1,60}\.jsonl?",
    re.ASCII,
)
"""Files of a baseline. Others on the branch, such as a README, stay as they are."""
_PARTS = ("buckets/", "corpus/")
_REGULAR = frozenset({"100644", "100755"})
_MAX_BYTES = 1 << 30
"""Of all files together, and of each."""
_MAX_HEADER = 200
_COMMAND_S = 300.0
_FETCH = ("--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--force")
_FIRST_WAIT_S = 0.05
_MAX_WAIT_S = 4.0
_MAX_FAILURES = 4
"""Refusals in a row while nobody else moves the branch: then it is no race."""

_jitter = secrets.SystemRandom()


def _wait_s(tries: int) -> float:
    return _jitter.uniform(0, min(_MAX_WAIT_S, _FIRST_WAIT_S * 2**tries))


class GitBranchStore:
    """A baseline on a branch; see `FolderStore` for its files."""

    def __init__(self, location: GitBranch, *, patience_s: float = 120.0) -> None:
        """Name the branch; nothing is fetched yet.

        Args:
            location: remote and branch.
            patience_s: how long a change is tried again while others are faster.
        """
        self._name = str(location)
        self._location = location
        self._ref = f"refs/heads/{location.branch}"
        self._patience_s = patience_s
        self._root = Path(tempfile.mkdtemp(prefix="ciguard-baseline-"))
        weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        self._git = Git(self._root / "repository", name=self._name, limit_s=_COMMAND_S)
        self._urls: tuple[str, str] | None = None
        self._github: GitHubBranch | None = None
        """What writes the branch once a push was refused by rules."""
        self._tip = ""
        self._kept: dict[str, tuple[Stamp, str]] = {}
        """What git has of the files: the stamp of each, and the object that holds it."""
        self.folder = self._root / "files"
        """The files of the tip that was read last."""
        self._here = FolderStore(self.folder, name=self._name)

    def exists(self) -> bool:
        """Return whether the branch is there.

        Raises:
            BaselineError: if the remote cannot be asked, or the branch holds something else.
        """
        self._read_tip()
        return bool(self._tip)

    def load(self) -> Records:
        """Return the records by fingerprint; none where there is no branch yet.

        Raises:
            BaselineError: if the remote cannot be asked, or what the branch holds is not to be
                trusted. Nothing is changed.
        """
        self._read_tip()
        return self._here.load()

    def save(self, records: Records, *, beside: Beside | None = None) -> Records:
        """Merge the records with those of the branch, push that and return it.

        Raises:
            BaselineError: if it cannot be pushed; the branch is left as it is.
        """
        return self.change(partial(merge, records), beside=beside)

    def change(self, changed: Change, *, beside: Beside | None = None) -> Records:
        """Push what `changed` makes of the records of the branch, and return it.

        Raises:
            BaselineError: if it cannot be pushed; the branch is left as it is.
        """
        until = time.monotonic() + self._patience_s
        failures = tries = 0
        while True:
            tip = self._read_tip()
            self._tip = ""  # what is done to its files now is of no use unless it is pushed
            records = self._here.change(changed, beside=beside)
            commit = self._commit(tip, len(records))
            refusal = self._write(commit, tip)
            if refusal is None:
                return records
            failures = 0 if self._ask() != tip else failures + 1
            tries += 1
            wait_s = max(_wait_s(tries), refusal.wait_s if isinstance(refusal, BusyError) else 0)
            if failures == _MAX_FAILURES or time.monotonic() + wait_s > until:
                raise refusal
            time.sleep(wait_s)

    def _read_tip(self) -> str:
        """Bring the files of the branch here, if they are not, and return the commit."""
        tip = self._ask()
        if not tip:
            self._use({})
        elif tip != self._tip:
            self._talk("fetch", *_FETCH, "--", self._url(), f"{self._ref}:{_TIP}")
            tip = self._git.text("rev-parse", "--verify", f"{_TIP}^{{commit}}")
            self._use(self._blobs(tip))
        self._tip = tip
        return tip

    def _ask(self) -> str:
        """Return the commit that the branch is at, empty where there is no such branch."""
        for line in self._talk("ls-remote", "--refs", "--", self._url(), self._ref).splitlines():
            commit, _, ref = line.partition("\t")
            if ref == self._ref:
                return commit
        return ""

    def _talk(self, *words: str) -> str:
        """Return what a command prints that only reads from the remote, and may be repeated."""
        for tries in range(1, _MAX_FAILURES):
            with suppress(GitError):
                return self._git.text(*words)
            time.sleep(_wait_s(tries + _MAX_FAILURES))
        return self._git.text(*words)

    def _use(self, blobs: dict[str, str]) -> None:
        """Write files of the baseline into a new folder: no link, no other name."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = Path(tempfile.mkdtemp(dir=self._root, prefix="files-"))
        self._here = FolderStore(self.folder, name=self._name)
        given = "".join(f"{blob}\n" for blob in blobs.values())
        stream = memoryview(self._git.raw("cat-file", "--batch", given=given) if blobs else b"")
        for file, blob in blobs.items():
            header = bytes(stream[:_MAX_HEADER]).partition(b"\n")[0]
            said, _, size = header.decode("ascii").partition(" blob ")
            if said != blob:
                msg = f"{file} cannot be read: {header!r}"
                raise self._refusal(msg)
            content = stream[len(header) + 1 :][: int(size)]
            path = self.folder / file
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
            stream = stream[len(header) + len(content) + 2 :]
        self._kept = {file: (stamp(self.folder / file), blob) for file, blob in blobs.items()}
        if left := _not_of_its_layout(self.folder):
            msg = f"{visible(left)} is not of the layout that {INDEX} names"
            raise self._refusal(msg)

    def _blobs(self, tip: str) -> dict[str, str]:
        """Return the files of a commit that are a baseline's; refuse what no baseline has."""
        listed = self._git.text("ls-tree", "-r", "-l", "-z", "--full-tree", tip)
        blobs: dict[str, str] = {}
        total = 0
        for entry in filter(None, listed.split("\0")):
            about, _, file = entry.partition("\t")
            mode, _, blob, size = about.split()
            if mode not in _REGULAR:
                msg = f"{visible(file)} is a link or a repository, which no baseline has"
                raise self._refusal(msg)
            if _OWN.fullmatch(file):
                blobs[file] = blob
                total += int(size)
            elif file.startswith(_PARTS) and ".json" in file:
                msg = f"{visible(file)} is in a place of parts, and none"
                raise self._refusal(msg)
        if total > _MAX_BYTES:
            msg = f"the files of the baseline hold more than {_MAX_BYTES} bytes"
            raise self._refusal(msg)
        if INDEX not in blobs:
            msg = f"this branch holds no baseline, for it has no {INDEX}. Name another"
            raise self._refusal(msg)
        return blobs

    def _commit(self, tip: str, count: int) -> str:
        """Return a commit on top of `tip` with the files as they are; `tip` if nothing changed."""
        every = {
            path.relative_to(self.folder).as_posix(): path for path in self.folder.rglob("*.*")
        }
        stamps = {file: stamp(path) for file, path in every.items() if _OWN.fullmatch(file)}
        changed = [file for file in sorted(stamps) if not self._is_kept(file, stamps[file])]
        gone = self._kept.keys() - stamps
        if tip and not changed and not gone:
            return tip
        index = {"GIT_INDEX_FILE": str(self._root / "index")}
        git = self._git
        paths = "".join(f"{self.folder / file}\n" for file in changed)
        hashes = git.text("hash-object", "-w", "--no-filters", "--stdin-paths", given=paths).split()
        entries = [
            *(f"0 {'0' * 40}\t{file}\0" for file in sorted(gone)),
            *(f"100644 {blob}\t{file}\0" for blob, file in zip(hashes, changed, strict=True)),
        ]
        self._kept |= {f: (stamps[f], blob) for blob, f in zip(hashes, changed, strict=True)}
        for file in gone:
            del self._kept[file]
        git.text("read-tree", *((tip,) if tip else ("--empty",)), variables=index)
        git.text("update-index", "-z", "--index-info", given="".join(entries), variables=index)
        tree = git.text("write-tree", variables=index)
        if tip and tree == git.text("rev-parse", f"{tip}^{{tree}}"):
            return tip
        parents = ("-p", tip) if tip else ()
        return git.text("commit-tree", tree, *parents, given=f"Baseline of {count} buckets\n")

    def _is_kept(self, file: str, now: Stamp) -> bool:
        return file in self._kept and self._kept[file][0] == now

    def _write(self, commit: str, tip: str) -> BaselineError | None:
        """Move the branch if it is still at `tip`; return why that failed, if it may be repeated.

        Raises:
            BaselineError: if it cannot be repeated.
        """
        if commit == tip:
            self._tip = tip
            return None
        if self._github is None:
            refusal = self._push(commit, tip)
            if refusal is None or not is_refused_by_rules(refusal):
                return refusal
            self._github = self._behind_rules(refusal)
        return self._write_by_api(self._github, commit, tip)

    def _push(self, commit: str, tip: str) -> GitError | None:
        """Push a commit if the branch is still at `tip`; return why that failed, if it did."""
        lease = f"--force-with-lease={self._ref}:{tip}"
        words = ("--quiet", "--porcelain", "--no-verify", lease)
        try:
            self._git.text("push", *words, "--", self._url(push=True), f"{commit}:{self._ref}")
        except GitError as failure:
            if self._ask() != commit:
                return failure
            # An answer that got lost is no refusal.
        self._tip = commit
        return None

    def _write_by_api(self, github: GitHubBranch, commit: str, tip: str) -> BusyError | None:
        written = ""
        try:
            written = github.create_commit(self._git, commit, tip)
            github.move(written, tip)
        except BusyError as failure:
            # The tip stays unknown: GitHub's commit is not here, and is fetched when it is needed.
            return None if written and self._ask() == written else failure
        return None

    def _behind_rules(self, refusal: GitError) -> GitHubBranch:
        """Return what may write the branch although a push is refused.

        Raises:
            BaselineError: if nothing may; the message says what to change.
        """
        branch = self._location.branch
        repository = repository_behind(self._url(push=True), os.environ)
        if repository is None:
            msg = f"{refusal} {permission(branch)}"
            raise BaselineError(msg)
        return GitHubBranch(repository, branch, refusal=refusal, place=self._name)

    def _url(self, *, push: bool = False) -> str:
        """Return where to fetch from or push to. The first call prepares the repository."""
        if self._urls is None:
            self._git.init()
            self._git.text("check-ref-format", self._ref)
            self._urls = self._resolved()
        return self._urls[push]

    def _resolved(self) -> tuple[str, str]:
        remote = self._location.remote
        if not self._location.is_named:
            return remote, remote
        git = self._git
        urls = (
            git.outside("remote", "get-url", remote),
            git.outside("remote", "get-url", "--push", remote),
        )
        git.logins = tuple(_logins(git))
        return urls

    def _refusal(self, why: str) -> BaselineError:
        return BaselineError(f"{self._name}: {why}. The branch is left as it is.")


def _not_of_its_layout(folder: Path) -> str:
    """Return a part that no reader reads; a commit is whole, so no killed writer has left it."""
    try:
        layout = stored_layout(folder)
    except ValueError:
        return ""  # whoever reads it says so
    if layout is None or layout.schema != SCHEMA:
        return ""
    return next((path.relative_to(folder).as_posix() for path in leftovers(folder, layout)), "")


def _logins(git: Git) -> list[tuple[str, str]]:
    """Return the headers by which the repository at hand logs in; actions/checkout sets one.

    Nothing else of its configuration is taken over: some settings name commands.
    """
    pattern = r"^http\.(.*\.)?extraheader$"
    try:
        listed = git.outside("config", "--local", "--includes", "-z", "--get-regexp", pattern)
    except GitError:
        return []  # none is set
    pairs = (entry.partition("\n") for entry in filter(None, listed.split("\0")))
    return [(key, value) for key, _, value in pairs]
