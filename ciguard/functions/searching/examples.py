"""Hypothesis's database of examples, in which failures stay stored while a search ignores them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class ProtectedDatabase(ExampleDatabase):
    """Database that never deletes the examples that it contained when they were first read.

    Later rounds of a search replay the examples of known failures. They no longer fail, because
    their failure paths are blocked, and Hypothesis would therefore delete them.
    """

    def __init__(self, inner: ExampleDatabase) -> None:
        super().__init__()
        self._inner = inner
        self._protected: dict[bytes, frozenset[bytes]] = {}

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return the examples with a key."""
        examples = list(self._inner.fetch(key))
        self._protected.setdefault(key, frozenset(examples))
        return examples

    def save(self, key: bytes, value: bytes) -> None:
        """Add an example."""
        self._inner.save(key, value)

    def delete(self, key: bytes, value: bytes) -> None:
        """Delete an example, unless it is protected."""
        if value not in self._protected.get(key, ()):
            self._inner.delete(key, value)

    def move(self, src: bytes, dest: bytes, value: bytes) -> None:
        """Move an example to another key; copy it if it is protected."""
        if value in self._protected.get(src, ()):
            self._inner.save(dest, value)
        else:
            self._inner.move(src, dest, value)


def database_at(home: Path | None, database: ExampleDatabase) -> ExampleDatabase:
    """Return the database in a folder `.hypothesis`, or another database of the user's choice.

    Args:
        home: the folder; None for Hypothesis's default, a folder in the current folder.
        database: database of the profile; it is returned if the user has chosen it.
    """
    is_default = type(database) is DirectoryBasedExampleDatabase
    if home is None or not is_default or "HYPOTHESIS_STORAGE_DIRECTORY" in os.environ:
        return database
    return DirectoryBasedExampleDatabase(home / "examples")
