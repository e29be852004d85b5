"""Parts as files: what other machines have left, read as if an enemy had written it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.campaign.experience import Snapshot, snapshot_of, used_file
from ciguard.campaign.parameters import having_shared
from ciguard.campaign.scripts import has_script, site_elsewhere, text_of
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
    """What the folder of one run, or of one merge, holds."""

    name: str
    parts: tuple[Part, ...] = ()
    gaps: tuple[Gap, ...] = ()
    """What was missing, where it is a merge."""
    broken: tuple[str, ...] = ()
    """Why some or all of it cannot be read."""
    snapshots: Mapping[tuple[str, str], Snapshot] = field(default_factory=dict)
    """By library and digest: what runs began with."""


def read_folder(path: Path) -> Folder:
    """Return what a result folder holds; whatever is wrong with it is said, not raised."""
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
    """Yield what each line of a file holds, or what is wrong with it.

    Raises:
        OSError: if the file cannot be opened.
        ValueError: if it or a line is too large, or it is not a regular file's text.
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
    """Return what a line holds.

    Raises:
        ValueError: if it is nothing, or a part that nothing can be done with.
    """
    try:
        part = line_from_json(parse_json(line))
        if isinstance(part, Gap):
            return part
        having_shared(Config(), part.campaign)
        sites = {target.name: site_elsewhere(target) for target in part.ran}
        for bucket in part.buckets:
            # What later steps do with it: an object of odd types shows itself here.
            simplicity(bucket.finding.case)
            fingerprint(bucket.finding)
            if has_script(bucket):
                text_of(bucket, sites)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        message = f"not a part of a campaign ({error!r:.200})"
        raise ValueError(message) from error
    return part


def _snapshots(path: Path, parts: list[Part]) -> dict[tuple[str, str], Snapshot]:
    """Return what the runs began with, as far as the folder holds just that."""
    found = {}
    for library in {target.library for part in parts for target in part.ran}:
        with suppress(OSError, ValueError, ConstraintsFileError):  # a run may begin with nothing
            file = used_file(path, library)
            snapshot = snapshot_of(read_text(file, most=_MAX_SNAPSHOT), name=file.name)
            found[library, snapshot.digest] = snapshot
    return found
