"""The protocol of stores that keep a baseline between runs, and the store in a folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

from filelock import FileLock, Timeout

from ciguard.baseline.comparison import Records, merge
from ciguard.baseline.files import Signature, read_records, signature
from ciguard.baseline.layout import INDEX
from ciguard.baseline.writing import write_records
from ciguard.errors import BaselineError

_LOCK = ".lock"
_LOCK_TIMEOUT_S = 60.0
_MAX_RETRIES = 4

Change: TypeAlias = Callable[[Records], Records]
"""Function that returns the new records, given the stored records; it is called again if another
process changed the stored records in the meantime."""
ExtraFilesWriter: TypeAlias = Callable[[Path], None]
"""Function that writes further files into the baseline's folder, such as exploration progress."""


class BaselineStore(Protocol):
    """Store that keeps the records of a baseline between runs."""

    @property
    def folder(self) -> Path:
        """Local folder with the baseline's files."""

    def exists(self) -> bool:
        """Return whether the baseline exists.

        Raises:
            BaselineError: if the store cannot be accessed.
        """

    def load(self) -> Records:
        """Return the records by fingerprint; none if the baseline does not exist.

        Raises:
            BaselineError: if the stored baseline cannot be read; the baseline is unchanged.
        """

    def save(self, records: Records, *, beside: ExtraFilesWriter | None = None) -> Records:
        """Merge the records with the stored ones, store the result and return it.

        Args:
            records: the records to add.
            beside: a function that writes further files into the baseline's folder.

        Raises:
            BaselineError: if the result cannot be written; the stored baseline is unchanged.
        """

    def change(self, transform: Change, *, beside: ExtraFilesWriter | None = None) -> Records:
        """Apply `transform` to the stored records, store the result and return it.

        Args:
            transform: a function that returns the new records, given the stored records.
            beside: a function that writes further files into the baseline's folder.

        Raises:
            BaselineError: if the result cannot be written; the stored baseline is unchanged.
        """


class FolderStore:
    """A store in a folder with `buckets.jsonl` and `corpus.jsonl`, or parts of them.

    See `ciguard.baseline.layout`.
    """

    def __init__(self, folder: Path, *, name: str = "") -> None:
        """Create a store.

        Args:
            folder: the folder, which need not exist.
            name: name of the baseline in messages; the folder's path if empty.
        """
        self.folder = folder
        self._name = name or str(folder)
        self._records: Records = {}
        self._signature: Signature = ()
        """Signature of the files that were read last. Unchanged files are not read again, since
        reading a large baseline takes seconds."""

    def exists(self) -> bool:
        """Return whether the baseline exists."""
        return (self.folder / INDEX).exists()

    def load(self) -> Records:
        """Return the records by fingerprint; none if the baseline does not exist.

        Raises:
            BaselineError: if a file is damaged or too large, or a newer ciguard wrote it. The files
                are unchanged.
        """
        if not self.exists():
            return {}
        for is_last in (*[False] * _MAX_RETRIES, True):
            before = signature(self.folder)
            if before == self._signature:
                break
            try:
                self._records = read_records(self.folder, self._name)
            except BaselineError:
                if is_last or signature(self.folder) == before:
                    raise  # no other process is rewriting the files
            else:
                self._signature = before
                break
        return self._records

    def save(self, records: Records, *, beside: ExtraFilesWriter | None = None) -> Records:
        """Merge the records with the stored ones, store the result and return it.

        Raises:
            BaselineError: if the folder cannot be read or written, or stays locked.
        """
        return self.change(partial(merge, records), beside=beside)

    def change(self, transform: Change, *, beside: ExtraFilesWriter | None = None) -> Records:
        """Apply `transform` to the stored records, store the result and return it.

        Raises:
            BaselineError: if the folder cannot be read or written, or stays locked.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / _LOCK, timeout=_LOCK_TIMEOUT_S):
                stored = self.load()
                records = transform(stored)
                write_records(self.folder, records, stored)
                self._records, self._signature = records, signature(self.folder)
                if beside is not None:
                    beside(self.folder)
        except Timeout as error:
            msg = (
                f"{self._name}: another process has locked the baseline for "
                f"{_LOCK_TIMEOUT_S:g} s. Wait for that process to end, then run again."
            )
            raise BaselineError(msg) from error
        except OSError as error:
            msg = (
                f"{self._name}: the baseline cannot be written: {error.strerror or error}. "
                "The stored baseline is unchanged. Free disk space or correct the permissions."
            )
            raise BaselineError(msg) from error
        return records
