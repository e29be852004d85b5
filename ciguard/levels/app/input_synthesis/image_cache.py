"""Cache of images that a search has found: a growing folder that `LabelledFolder` reads.

    <folder>/<label>/<digest>.jpg
            /SOURCES.csv    file, licence, url, creator
            /SEARCHES.csv   label, search, images: how many have been searched for

The row of a file is written before the file, and both atomically. So an interrupted run leaves a
usable folder, and no file without its licence.
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
from ciguard.levels.app.input_synthesis.variants import normalised_name

if TYPE_CHECKING:
    from pathlib import Path

_SEARCHES = "SEARCHES.csv"
_COLUMNS = ("label", "search", "images")
_MAX_NAME_LENGTH = 200
"""Maximum length of a name in bytes; file systems allow 255."""


def folder_name(label: str) -> str:
    """Return the name of a label's folder; empty if no folder can have such a name."""
    if not label.isprintable():
        return ""
    spaced = normalised_name(label).replace(" ", "_")
    name = re.sub(
        r"\W", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), spaced
    )
    return name if len(name.encode()) <= _MAX_NAME_LENGTH else ""


@dataclass(frozen=True, slots=True)
class ImageCache:
    """The folder. Its methods except `lock` require the lock, and raise `OSError`."""

    root: Path

    def lock(self) -> FileLock:
        """Return the lock for changes of the folder.

        Raises:
            OSError: if the folder cannot be created.
            ConfigurationError: if a user has written its sources, which may have other columns.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        if not is_own(self.root):
            msg = f"{self.root / NAME}: not written by ciguard. Choose another folder with --cache."
            raise ConfigurationError(msg)
        return FileLock(self.root / ".lock")

    def images_of(self, label: str) -> dict[str, FileCredit]:
        """Return the cached images of a label, by their names."""
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

    def searched_count(self, label: str, search: str) -> int:
        """Return the number of images of a label that a search was completed for."""
        return self._searches().get((normalised_name(label), search), 0)

    def record_search(self, label: str, search: str, images: int) -> None:
        """Record that a search for a number of images was completed."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(_COLUMNS)
        known = {**self._searches(), (normalised_name(label), search): images}
        rows.writerows((*key, count) for key, count in known.items())
        replace_file(self.root / _SEARCHES, text.getvalue())

    def _searches(self) -> dict[tuple[str, str], int]:
        """Return the recorded searches, without invalid rows."""
        file = self.root / _SEARCHES
        if not file.is_file():
            return {}
        rows = csv.reader(file.read_text("utf-8", "replace").splitlines()[1:])
        return {
            (row[0], row[1]): int(row[2])
            for row in rows
            if len(row) == len(_COLUMNS) and re.fullmatch("[0-9]{1,6}", row[2])
        }
