"""The files of a baseline, read with distrust and written so that a reader never sees a half.

buckets.jsonl          a header, then one line per bucket, sorted
corpus/0.jsonl … f     the cases, one line per bucket, by the first digit of its fingerprint
"""

from __future__ import annotations

import gc
import json
from collections import defaultdict
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from ciguard.baseline.encoding import (
    SCHEMA,
    case_from_json_object,
    case_to_line,
    fingerprint_of,
    parse,
    record_from_json,
    record_to_line,
)
from ciguard.baseline.record import BaselineRecord, merge_records
from ciguard.domain import visible
from ciguard.errors import BaselineError
from ciguard.files import read_text, replace_file
from ciguard.triage import simplicity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ciguard.baseline.comparison import Records
    from ciguard.domain import Case, Json

Signature: TypeAlias = tuple[tuple[str, int, int, int], ...]

INDEX = "buckets.jsonl"
CORPUS = "corpus"
_MOST_BYTES = 1 << 30
_MOST_RECORD = 1 << 20
_MOST_CASE = 8 << 20

_RESTORE = "Restore it from its history, or move the baseline away to establish a new one."


def read_records(folder: Path, name: str) -> Records:
    """Return the records of a baseline, by fingerprint.

    Args:
        folder: which holds one.
        name: of the place, for messages.

    Raises:
        BaselineError: if a file is damaged, too large or of a newer ciguard.
    """
    with _uncollected():
        return _Reader(folder, name).records()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector out while many objects are made, none of which is garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Reader:
    """Reads one baseline; every refusal names file and line."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name

    def records(self) -> Records:
        lines = self._text(INDEX, most=_MOST_BYTES).split("\n")
        schema = self._schema(lines[0])
        encoded = list(self._objects(INDEX, lines, most=_MOST_RECORD))
        # The index first: whoever writes at this moment puts a case before the line that needs it.
        cases = self._cases() if schema > 1 else {}
        records: dict[str, BaselineRecord] = {}
        for number, item in encoded:
            try:
                name = fingerprint_of(item)
                if schema == 1:
                    cases[name] = self._case_of_schema_1(name)
                record = record_from_json(item, case=_case_of(name, cases))
            except ValueError as error:
                raise self._error(INDEX, number, str(error)) from error
            # Two lines of one bucket are what a merge of two branches leaves behind.
            before = records.get(name)
            records[name] = merge_records(before, record) if before else record
        return records

    def _cases(self) -> dict[str, Case]:
        cases: dict[str, Case] = {}
        for path in sorted((self._folder / CORPUS).glob("?.jsonl")):
            file = f"{CORPUS}/{path.name}"
            lines = ["", *self._text(file, most=_MOST_BYTES).split("\n")]
            for number, item in self._objects(file, lines, most=_MOST_CASE):
                try:
                    name, case = case_from_json_object(item)
                except ValueError as error:
                    raise self._error(file, number - 1, str(error)) from error
                known = cases.get(name)
                cases[name] = case if known is None else min(known, case, key=simplicity)
        return cases

    def _case_of_schema_1(self, fingerprint: str) -> Case:
        file = f"{CORPUS}/{_file_of_schema_1(fingerprint)}"
        try:
            name, case = case_from_json_object(parse(self._text(file, most=_MOST_CASE)))
        except ValueError as error:
            raise self._error(file, 1, str(error)) from error
        if name != fingerprint:
            raise self._error(file, 1, f"it holds the case of {name}")
        return case

    def _objects(self, file: str, lines: list[str], *, most: int) -> Iterator[tuple[int, Json]]:
        """Yield what the lines after the first hold, each with its number."""
        for number, line in enumerate(lines[1:], start=2):
            if len(line) > most:
                raise self._error(file, number, f"longer than {most} characters")
            if not line or line.isspace():
                continue
            try:
                yield number, parse(line)
            except ValueError as error:
                raise self._error(file, number, str(error)) from error

    def _text(self, file: str, *, most: int) -> str:
        try:
            return read_text(self._folder / file, most=most)
        except OSError as error:
            msg = f"{self._name}/{file}: cannot be read: {error.strerror or error}. {_RESTORE}"
            raise BaselineError(msg) from error
        except ValueError as error:
            msg = f"{self._name}/{file}: {error}. {_RESTORE}"
            raise BaselineError(msg) from error

    def _schema(self, line: str) -> int:
        try:
            schema = parse(line[:_MOST_RECORD])["schema"]
        except (ValueError, TypeError, KeyError):
            raise self._error(INDEX, 1, "this is not the header of a baseline") from None
        if not isinstance(schema, int) or schema < 1:
            raise self._error(INDEX, 1, f"schema {schema!r:.40} is not a number")
        if schema > SCHEMA:
            msg = (
                f"{self._name}/{INDEX}, line 1: written by a newer ciguard (schema {schema}; this "
                f"one reads {SCHEMA}). Upgrade ciguard, or use a baseline of its own."
            )
            raise BaselineError(msg)
        return schema

    def _error(self, file: str, number: int, reason: str) -> BaselineError:
        return BaselineError(f"{self._name}/{file}, line {number}: {visible(reason)}. {_RESTORE}")


def signature(folder: Path) -> Signature:
    """Return what changes when any file of the records does. Files are replaced, not rewritten."""
    found = []
    for path in (folder / INDEX, *sorted((folder / CORPUS).glob("*.json*"))):
        with suppress(FileNotFoundError):  # another process has just removed it
            status = path.lstat()
            found.append((path.name, status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(found)


def write_records(folder: Path, records: Records, stored: Records) -> None:
    """Write a baseline over the one that is stored.

    Cases are written before the index that names them and removed after it, so a reader never
    misses one.

    Args:
        folder: which exists.
        records: to be stored.
        stored: what `folder` holds.

    Raises:
        OSError: if it cannot be written; what was stored can still be read.
    """
    corpus = folder / CORPUS
    corpus.mkdir(exist_ok=True)
    old = list(corpus.glob("v*-*.json"))  # of schema 1, in which no shard was written
    if records and records == stored and not old:
        return
    dropped = {_shard_of(name) for name in stored if name not in records}
    changed = {_shard_of(name) for name in (records if old else _changed(records, stored))}
    _write_shards(corpus, changed, {**stored, **records})
    header = json.dumps({"schema": SCHEMA, "records": "ciguard baseline"})
    lines = [header, *(record_to_line(records[name]) for name in sorted(records))]
    replace_file(folder / INDEX, "\n".join(lines) + "\n", durable=True)
    _write_shards(corpus, dropped, records)
    for path in old:
        path.unlink(missing_ok=True)


def _case_of(fingerprint: str, cases: Mapping[str, Case]) -> Case:
    if fingerprint not in cases:
        msg = f"the corpus has no case of {fingerprint}"
        raise ValueError(msg)
    return cases[fingerprint]


def _changed(records: Records, stored: Records) -> Iterator[str]:
    for name, record in records.items():
        before = stored.get(name)
        if before is None or before.exhibit.case != record.exhibit.case:
            yield name


def _write_shards(corpus: Path, shards: set[str], records: Records) -> None:
    lines: dict[str, list[str]] = defaultdict(list)
    for name in sorted(records) if shards else ():
        shard = _shard_of(name)
        if shard in shards:
            lines[shard].append(case_to_line(name, records[name].exhibit.case))
    for shard in shards:
        path = corpus / f"{shard}.jsonl"
        if lines[shard]:
            replace_file(path, "\n".join([*lines[shard], ""]))
        else:
            path.unlink(missing_ok=True)


def _shard_of(fingerprint: str) -> str:
    return fingerprint.rpartition(":")[2][0]


def _file_of_schema_1(fingerprint: str) -> str:
    return f"{fingerprint.replace(':', '-')}.json"
