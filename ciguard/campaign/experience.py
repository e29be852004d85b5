"""What campaigns have learned from outcomes, kept beside a target's constraints and used again.

    <environment>/experience-<library>-<digest>.jsonl     one snapshot per state of knowledge
    <out>/experience-<library>.jsonl                      the snapshot that a run began with

A snapshot is named by its content, and a run names the one it used: the same snapshot, seed and
targets give the same cases. So that a run that repeats the one that made the baseline meets the
same cases, it begins with the same snapshot, however much was learned since.
"""

from __future__ import annotations

import hashlib
import logging
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.errors import ConstraintsFileError, OutputError
from ciguard.knowledge import experience_lines, read_experience

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ciguard.knowledge import Experience
    from ciguard.targets import Environment

log = logging.getLogger(__name__)

_MOST_KEPT = 8


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was known from outcomes when a run began."""

    digest: str = ""
    """Names it by its content; empty for nothing."""
    learned: Mapping[str, Experience] = field(default_factory=dict)


class ExperienceStore:
    """The snapshots of one library in one environment; none where the library may change."""

    def __init__(self, environment: Environment) -> None:
        self._library = environment.library.name
        self._folder = None if environment.target.is_current else environment.root

    def choose(self, is_explored: Callable[[str], bool]) -> Snapshot:
        """Return the snapshot to begin with.

        Args:
            is_explored: tells for a digest, or for nothing at all, whether the baseline was made
                by a run that began with it.
        """
        digests = [path.stem.rpartition("-")[2] for path in self._paths()]
        for digest in (*digests, ""):
            if is_explored(digest):
                return self._read(digest)
        return self._read(digests[0] if digests else "")

    def save(self, learned: Mapping[str, Experience]) -> str:
        """Keep what is known now, and return its digest; nothing is kept of nothing."""
        if self._folder is None or not learned:
            return ""
        text = "".join(experience_lines(self._library, learned))
        digest = _digest(text)
        path = self._folder / f"experience-{self._library}-{digest}.jsonl"
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            if path.exists():
                path.touch()  # the newest again
            else:
                part.write_text(text, "ascii")
                part.replace(path)
            for old in self._paths()[_MOST_KEPT:]:
                old.unlink(missing_ok=True)
        except OSError as error:  # a cache that is mounted read-only or full serves as well
            log.warning("%s: what was learned is not kept: %s", path, error)
        return digest

    def _paths(self) -> list[Path]:
        """Return the files of snapshots, the newest first."""
        if self._folder is None:
            return []
        found = list(self._folder.glob(f"experience-{self._library}-*.jsonl"))
        return sorted(found, key=lambda path: (-path.stat().st_mtime_ns, path.name))

    def _read(self, digest: str) -> Snapshot:
        if not digest or self._folder is None:
            return Snapshot()
        path = self._folder / f"experience-{self._library}-{digest}.jsonl"
        try:
            return read_snapshot(path)
        except ConstraintsFileError as error:
            log.warning("%s", error)
            return Snapshot()


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
    return Snapshot(_digest(text), read_experience(text.splitlines(), name=str(path)))


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
