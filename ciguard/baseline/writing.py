"""Writing the files of a baseline, so that whoever reads meanwhile misses no bucket.

Only files whose lines change are written. Cases are there before the records that name them and
are removed after them; records that are new or changed are written before any is removed; a new
layout is complete before the header names it. So a writer may be killed at any point.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ciguard.baseline.encoding import SCHEMA, case_to_line, record_to_line
from ciguard.baseline.files import stored_layout
from ciguard.baseline.layout import (
    BUCKETS,
    CORPUS,
    INDEX,
    MAX_DIGITS,
    MAX_PART_BYTES,
    BaselineLayout,
    fewest_digits,
    file_of,
    header,
    leftovers,
)
from ciguard.errors import BaselineError
from ciguard.files import replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.baseline.comparison import Records


def write_records(folder: Path, records: Records, stored: Records) -> None:
    """Write a baseline over the one that is stored.

    Args:
        folder: which exists.
        records: to be stored.
        stored: what `folder` holds.

    Raises:
        OSError: if it cannot be written; what was stored can still be read.
        BaselineError: if a part would be too large to be read again; nothing is written.
    """
    writer = _Writer(folder, records, stored)
    if writer.is_needed:
        writer.write()


class _Writer:
    """Writes one change."""

    def __init__(self, folder: Path, records: Records, stored: Records) -> None:
        self._folder = folder
        self._before = stored_layout(folder)
        self._every = {**stored, **records}
        self._kept = sorted(records)
        self._dropped = stored.keys() - records.keys()
        changed = {name for name in records if not _is_kept(name, records, stored)}
        cases = {name for name in changed if not _is_case_kept(name, records, stored)}
        self._touched = {CORPUS: cases | self._dropped, BUCKETS: changed | self._dropped}
        """By kind, the fingerprints of lines that are new, changed or to be removed."""

    @property
    def is_needed(self) -> bool:
        """True if the files are not yet as they should be."""
        before = self._before
        if before is None or before.schema != SCHEMA or self._touched[BUCKETS]:
            return True
        return bool(leftovers(self._folder, before))

    def write(self) -> None:
        """Write what changes, in the order that the head of this module explains."""
        layout = self._layout()
        for kind in (CORPUS, BUCKETS) if layout.digits else ():
            (self._folder / kind).mkdir(exist_ok=True)
        every = sorted(self._every) if self._dropped else self._kept
        for kind in (CORPUS, BUCKETS):
            self._replace(kind, layout, self._parts(kind, layout, every))
        if layout.digits and layout != self._before:
            replace_file(self._folder / INDEX, f"{header(layout)}\n", durable=True)
        for kind in (BUCKETS, CORPUS):
            kept = self._parts(kind, layout, self._kept)
            dropped = {layout.part_of(name) for name in self._dropped}
            self._replace(kind, layout, {part: kept[part] for part in sorted(dropped)})
        for path in leftovers(self._folder, layout):
            path.unlink(missing_ok=True)
        for kind in (BUCKETS, CORPUS) if not layout.digits else ():
            with suppress(OSError):  # there is none, or others keep something in it
                (self._folder / kind).rmdir()

    def _layout(self) -> BaselineLayout:
        """Return the first layout in which no part is too large.

        A part that is not to be written is not: it was written by this rule.
        """
        for digits in range(fewest_digits(len(self._kept)), MAX_DIGITS + 1):
            layout = BaselineLayout(digits=digits)
            if all(
                len(self._text(kind, names)) <= MAX_PART_BYTES
                for kind in (CORPUS, BUCKETS)
                for names in self._parts(kind, layout, self._kept).values()
            ):
                return layout
        msg = (
            f"{self._folder}: the baseline holds too much, and is left as it is. Make it smaller "
            "with `ciguard baseline prune`."
        )
        raise BaselineError(msg)

    def _parts(self, kind: str, layout: BaselineLayout, names: list[str]) -> dict[str, list[str]]:
        """Return those of the names that are in parts which change; all if the layout does."""
        if layout == self._before:
            parts = sorted({layout.part_of(name) for name in self._touched[kind]})
        else:
            parts = list(layout.parts())
        found: dict[str, list[str]] = {part: [] for part in parts}
        for name in names if found else ():
            part = layout.part_of(name)
            if part in found:
                found[part].append(name)
        return found

    def _replace(self, kind: str, layout: BaselineLayout, parts: dict[str, list[str]]) -> None:
        for part, names in parts.items():
            file = file_of(kind, part)
            head = f"{header(layout)}\n" if file == INDEX else ""
            text = head + self._text(kind, names)
            replace_file(self._folder / file, text, durable=kind == BUCKETS)

    def _text(self, kind: str, names: list[str]) -> str:
        return "".join(f"{self._line(kind, name)}\n" for name in names)

    def _line(self, kind: str, name: str) -> str:
        record = self._every[name]
        if kind == CORPUS:
            return case_to_line(name, record.exhibit.case)
        return record_to_line(record)


def _is_kept(name: str, records: Records, stored: Records) -> bool:
    before, after = stored.get(name), records[name]
    return before is after or before == after


def _is_case_kept(name: str, records: Records, stored: Records) -> bool:
    before = stored.get(name)
    return before is not None and before.exhibit.case == records[name].exhibit.case
