"""Experience that campaigns gain from outcomes, stored in snapshots for later campaigns.

    <environment>/experience-<library>-<digest>.jsonl     all recent snapshots
    <baseline>/experience-<library>-<digest>.jsonl        initial snapshots of the baseline's runs
    <out>/experience-<library>.jsonl                      initial snapshot of a run

A snapshot is identified by its digest, and a run records the digest of its initial snapshot. The
same snapshot, seed and targets give the same cases. So a run that repeats the one that established
the baseline begins with the same snapshot, on any machine, even if newer ones exist.
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

_MAX_SNAPSHOTS = 8


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Experience at a point in time."""

    digest: str = ""
    """Digest of the content; empty if there is no experience."""
    learned: Mapping[str, Experience] = field(default_factory=dict)
    """Experience by API."""


class ExperienceStore:
    """Snapshots of one library in one environment; none if the library may change."""

    def __init__(
        self, environment: Environment, *, baseline: Path | None = None, is_shared: bool = True
    ) -> None:
        """Find the snapshots in an environment and, if given, in the folder of a baseline.

        Args:
            environment: environment of the target; campaigns may share it at the same time.
            baseline: folder of a baseline; None for none.
            is_shared: whether to use the snapshots in the environment. Shards do not, as they must
                begin equally on all machines.
        """
        self._library = environment.library.name
        is_fixed = is_shared and not environment.target.is_current
        self._folder = environment.root if is_fixed else None
        self._baseline = baseline

    def choose(self, is_explored: Callable[[str], bool]) -> Snapshot:
        """Return the initial snapshot of a run.

        Args:
            is_explored: returns whether a run of the baseline began with the snapshot of a digest,
                or with none for an empty string.
        """
        recent = _paths(self._folder, self._library)
        for path in (*_paths(self._baseline, self._library), *recent):
            if is_explored(_digest_of(path)):
                return _read(path)
        return Snapshot() if is_explored("") or not recent else _read(recent[0])

    def save(self, learned: Mapping[str, Experience]) -> str:
        """Store a snapshot and return its digest; empty if nothing is stored."""
        if self._folder is None or not learned:
            return ""
        text = "".join(experience_lines(self._library, learned))
        digest = _digest(text)
        try:
            _write(self._folder, self._library, text)
        except OSError as error:  # a cache that is read-only or full is not an error
            log.warning("%s: the experience of this run is not stored: %s", self._folder, error)
        return digest


def keep_in_baseline(baseline: Path, library: str, snapshot: Snapshot) -> None:
    """Store the initial snapshot of a run in the baseline's folder.

    Raises:
        BaselineError: if it cannot be written.
    """
    if not snapshot.digest:
        return
    try:
        baseline.mkdir(parents=True, exist_ok=True)
        _write(baseline, library, "".join(experience_lines(library, snapshot.learned)))
    except OSError as error:
        msg = (
            f"{baseline}: cannot be written: {error.strerror}. "
            "Free some space or correct its permissions."
        )
        raise BaselineError(msg) from error


def _write(folder: Path, library: str, text: str) -> None:
    """Write a snapshot, or mark the existing one as the newest; remove old ones."""
    path = folder / f"experience-{library}-{_digest(text)}.jsonl"
    if path.exists():
        path.touch()
    else:
        replace_file(path, text)
    for old in _paths(folder, library)[_MAX_SNAPSHOTS:]:
        old.unlink(missing_ok=True)


def _paths(folder: Path | None, library: str) -> list[Path]:
    """Return the paths of the snapshots in a folder, the newest first."""
    if folder is None:
        return []
    entries = []
    for path in folder.glob(f"experience-{library}-*.jsonl"):
        with suppress(FileNotFoundError):  # another run has just removed it
            entries.append((-path.stat().st_mtime_ns, path.name, path))
    return [path for *_, path in sorted(entries)]


def _digest_of(path: Path) -> str:
    return path.stem.rpartition("-")[2]


def _read(path: Path) -> Snapshot:
    """Read a snapshot; return an empty one if it is damaged."""
    try:
        snapshot = read_snapshot(path)
    except ConstraintsFileError as error:
        log.warning("%s", error)
        return Snapshot()
    if snapshot.digest != _digest_of(path):
        log.warning("%s: does not match the digest in its name. Remove it.", path)
        return Snapshot()
    return snapshot


def read_snapshot(path: Path) -> Snapshot:
    """Read a snapshot.

    Raises:
        ConstraintsFileError: if it is missing or damaged; names the file.
    """
    try:
        text = path.read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {error}. Delete it; campaigns learn its content again."
        raise ConstraintsFileError(msg) from error
    return snapshot_of(text, name=str(path))


def snapshot_of(text: str, *, name: str) -> Snapshot:
    """Parse a snapshot.

    Raises:
        ConstraintsFileError: if the text is malformed; names the file.
        UnicodeEncodeError: if the text is not ASCII.
    """
    return Snapshot(_digest(text), read_experience(text.splitlines(), name=name))


def write_run_snapshot(folder: Path, library: str, snapshot: Snapshot) -> None:
    """Write the initial snapshot of a run to its folder, so that it can be resumed and repeated.

    Raises:
        OutputError: if it cannot be written.
    """
    path = run_snapshot_file(folder, library)
    try:
        if snapshot.digest:
            path.write_text("".join(experience_lines(library, snapshot.learned)), "ascii")
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        msg = f"{path}: cannot be written: {error.strerror}. Choose another folder with --out."
        raise OutputError(msg) from error


def read_run_snapshot(folder: Path, library: str, digest: str) -> Snapshot:
    """Return the initial snapshot of the run to resume.

    Raises:
        OutputError: if the snapshot in its folder is missing or different.
    """
    if not digest:
        return Snapshot()
    path = run_snapshot_file(folder, library)
    try:
        snapshot = read_snapshot(path)
    except ConstraintsFileError as error:
        msg = f"{error} The run to resume needs it; start a new run without --resume."
        raise OutputError(msg) from error
    if snapshot.digest != digest:
        msg = f"{path}: not the run's snapshot {digest}. Start a new run without --resume."
        raise OutputError(msg)
    return snapshot


def run_snapshot_file(folder: Path, library: str) -> Path:
    """Return the path of a run's initial snapshot."""
    return folder / f"experience-{library}.jsonl"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]
