"""What campaigns have learned from outcomes, kept beside a target's constraints and used again.

    <environment>/experience-<library>-<digest>.jsonl     one snapshot per state of knowledge
    <baseline>/experience-<library>-<digest>.jsonl        those that the baseline's runs began with
    <out>/experience-<library>.jsonl                      the snapshot that a run began with

A snapshot is named by its content, and a run names the one it used: the same snapshot, seed and
targets give the same cases. So that a run that repeats the one that made the baseline meets the
same cases, it begins with the same snapshot, however much was learned since, on any machine.
"""

from __future__ import annotations

import hashlib
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.errors import BaselineError, ConstraintsFileError, OutputError
from ciguard.files import replace_file
from ciguard.knowledge import experience_lines, read_experience

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ciguard.knowledge import Experience
    from ciguard.targets import Environment

log = logging.getLogger(__name__)

_MAX_KEPT = 8


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was known from outcomes when a run began."""

    digest: str = ""
    """Names it by its content; empty for nothing."""
    learned: Mapping[str, Experience] = field(default_factory=dict)


class ExperienceStore:
    """The snapshots of one library in one environment; none where the library may change."""

    def __init__(
        self, environment: Environment, *, baseline: Path | None = None, is_shared: bool = True
    ) -> None:
        """Find the snapshots in an environment and, if given, in the folder of a baseline.

        Args:
            environment: which may be used by many campaigns, at the same time too.
            baseline: folder of a baseline.
            is_shared: whether what campaigns leave in the environment counts. It does not for the
                parts of one, which begin alike on any machine and at any time.
        """
        self._library = environment.library.name
        is_fixed = is_shared and not environment.target.is_current
        self._folder = environment.root if is_fixed else None
        self._baseline = baseline

    def choose(self, is_explored: Callable[[str], bool]) -> Snapshot:
        """Return the snapshot to begin with.

        Args:
            is_explored: tells for a digest, or for nothing at all, whether the baseline was made
                by a run that began with it.
        """
        own = _paths(self._folder, self._library)
        for path in (*_paths(self._baseline, self._library), *own):
            if is_explored(_digest_of(path)):
                return _read(path)
        return Snapshot() if is_explored("") or not own else _read(own[0])

    def save(self, learned: Mapping[str, Experience]) -> str:
        """Keep what is known now, and return its digest; nothing is kept of nothing."""
        if self._folder is None or not learned:
            return ""
        text = "".join(experience_lines(self._library, learned))
        digest = _digest(text)
        try:
            _write(self._folder, self._library, text)
        except OSError as error:  # a cache that is mounted read-only or full serves as well
            log.warning("%s: what was learned is not kept: %s", self._folder, error)
        return digest


def keep_explored(baseline: Path, library: str, used: Snapshot) -> None:
    """Keep with a baseline what one of its runs began with.

    Raises:
        BaselineError: if it cannot be written.
    """
    if not used.digest:
        return
    try:
        baseline.mkdir(parents=True, exist_ok=True)
        _write(baseline, library, "".join(experience_lines(library, used.learned)))
    except OSError as error:
        msg = f"{baseline}: cannot be written: {error.strerror}. Free space or correct its rights."
        raise BaselineError(msg) from error


def _write(folder: Path, library: str, text: str) -> None:
    """Write a snapshot whole, or make the one that is there the newest again; drop old ones."""
    path = folder / f"experience-{library}-{_digest(text)}.jsonl"
    if path.exists():
        path.touch()
    else:
        replace_file(path, text)
    for old in _paths(folder, library)[_MAX_KEPT:]:
        old.unlink(missing_ok=True)


def _paths(folder: Path | None, library: str) -> list[Path]:
    """Return the files of snapshots in a folder, the newest first."""
    if folder is None:
        return []
    found = []
    for path in folder.glob(f"experience-{library}-*.jsonl"):
        with suppress(FileNotFoundError):  # another run has just removed it
            found.append((-path.stat().st_mtime_ns, path.name, path))
    return [path for *_, path in sorted(found)]


def _digest_of(path: Path) -> str:
    return path.stem.rpartition("-")[2]


def _read(path: Path) -> Snapshot:
    """Read a snapshot that may be damaged: then it is learned anew."""
    try:
        found = read_snapshot(path)
    except ConstraintsFileError as error:
        log.warning("%s", error)
        return Snapshot()
    if found.digest != _digest_of(path):
        log.warning("%s: not what its name says. Remove it; it is learned anew.", path)
        return Snapshot()
    return found


def read_snapshot(path: Path) -> Snapshot:
    """Read a snapshot.

    Raises:
        ConstraintsFileError: if it is missing or damaged; names the file.
    """
    try:
        text = path.read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {error}. Remove it; it is learned anew."
        raise ConstraintsFileError(msg) from error
    return snapshot_of(text, name=str(path))


def snapshot_of(text: str, *, name: str) -> Snapshot:
    """Return the snapshot that a text holds.

    Raises:
        ConstraintsFileError: if it is damaged; names it.
        UnicodeEncodeError: if no ciguard wrote it.
    """
    return Snapshot(_digest(text), read_experience(text.splitlines(), name=name))


def note_used(folder: Path, library: str, used: Snapshot) -> None:
    """Keep in a run's folder what the run began with, so that it can be resumed and repeated.

    Raises:
        OutputError: if it cannot be written.
    """
    path = used_file(folder, library)
    try:
        if used.digest:
            path.write_text("".join(experience_lines(library, used.learned)), "ascii")
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        msg = f"{path}: cannot be written: {error.strerror}. Choose another folder with --out."
        raise OutputError(msg) from error


def recall_used(folder: Path, library: str, digest: str) -> Snapshot:
    """Return what a run that is resumed began with.

    Raises:
        OutputError: if its folder does not hold that any more.
    """
    if not digest:
        return Snapshot()
    path = used_file(folder, library)
    try:
        used = read_snapshot(path)
    except ConstraintsFileError as error:
        msg = f"{error} The run began with it; start anew without --resume."
        raise OutputError(msg) from error
    if used.digest != digest:
        msg = f"{path}: not what the run began with ({digest}). Start anew without --resume."
        raise OutputError(msg)
    return used


def used_file(folder: Path, library: str) -> Path:
    """Return where a run keeps what it began with."""
    return folder / f"experience-{library}.jsonl"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]
