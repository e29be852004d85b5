"""What keeps a baseline between runs, and the folder that does: text to read in a diff."""

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
_PATIENCE_S = 60.0
_MAX_READINGS = 4

Change: TypeAlias = Callable[[Records], Records]
"""Makes the new records of the stored ones. May be called again when others were faster."""
Beside: TypeAlias = Callable[[Path], None]
"""Writes what lies beside the records into the baseline's folder: how far runs explored, …"""


class BaselineStore(Protocol):
    """Keeps the records of a baseline between runs."""

    @property
    def folder(self) -> Path:
        """Where the files are on this machine, as they were last read."""

    def exists(self) -> bool:
        """Return whether a baseline was ever saved here.

        Raises:
            BaselineError: if that cannot be found out.
        """

    def load(self) -> Records:
        """Return the records by fingerprint; none where there is no baseline yet.

        Raises:
            BaselineError: if what is stored cannot be read; it is left as it is.
        """

    def save(self, records: Records, *, beside: Beside | None = None) -> Records:
        """Merge the records with what is stored, store that and return it.

        Raises:
            BaselineError: if it cannot be written; what was stored is left as it is.
        """

    def change(self, changed: Change, *, beside: Beside | None = None) -> Records:
        """Store what `changed` makes of the records that are stored, and return it.

        Raises:
            BaselineError: if it cannot be written; what was stored is left as it is.
        """


class FolderStore:
    """A baseline in a folder: `buckets.jsonl`, `corpus.jsonl`, and parts of them if it is large."""

    def __init__(self, folder: Path, *, name: str = "") -> None:
        """Make a store.

        Args:
            folder: which need not exist.
            name: of the place, for messages; the folder's path if empty.
        """
        self.folder = folder
        self._name = name or str(folder)
        self._records: Records = {}
        self._signature: Signature = ()
        """Of the files when they were read last: a large baseline takes seconds."""

    def exists(self) -> bool:
        """Return whether a baseline was ever saved here."""
        return (self.folder / INDEX).exists()

    def load(self) -> Records:
        """Return the records by fingerprint; none where there is no baseline yet.

        Raises:
            BaselineError: if a file is damaged, too large or of a newer ciguard. Nothing is
                changed.
        """
        if not self.exists():
            return {}
        for is_last in (*[False] * _MAX_READINGS, True):
            before = signature(self.folder)
            if before == self._signature:
                break
            try:
                self._records = read_records(self.folder, self._name)
            except BaselineError:
                if is_last or signature(self.folder) == before:
                    raise  # nobody is moving lines to other files at this moment
            else:
                self._signature = before
                break
        return self._records

    def save(self, records: Records, *, beside: Beside | None = None) -> Records:
        """Merge the records with what is stored, store that and return it.

        Raises:
            BaselineError: if the folder cannot be read or written, or stays locked.
        """
        return self.change(partial(merge, records), beside=beside)

    def change(self, changed: Change, *, beside: Beside | None = None) -> Records:
        """Store what `changed` makes of the records that are stored, and return it.

        Raises:
            BaselineError: if the folder cannot be read or written, or stays locked.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / _LOCK, timeout=_PATIENCE_S):
                stored = self.load()
                after = changed(stored)
                write_records(self.folder, after, stored)
                self._records, self._signature = after, signature(self.folder)
                if beside is not None:
                    beside(self.folder)
        except Timeout as error:
            msg = (
                f"{self._name}: another process has held the baseline for {_PATIENCE_S:g} s. "
                "Wait for it to end, then run again."
            )
            raise BaselineError(msg) from error
        except OSError as error:
            msg = (
                f"{self._name}: the baseline cannot be written: {error.strerror or error}. "
                "What was stored is unchanged; free space or correct the permissions."
            )
            raise BaselineError(msg) from error
        return after
