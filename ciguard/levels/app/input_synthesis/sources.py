"""`SOURCES.csv`: where the files of a folder are from, and on which terms."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAME = "SOURCES.csv"


@dataclass(frozen=True, slots=True)
class FileCredit:
    """Of one file."""

    licence: str
    url: str = ""
    """Of the page that it is from."""
    creator: str = ""

    @property
    def credit(self) -> str:
        """What has to be told wherever the file is shown."""
        return ", ".join(filter(None, (self.licence, self.creator, self.url)))


_COLUMNS = tuple(field.name for field in fields(FileCredit))
_HEADER = ",".join(("file", *_COLUMNS))


def read_sources(folder: Path) -> dict[str, FileCredit]:
    """Return the sources of files by their names, which are relative to a folder.

    Raises:
        ConfigurationError: if there is such a file and it cannot be read.
    """
    file = folder / NAME
    if not file.is_file():
        return {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            if not {"file", "licence"} <= set(rows.fieldnames or ()):
                msg = f"{file}: no columns file and licence. Write `file,licence,url` first."
                raise ConfigurationError(msg)
            return {
                row["file"] or "": FileCredit(*(row.get(name) or "" for name in _COLUMNS))
                for row in rows
            }
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        msg = f"{file}: cannot be read as CSV: {error}"
        raise ConfigurationError(msg) from error


def is_own(folder: Path) -> bool:
    """Return whether the file, if there is one, has no columns but those that are written here."""
    file = folder / NAME
    return not file.is_file() or file.read_bytes().startswith(f"{_HEADER}\n".encode())


def write_sources(folder: Path, sources: Mapping[str, FileCredit]) -> None:
    """Write them.

    Raises:
        OSError: if that cannot be; what was written before is still there.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("file", *_COLUMNS))
    for name, one in sources.items():
        rows.writerow((name, *astuple(one)))
    replace_file(folder / NAME, text.getvalue())
