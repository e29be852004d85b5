"""`SOURCES.csv`: origins and licences of the files in a folder."""

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
    """Origin and licence of one file."""

    licence: str
    url: str = ""
    """URL of the page with the original."""
    creator: str = ""

    @property
    def credit(self) -> str:
        """Attribution that is shown with the file."""
        return ", ".join(filter(None, (self.licence, self.creator, self.url)))


_COLUMNS = tuple(field.name for field in fields(FileCredit))
_HEADER = ",".join(("file", *_COLUMNS))


def read_sources(folder: Path) -> dict[str, FileCredit]:
    """Return the credits of the files in a folder: relative path → credit; empty without a file.

    Raises:
        ConfigurationError: if `SOURCES.csv` exists and cannot be read.
    """
    file = folder / NAME
    if not file.is_file():
        return {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            if not {"file", "licence"} <= set(rows.fieldnames or ()):
                msg = (
                    f"{file} lacks the column `file` or `licence`. "
                    "The first line has to be `file,licence,url`."
                )
                raise ConfigurationError(msg)
            return {
                row["file"] or "": FileCredit(*(row.get(name) or "" for name in _COLUMNS))
                for row in rows
            }
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        msg = f"{file} cannot be read as a CSV file: {error}"
        raise ConfigurationError(msg) from error


def is_rewritable(folder: Path) -> bool:
    """Return whether ciguard may rewrite `SOURCES.csv`: it is absent, or has ciguard's columns."""
    file = folder / NAME
    return not file.is_file() or file.read_bytes().startswith(f"{_HEADER}\n".encode())


def write_sources(folder: Path, sources: Mapping[str, FileCredit]) -> None:
    """Write `SOURCES.csv` atomically.

    Raises:
        OSError: if the file cannot be written; the previous file remains.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("file", *_COLUMNS))
    for name, credit in sources.items():
        rows.writerow((name, *astuple(credit)))
    replace_file(folder / NAME, text.getvalue())
