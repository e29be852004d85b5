"""Reading of a baseline's files, which are untrusted. The module `layout` describes the files."""

from __future__ import annotations

import gc
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from ciguard.baseline.encoding import case_from_json_object, fingerprint_of, record_from_json
from ciguard.baseline.layout import (
    BUCKETS,
    CORPUS,
    INDEX,
    BaselineLayout,
    NewerSchemaError,
    file_of,
    layout_of,
    parts_in,
    unexpected_file,
)
from ciguard.baseline.record import BaselineRecord, merge_records
from ciguard.domain.text import visible
from ciguard.errors import BaselineError
from ciguard.files import Stamp, file_stamp, parse_json, read_text
from ciguard.triage import simplicity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ciguard.baseline.comparison import Records
    from ciguard.domain.case import Case
    from ciguard.domain.values import Json

Signature: TypeAlias = tuple[tuple[str, Stamp], ...]
_Numbered: TypeAlias = "tuple[int, Json]"

MAX_RECORD_LENGTH = 1 << 20
MAX_CASE_LENGTH = 8 << 20
_MAX_TOTAL_BYTES = 1 << 30
"""Maximum size of all files together; before schema 3, the index alone could have this size."""
_MAX_FILE_BYTES = 128 << 20
_SIXTEEN_PARTS_SCHEMA = 2
"""Number of the schema in which the corpus always has sixteen parts."""

_RESTORE_ADVICE = (
    "Restore the file from the baseline's history, or move the baseline away to establish a "
    "new one."
)


def read_records(folder: Path, name: str) -> Records:
    """Return the records of a baseline by fingerprint.

    Args:
        folder: the folder of the baseline.
        name: name of the baseline in messages.

    Raises:
        BaselineError: if a file is missing, damaged, too large or unexpected, a newer ciguard wrote
            it, or a line is in the wrong file.
    """
    with _without_garbage_collection():
        return _BaselineReader(folder, name).records()


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector, which slows the creation of many objects."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _BaselineReader:
    """Reader of one baseline, whose errors name file and line."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._left = _MAX_TOTAL_BYTES

    def records(self) -> Records:
        first_line, _, rest = self._text(INDEX, most=_MAX_TOTAL_BYTES).partition("\n")
        layout = self._layout(first_line)
        if file := unexpected_file(self._folder):
            msg = f"{self._name}/{visible(file)}: unexpected file or link. {_RESTORE_ADVICE}"
            raise BaselineError(msg)
        records: dict[str, BaselineRecord] = {}
        self._add(records, layout, "", INDEX, rest)
        for part in layout.parts() if layout.digits else ():
            file = file_of(BUCKETS, part)
            self._add(records, layout, part, file, self._text(file, most=_MAX_FILE_BYTES))
        return records

    def _add(
        self,
        records: dict[str, BaselineRecord],
        layout: BaselineLayout,
        part: str,
        file: str,
        text: str,
    ) -> None:
        """Add the records of one file to `records`.

        Files are read one by one, so that only one part is in memory as JSON.
        """
        first = 2 if file == INDEX else 1
        encoded = list(self._objects(file, text, first=first, most=MAX_RECORD_LENGTH))
        # Read cases after records, since a concurrent writer writes a case before its record.
        cases = self._cases(layout, part)
        for number, item in encoded:
            try:
                name = fingerprint_of(item)
                _check_part(part, name, layout)
                if layout.schema == 1:
                    cases[name] = self._case_of_schema_1(name)
                record = record_from_json(item, case=_case_of(name, cases))
            except ValueError as error:
                raise self._error(file, number, str(error)) from error
            # A git merge of two branches may leave two lines of one bucket.
            existing = records.get(name)
            records[name] = merge_records(existing, record) if existing else record

    def _cases(self, layout: BaselineLayout, part: str) -> dict[str, Case]:
        """Return the cases of the buckets in one part, by fingerprint."""
        if layout.schema == 1 or (layout.digits and not part):
            return {}
        parts: Iterable[str] = (part,)
        if layout.schema == _SIXTEEN_PARTS_SCHEMA:
            layout = BaselineLayout(layout.schema, digits=1)
            parts = layout.parts()
        cases: dict[str, Case] = {}
        for name in parts:
            self._read_cases(layout, name, cases)
        return cases

    def _read_cases(self, layout: BaselineLayout, part: str, cases: dict[str, Case]) -> None:
        file = file_of(CORPUS, part)
        if layout.schema == _SIXTEEN_PARTS_SCHEMA and not (self._folder / file).exists():
            return  # empty parts have no file in this schema
        text = self._text(file, most=_MAX_FILE_BYTES)
        for number, item in self._objects(file, text, first=1, most=MAX_CASE_LENGTH):
            try:
                name, case = case_from_json_object(item)
                _check_part(part, name, layout)
            except ValueError as error:
                raise self._error(file, number, str(error)) from error
            existing = cases.get(name)
            cases[name] = case if existing is None else min(existing, case, key=simplicity)

    def _case_of_schema_1(self, fingerprint: str) -> Case:
        file = f"{CORPUS}/{fingerprint.replace(':', '-')}.json"
        try:
            name, case = case_from_json_object(parse_json(self._text(file, most=MAX_CASE_LENGTH)))
        except ValueError as error:
            raise self._error(file, 1, str(error)) from error
        if name != fingerprint:
            raise self._error(file, 1, f"the file contains the case of another bucket, {name}")
        return case

    def _objects(self, file: str, text: str, *, first: int, most: int) -> Iterator[_Numbered]:
        """Yield the line number and the JSON value of each line that is not empty.

        Args:
            file: the name of the file, for messages.
            text: the lines.
            first: the number of the text's first line in the file.
            most: the maximum number of characters of a line.
        """
        for number, line in enumerate(text.split("\n"), start=first):
            if len(line) > most:
                raise self._error(file, number, f"the line exceeds {most} characters")
            if not line or line.isspace():
                continue
            try:
                yield number, parse_json(line)
            except ValueError as error:
                raise self._error(file, number, str(error)) from error

    def _text(self, file: str, *, most: int) -> str:
        try:
            text = read_text(self._folder / file, most=min(most, self._left))
        except OSError as error:
            msg = (
                f"{self._name}/{file}: cannot be read: {error.strerror or error}. {_RESTORE_ADVICE}"
            )
            raise BaselineError(msg) from error
        except ValueError as error:
            msg = f"{self._name}/{file}: {error}. {_RESTORE_ADVICE}"
            raise BaselineError(msg) from error
        self._left -= len(text)
        return text

    def _layout(self, line: str) -> BaselineLayout:
        try:
            return layout_of(line[:MAX_RECORD_LENGTH])
        except NewerSchemaError as error:
            msg = (
                f"{self._name}/{INDEX}, line 1: {error}. Upgrade ciguard, or use another baseline."
            )
            raise BaselineError(msg) from error
        except ValueError as error:
            raise self._error(INDEX, 1, str(error)) from error

    def _error(self, file: str, number: int, reason: str) -> BaselineError:
        return BaselineError(
            f"{self._name}/{file}, line {number}: {visible(reason)}. {_RESTORE_ADVICE}"
        )


def signature(folder: Path) -> Signature:
    """Return path and stamp of all files with records and cases.

    If two signatures of a folder differ, another process has changed the baseline.
    """
    stamps = []
    paths = [folder / INDEX, folder / file_of(CORPUS, "")]
    for kind in (BUCKETS, CORPUS):
        paths += [folder / kind, *parts_in(folder, kind)]
    for path in sorted(paths):
        with suppress(FileNotFoundError):  # another process may have removed the file
            stamps.append((path.relative_to(folder).as_posix(), file_stamp(path)))
    return tuple(stamps)


def stored_layout(folder: Path) -> BaselineLayout | None:
    """Return the layout of a validated baseline; None if there is no baseline."""
    try:
        with (folder / INDEX).open(encoding="utf-8") as stream:
            return layout_of(stream.readline(MAX_RECORD_LENGTH))
    except FileNotFoundError:
        return None


def _check_part(part: str, fingerprint: str, layout: BaselineLayout) -> None:
    expected = layout.part_of(fingerprint)
    if part != expected:
        msg = f"the bucket {fingerprint} is in the wrong part; it belongs in part {expected}"
        raise ValueError(msg)


def _case_of(fingerprint: str, cases: Mapping[str, Case]) -> Case:
    if fingerprint not in cases:
        msg = f"the corpus does not contain the case of the bucket {fingerprint}"
        raise ValueError(msg)
    return cases[fingerprint]
