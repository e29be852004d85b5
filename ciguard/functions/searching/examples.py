"""Hypothesis's database of examples, protected while known failures are ignored."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class KeepingDatabase(ExampleDatabase):
    """Database that saves new examples and keeps those that it had at first.

    Later rounds replay the examples of known failures. These no longer fail, since their paths are
    blocked, so Hypothesis would delete them.
    """

    def __init__(self, inner: ExampleDatabase) -> None:
        super().__init__()
        self._inner = inner
        self._protected: dict[bytes, frozenset[bytes]] = {}

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return the examples of a key."""
        examples = list(self._inner.fetch(key))
        self._protected.setdefault(key, frozenset(examples))
        return examples

    def save(self, key: bytes, value: bytes) -> None:
        """Add an example."""
        self._inner.save(key, value)

    def delete(self, key: bytes, value: bytes) -> None:
        """Remove an example, unless it is protected."""
        if value not in self._protected.get(key, ()):
            self._inner.delete(key, value)

    def move(self, src: bytes, dest: bytes, value: bytes) -> None:
        """Move an example, unless it is protected."""
        if value in self._protected.get(src, ()):
            self._inner.save(dest, value)
        else:
            self._inner.move(src, dest, value)


def protected_database(database: ExampleDatabase) -> ExampleDatabase:
    """Return a database that protects its present examples."""
    return KeepingDatabase(database)


def database_at(home: Path | None, database: ExampleDatabase) -> ExampleDatabase:
    """Return the database in a folder `.hypothesis`, unless a profile has chosen another.

    Args:
        home: the folder; by default Hypothesis uses one in the working directory.
        database: database of the profile.
    """
    is_default = type(database) is DirectoryBasedExampleDatabase
    if home is None or not is_default or "HYPOTHESIS_STORAGE_DIRECTORY" in os.environ:
        return database
    return DirectoryBasedExampleDatabase(home / "examples")
