"""Images that were found once: a folder that grows, and that `LabelledFolder` reads.

    <folder>/<label>/<digest>.jpg
            /SOURCES.csv    file, licence, url, creator
            /SEARCHES.csv   label, search, images: how many have been looked for

The row of a file is written before the file and both as a whole: whenever somebody stops this, what
is there can be used, and nothing is there of which nobody knows the licence.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filelock import FileLock

from ciguard.errors import ConfigurationError
from ciguard.files import replace_file
from ciguard.levels.app.input_synthesis.inputs import digest_of
from ciguard.levels.app.input_synthesis.sources import (
    NAME,
    FileCredit,
    is_own,
    read_sources,
    write_sources,
)
from ciguard.levels.app.input_synthesis.variants import alike

if TYPE_CHECKING:
    from pathlib import Path

_SEARCHES = "SEARCHES.csv"
_COLUMNS = ("label", "search", "images")
_MAX_NAME_LENGTH = 200
"""Bytes; file systems take 255."""


def folder_name(label: str) -> str:
    """Return the name of a label's folder; empty for one that no folder can be named after."""
    if not label.isprintable():
        return ""
    spaced = alike(label).replace(" ", "_")
    name = re.sub(r"\W", lambda found: "".join(f"%{one:02X}" for one in found[0].encode()), spaced)
    return name if len(name.encode()) <= _MAX_NAME_LENGTH else ""


@dataclass(frozen=True, slots=True)
class KeptImages:
    """Such a folder. Its methods but `lock` are called under the lock, and raise `OSError`."""

    root: Path

    def lock(self) -> FileLock:
        """Return the lock that whoever adds to the folder holds.

        Raises:
            OSError: if the folder cannot be made.
            ConfigurationError: if it is somebody's own, whose sources tell more.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        if not is_own(self.root):
            msg = f"{self.root / NAME}: not written by ciguard. Name another folder with --cache."
            raise ConfigurationError(msg)
        return FileLock(self.root / ".lock")

    def of(self, label: str) -> dict[str, FileCredit]:
        """Return the images of a label that are there, by their names."""
        inside = f"{folder_name(label)}/"
        return {
            name: source
            for name, source in read_sources(self.root).items()
            if name.startswith(inside) and (self.root / name).is_file()
        }

    def keep(self, label: str, content: bytes, source: FileCredit) -> None:
        """Add an image, a JPEG file."""
        name = f"{folder_name(label)}/{digest_of(content)[:16]}.jpg"
        file = self.root / name
        file.parent.mkdir(exist_ok=True)
        write_sources(self.root, {**read_sources(self.root), name: source})
        replace_file(file, content)

    def looked_for(self, label: str, search: str) -> int:
        """Return how many images of a label a search was asked for, to its end."""
        return self._searches().get((alike(label), search), 0)

    def note(self, label: str, search: str, images: int) -> None:
        """Note that a search was asked for so many."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(_COLUMNS)
        known = {**self._searches(), (alike(label), search): images}
        rows.writerows((*key, count) for key, count in known.items())
        replace_file(self.root / _SEARCHES, text.getvalue())

    def _searches(self) -> dict[tuple[str, str], int]:
        """Return what was noted; what is damaged is looked for again."""
        file = self.root / _SEARCHES
        if not file.is_file():
            return {}
        rows = csv.reader(file.read_text("utf-8", "replace").splitlines()[1:])
        return {
            (row[0], row[1]): int(row[2])
            for row in rows
            if len(row) == len(_COLUMNS) and re.fullmatch("[0-9]{1,6}", row[2])
        }
