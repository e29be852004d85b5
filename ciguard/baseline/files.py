"""The files of a baseline, read with distrust. Which there are is told in `layout`."""

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
    stranger,
)
from ciguard.baseline.record import BaselineRecord, merge_records
from ciguard.domain.text import visible
from ciguard.errors import BaselineError
from ciguard.files import Stamp, parse_json, read_text, stamp
from ciguard.triage import simplicity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ciguard.baseline.comparison import Records
    from ciguard.domain.case import Case
    from ciguard.domain.values import Json

Signature: TypeAlias = tuple[tuple[str, Stamp], ...]
_Numbered: TypeAlias = "tuple[int, Json]"

MAX_RECORD = 1 << 20
MAX_CASE = 8 << 20
_MAX_BYTES = 1 << 30
"""Of all files together; until schema 3 the index alone could be that large."""
_MAX_FILE = 128 << 20
_SCHEMA_OF_SIXTEEN = 2
"""Its corpus always was in sixteen parts."""

_RESTORE = "Restore it from its history, or move the baseline away to establish a new one."


def read_records(folder: Path, name: str) -> Records:
    """Return the records of a baseline, by fingerprint.

    Args:
        folder: which holds one.
        name: of the place, for messages.

    Raises:
        BaselineError: if a file is missing, damaged, too large, no baseline's, or of a newer
            ciguard, or a line is in the wrong file.
    """
    with _uncollected():
        return _BaselineReader(folder, name).records()


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


class _BaselineReader:
    """Reads one baseline; every refusal names the file, and the line where there is one."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._left = _MAX_BYTES

    def records(self) -> Records:
        head, _, rest = self._text(INDEX, most=_MAX_BYTES).partition("\n")
        layout = self._layout(head)
        if file := stranger(self._folder):
            msg = f"{self._name}/{visible(file)}: no baseline has such a file or link. {_RESTORE}"
            raise BaselineError(msg)
        records: dict[str, BaselineRecord] = {}
        self._add(records, layout, "", INDEX, rest)
        for part in layout.parts() if layout.digits else ():
            file = file_of(BUCKETS, part)
            self._add(records, layout, part, file, self._text(file, most=_MAX_FILE))
        return records

    def _add(
        self,
        records: dict[str, BaselineRecord],
        layout: BaselineLayout,
        part: str,
        file: str,
        text: str,
    ) -> None:
        """Add the records of one file, which is forgotten then: only one part is held as JSON."""
        first = 2 if file == INDEX else 1
        encoded = list(self._objects(file, text, first=first, most=MAX_RECORD))
        # Now the cases: whoever writes at this moment puts a case before the line that needs it.
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
            # Two lines of one bucket are what a merge of two branches leaves behind.
            before = records.get(name)
            records[name] = merge_records(before, record) if before else record

    def _cases(self, layout: BaselineLayout, part: str) -> dict[str, Case]:
        """Return the cases that the buckets of one part have, by fingerprint."""
        if layout.schema == 1 or (layout.digits and not part):
            return {}
        parts: Iterable[str] = (part,)
        if layout.schema == _SCHEMA_OF_SIXTEEN:
            layout = BaselineLayout(layout.schema, digits=1)
            parts = layout.parts()
        cases: dict[str, Case] = {}
        for name in parts:
            self._read_cases(layout, name, cases)
        return cases

    def _read_cases(self, layout: BaselineLayout, part: str, cases: dict[str, Case]) -> None:
        file = file_of(CORPUS, part)
        if layout.schema == _SCHEMA_OF_SIXTEEN and not (self._folder / file).exists():
            return  # it had no file without a case
        text = self._text(file, most=_MAX_FILE)
        for number, item in self._objects(file, text, first=1, most=MAX_CASE):
            try:
                name, case = case_from_json_object(item)
                _check_part(part, name, layout)
            except ValueError as error:
                raise self._error(file, number, str(error)) from error
            known = cases.get(name)
            cases[name] = case if known is None else min(known, case, key=simplicity)

    def _case_of_schema_1(self, fingerprint: str) -> Case:
        file = f"{CORPUS}/{fingerprint.replace(':', '-')}.json"
        try:
            name, case = case_from_json_object(parse_json(self._text(file, most=MAX_CASE)))
        except ValueError as error:
            raise self._error(file, 1, str(error)) from error
        if name != fingerprint:
            raise self._error(file, 1, f"it holds the case of {name}")
        return case

    def _objects(self, file: str, text: str, *, first: int, most: int) -> Iterator[_Numbered]:
        """Yield what the lines of a text hold, each with its number; `first` is the first's."""
        for number, line in enumerate(text.split("\n"), start=first):
            if len(line) > most:
                raise self._error(file, number, f"longer than {most} characters")
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
            msg = f"{self._name}/{file}: cannot be read: {error.strerror or error}. {_RESTORE}"
            raise BaselineError(msg) from error
        except ValueError as error:
            msg = f"{self._name}/{file}: {error}. {_RESTORE}"
            raise BaselineError(msg) from error
        self._left -= len(text)
        return text

    def _layout(self, line: str) -> BaselineLayout:
        try:
            return layout_of(line[:MAX_RECORD])
        except NewerSchemaError as error:
            msg = (
                f"{self._name}/{INDEX}, line 1: {error}. "
                "Upgrade ciguard, or use a baseline of its own."
            )
            raise BaselineError(msg) from error
        except ValueError as error:
            raise self._error(INDEX, 1, str(error)) from error

    def _error(self, file: str, number: int, reason: str) -> BaselineError:
        return BaselineError(f"{self._name}/{file}, line {number}: {visible(reason)}. {_RESTORE}")


def signature(folder: Path) -> Signature:
    """Return what changes when any file of the records does. Files are replaced, not rewritten."""
    found = []
    every = [folder / INDEX, folder / file_of(CORPUS, "")]
    for kind in (BUCKETS, CORPUS):
        every += [folder / kind, *parts_in(folder, kind)]
    for path in sorted(every):
        with suppress(FileNotFoundError):  # another process has just removed it
            found.append((path.relative_to(folder).as_posix(), stamp(path)))
    return tuple(found)


def stored_layout(folder: Path) -> BaselineLayout | None:
    """Return the layout of a baseline that has just been read, None where there is none."""
    try:
        with (folder / INDEX).open(encoding="utf-8") as stream:
            return layout_of(stream.readline(MAX_RECORD))
    except FileNotFoundError:
        return None


def _check_part(part: str, fingerprint: str, layout: BaselineLayout) -> None:
    belongs = layout.part_of(fingerprint)
    if part != belongs:
        msg = f"{fingerprint} belongs into part {belongs}"
        raise ValueError(msg)


def _case_of(fingerprint: str, cases: Mapping[str, Case]) -> Case:
    if fingerprint not in cases:
        msg = f"the corpus has no case of {fingerprint}"
        raise ValueError(msg)
    return cases[fingerprint]
