"""Hypothesis's database of examples, while some of the failures in it are looked past."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class KeepingDatabase(ExampleDatabase):
    """Writes through, but keeps what was there at first.

    A later round tries the examples of failures that are known by then. They do not fail any more,
    as their paths are blocked, and Hypothesis would take them out.
    """

    def __init__(self, inner: ExampleDatabase) -> None:
        super().__init__()
        self._inner = inner
        self._kept: dict[bytes, frozenset[bytes]] = {}

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return the examples of a key."""
        found = list(self._inner.fetch(key))
        self._kept.setdefault(key, frozenset(found))
        return found

    def save(self, key: bytes, value: bytes) -> None:
        """Add an example."""
        self._inner.save(key, value)

    def delete(self, key: bytes, value: bytes) -> None:
        """Remove an example unless it is kept."""
        if value not in self._kept.get(key, ()):
            self._inner.delete(key, value)

    def move(self, src: bytes, dest: bytes, value: bytes) -> None:
        """Move an example unless it is kept."""
        if value in self._kept.get(src, ()):
            self._inner.save(dest, value)
        else:
            self._inner.move(src, dest, value)


def keeping(database: ExampleDatabase) -> ExampleDatabase:
    """Return a database that does not lose what is in it now."""
    return KeepingDatabase(database)


def database_at(home: Path | None, database: ExampleDatabase) -> ExampleDatabase:
    """Return the database in a folder `.hypothesis`; one that a profile chose stays.

    Args:
        home: that folder; Hypothesis's own is below the working directory.
        database: of the profile.
    """
    is_default = type(database) is DirectoryBasedExampleDatabase
    if home is None or not is_default or "HYPOTHESIS_STORAGE_DIRECTORY" in os.environ:
        return database
    return DirectoryBasedExampleDatabase(home / "examples")
