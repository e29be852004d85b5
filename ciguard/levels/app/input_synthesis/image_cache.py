"""Cache of images that a search has found, in a folder that `LabelledFolder` can read.

    <folder>/<label>/<digest>.jpg
            /SOURCES.csv    file, licence, url, creator
            /SEARCHES.csv   label, search, images (the number that was searched for)

The row of a file is written before the file, and both atomically. An interrupted run therefore
leaves a usable folder, and no file without its licence.
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
from ciguard.levels.app.input_synthesis.credits import (
    NAME,
    FileCredit,
    is_rewritable,
    read_sources,
    write_sources,
)
from ciguard.levels.app.input_synthesis.input_maker import normalised_name
from ciguard.levels.app.input_synthesis.inputs import digest_of

if TYPE_CHECKING:
    from pathlib import Path

_SEARCHES = "SEARCHES.csv"
_SEARCH_COLUMNS = ("label", "search", "images")
_MAX_NAME_LENGTH = 200
"""Maximum length of a name in bytes; file systems allow 255."""


def folder_name(label: str) -> str:
    """Return the name of a label's folder; empty if file systems do not allow the name."""
    if not label.isprintable():
        return ""
    spaced = normalised_name(label).replace(" ", "_")
    name = re.sub(
        r"\W", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), spaced
    )
    return name if len(name.encode()) <= _MAX_NAME_LENGTH else ""


@dataclass(frozen=True, slots=True)
class ImageCache:
    """The folder of cached images. All methods but `lock` require the lock, and raise `OSError`."""

    root: Path

    def lock(self) -> FileLock:
        """Return the lock for changes of the folder.

        Raises:
            OSError: if the folder cannot be created.
            ConfigurationError: if `SOURCES.csv` has other columns, as it was written by a user.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        if not is_rewritable(self.root):
            msg = (
                f"{self.root / NAME} was not written by ciguard, and will not be changed. "
                "Choose another folder with --cache."
            )
            raise ConfigurationError(msg)
        return FileLock(self.root / ".lock")

    def images_of(self, label: str) -> dict[str, FileCredit]:
        """Return the cached images of a label: path relative to the folder → credit."""
        folder_prefix = f"{folder_name(label)}/"
        return {
            name: credit
            for name, credit in read_sources(self.root).items()
            if name.startswith(folder_prefix) and (self.root / name).is_file()
        }

    def add(self, label: str, content: bytes, credit: FileCredit) -> None:
        """Add an image of a label.

        Args:
            label: the label.
            content: the content of the JPEG file.
            credit: the origin and licence of the image.
        """
        name = f"{folder_name(label)}/{digest_of(content)[:16]}.jpg"
        file = self.root / name
        file.parent.mkdir(exist_ok=True)
        write_sources(self.root, {**read_sources(self.root), name: credit})
        replace_file(file, content)

    def completed_count(self, label: str, search: str) -> int:
        """Return the number of images for which a search for a label was completed; 0 if never."""
        return self._searches().get((normalised_name(label), search), 0)

    def record_search(self, label: str, search: str, images: int) -> None:
        """Record that a search for a number of images of a label was completed."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(_SEARCH_COLUMNS)
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
            if len(row) == len(_SEARCH_COLUMNS) and re.fullmatch("[0-9]{1,6}", row[2])
        }
