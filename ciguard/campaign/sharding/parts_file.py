"""Files with parts of a campaign, read as untrusted input of other machines."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.campaign.experience import Snapshot, run_snapshot_file, snapshot_of
from ciguard.campaign.parameters import having_shared
from ciguard.campaign.scripts import has_script, remote_script_target, text_of
from ciguard.config import Config
from ciguard.domain.parts import PARTS_FILE, Gap, Part, line_from_json
from ciguard.domain.text import visible
from ciguard.errors import ConstraintsFileError
from ciguard.files import parse_json, read_lines, read_text
from ciguard.triage import fingerprint, simplicity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_MAX_BYTES = 1 << 28
_MAX_LINE = 1 << 26
_MAX_SNAPSHOT = 1 << 26
_MAX_PARTS = 4096


@dataclass(frozen=True, slots=True)
class Folder:
    """Content of the output folder of a run or a merge."""

    name: str
    """Path of the folder."""
    parts: tuple[Part, ...] = ()
    """Parts that were read."""
    gaps: tuple[Gap, ...] = ()
    """Missing parts, if it is the folder of a merge."""
    broken: tuple[str, ...] = ()
    """Reasons why some or all of it cannot be read."""
    snapshots: Mapping[tuple[str, str], Snapshot] = field(default_factory=dict)
    """Initial experience of runs, by library and digest."""


def read_folder(path: Path) -> Folder:
    """Read an output folder; errors are returned in `broken`, not raised."""
    name = visible(path.as_posix())
    if not path.is_dir():
        return Folder(name, broken=("there is no such folder",))
    parts: list[Part] = []
    gaps: list[Gap] = []
    broken = []
    try:
        for entry in _entries(path / PARTS_FILE):
            match entry:
                case Part():
                    parts.append(entry)
                case Gap():
                    gaps.append(entry)
                case _:
                    broken.append(entry)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        broken.append(f"{PARTS_FILE} cannot be read: {reason}")
    if not (parts or gaps or broken):
        broken.append(f"{PARTS_FILE} holds 0 parts")
    snapshots = _snapshots(path, parts)
    return Folder(name, tuple(parts), tuple(gaps), tuple(broken), snapshots)


def _entries(path: Path) -> Iterator[Part | Gap | str]:
    """Yield the entry in each line of a file, or an error message.

    Raises:
        OSError: if the file cannot be opened.
        ValueError: if the file or a line is too large, or it is not a regular text file.
    """
    lines = read_lines(path, max_bytes=_MAX_BYTES, max_line=_MAX_LINE)
    for number, line in enumerate(lines, start=1):
        if number > _MAX_PARTS:
            yield f"{PARTS_FILE} holds more than {_MAX_PARTS} parts"
            return
        if not line.endswith("\n"):
            yield f"{PARTS_FILE} is cut off"
            return
        try:
            yield _read(line)
        except ValueError as error:
            yield visible(f"{PARTS_FILE}, line {number}: {error}")


def _read(line: str) -> Part | Gap:
    """Parse a line.

    Raises:
        ValueError: if the line is malformed, or the part cannot be used.
    """
    try:
        part = line_from_json(parse_json(line))
        if isinstance(part, Gap):
            return part
        having_shared(Config(), part.campaign)
        script_targets = {target.name: remote_script_target(target) for target in part.ran}
        for bucket in part.buckets:
            # Do what later steps do, so that values of wrong types fail here.
            simplicity(bucket.finding.case)
            fingerprint(bucket.finding)
            if has_script(bucket):
                text_of(bucket, script_targets)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        message = f"not a part of a campaign ({error!r:.200})"
        raise ValueError(message) from error
    return part


def _snapshots(path: Path, parts: list[Part]) -> dict[tuple[str, str], Snapshot]:
    """Return the valid initial snapshots in the folder."""
    snapshots = {}
    for library in {target.library for part in parts for target in part.ran}:
        with suppress(OSError, ValueError, ConstraintsFileError):  # a run may have none
            file = run_snapshot_file(path, library)
            snapshot = snapshot_of(read_text(file, most=_MAX_SNAPSHOT), name=file.name)
            snapshots[library, snapshot.digest] = snapshot
    return snapshots
