"""Where a baseline is kept. A folder: text that a person can read in a diff."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from filelock import FileLock, Timeout

from ciguard.baseline.comparison import Records, merge
from ciguard.baseline.encoding import (
    SCHEMA,
    case_from_text,
    case_to_text,
    parse,
    record_from_json,
    record_to_line,
)
from ciguard.baseline.record import BaselineRecord, merge_records
from ciguard.domain import case_to_json, visible
from ciguard.errors import BaselineError
from ciguard.files import read_text, replace_file
from ciguard.triage import is_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.domain import Case

INDEX = "buckets.jsonl"
CORPUS = "corpus"
_LOCK = ".lock"
_MOST_INDEX_BYTES = 1 << 30
_MOST_LINE = 1 << 20
_MOST_CASE_BYTES = 8 << 20
_PATIENCE_S = 60.0

_RESTORE = "Restore it from its history, or move the folder away to establish a new baseline."


class BaselineStore(Protocol):
    """Keeps the records of a baseline between runs."""

    def exists(self) -> bool:
        """Tell whether a baseline was ever saved here."""

    def load(self) -> Records:
        """Return the records by fingerprint; none where there is no baseline yet.

        Raises:
            BaselineError: if what is stored cannot be read; it is left as it is.
        """

    def save(self, records: Records) -> Records:
        """Merge the records with what is stored, store that and return it.

        Raises:
            BaselineError: if it cannot be written; what was stored is left as it is.
        """


class FolderStore:
    """A baseline in a folder: `buckets.jsonl`, and `corpus/` with one case per bucket."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._index = path / INDEX

    def exists(self) -> bool:
        """Tell whether a baseline was ever saved here."""
        return self._index.exists()

    def load(self) -> Records:
        """Return the records by fingerprint; none where there is no baseline yet.

        Raises:
            BaselineError: if a file is damaged, too large or of a newer ciguard. Nothing is
                changed.
        """
        if not self.exists():
            return {}
        lines = self._lines()
        self._check_header(next(lines, ""))
        records: dict[str, BaselineRecord] = {}
        for number, line in enumerate(lines, start=2):
            if not line.strip():
                continue
            record = self._record(number, line)
            # Two lines of one bucket are what a merge of two branches leaves behind.
            before = records.get(record.fingerprint)
            records[record.fingerprint] = merge_records(before, record) if before else record
        return records

    def _lines(self) -> Iterator[str]:
        yield from self._text(self._index, most=_MOST_INDEX_BYTES).split("\n")

    @staticmethod
    def _text(path: Path, *, most: int) -> str:
        try:
            return read_text(path, most=most)
        except OSError as error:
            msg = f"{path}: cannot be read: {error.strerror or error}. {_RESTORE}"
            raise BaselineError(msg) from error
        except ValueError as error:
            msg = f"{path}: {error}. {_RESTORE}"
            raise BaselineError(msg) from error

    def _check_header(self, line: str) -> None:
        try:
            schema = parse(line[:_MOST_LINE])["schema"]
        except (ValueError, TypeError, KeyError):
            msg = f"{self._index}, line 1: this is not the header of a baseline. {_RESTORE}"
            raise BaselineError(msg) from None
        if not isinstance(schema, int) or schema < 1:
            msg = f"{self._index}, line 1: schema {schema!r:.40} is not a number. {_RESTORE}"
            raise BaselineError(msg)
        if schema > SCHEMA:
            msg = (
                f"{self._index}, line 1: written by a newer ciguard (schema {schema}; this "
                f"one reads {SCHEMA}). Upgrade ciguard, or use a baseline folder of its own."
            )
            raise BaselineError(msg)

    def _record(self, number: int, line: str) -> BaselineRecord:
        where = f"{self._index}, line {number}"
        if len(line) > _MOST_LINE:
            msg = f"{where}: longer than {_MOST_LINE} characters. {_RESTORE}"
            raise BaselineError(msg)
        try:
            encoded = parse(line)
            name = encoded["fingerprint"] if isinstance(encoded, dict) else ""
            if not isinstance(name, str) or not is_fingerprint(name):
                msg = "it names no fingerprint such as v1:0123456789abcdef"
                raise ValueError(msg)  # noqa: TRY301 - one place says what a bad line is
            return record_from_json(encoded, case=self._case(name))
        except (ValueError, KeyError) as error:
            msg = f"{where}: {visible(str(error))}. {_RESTORE}"
            raise BaselineError(msg) from error

    def _case(self, fingerprint: str) -> Case:
        path = self._case_path(fingerprint)
        try:
            return case_from_text(self._text(path, most=_MOST_CASE_BYTES), fingerprint=fingerprint)
        except ValueError as error:
            msg = f"{path}: {visible(str(error))}. {_RESTORE}"
            raise BaselineError(msg) from error

    def _case_path(self, fingerprint: str) -> Path:
        return self.path / CORPUS / f"{fingerprint.replace(':', '-')}.json"

    def save(self, records: Records) -> Records:
        """Merge the records with what is stored, store that and return it.

        Cases are written before the index that names them, so a reader never misses one.

        Raises:
            BaselineError: if the folder cannot be written or stays locked.
        """
        try:
            (self.path / CORPUS).mkdir(parents=True, exist_ok=True)
            with FileLock(self.path / _LOCK, timeout=_PATIENCE_S):
                stored = self.load()
                merged = merge(stored, records)
                self._write_cases(stored, merged.values())
                self._write_index(merged)
        except Timeout as error:
            msg = (
                f"{self.path}: another process has held the baseline for {_PATIENCE_S:g} s. "
                "Wait for it to end, then run again."
            )
            raise BaselineError(msg) from error
        except OSError as error:
            msg = (
                f"{self.path}: the baseline cannot be written: {error.strerror or error}. "
                "What was stored is unchanged; free space or correct the permissions."
            )
            raise BaselineError(msg) from error
        return merged

    def _write_cases(self, stored: Records, merged: Iterable[BaselineRecord]) -> None:
        for record in merged:
            before = stored.get(record.fingerprint)
            if before is None or before.exhibit.case != record.exhibit.case:
                text = case_to_text(record.fingerprint, case_to_json(record.exhibit.case))
                replace_file(self._case_path(record.fingerprint), text)

    def _write_index(self, records: Records) -> None:
        header = json.dumps({"schema": SCHEMA, "records": "ciguard baseline"})
        lines = [header, *(record_to_line(records[name]) for name in sorted(records))]
        replace_file(self._index, "\n".join(lines) + "\n", durable=True)
