"""Writing of a baseline's files, in an order that is safe for concurrent readers.

Only files with changes are written. A case is written before its record, and removed after it. New
and changed records are written before other records are removed. The files of a new layout are
complete before the header names the layout. A writer may therefore be killed at any point.
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
    file_of,
    header,
    leftovers,
    min_digits,
)
from ciguard.errors import BaselineError
from ciguard.files import replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.baseline.comparison import Records


def write_records(folder: Path, records: Records, stored: Records) -> None:
    """Replace the stored baseline in a folder.

    Args:
        folder: the folder of the baseline, which must exist.
        records: the new records.
        stored: the records that the folder contains now.

    Raises:
        OSError: if a file cannot be written; the stored baseline is still readable.
        BaselineError: if a part would be too large; nothing is written.
    """
    writer = _Writer(folder, records, stored)
    if writer.is_needed:
        writer.write()


class _Writer:
    """Writer of one change."""

    def __init__(self, folder: Path, records: Records, stored: Records) -> None:
        self._folder = folder
        self._stored_layout = stored_layout(folder)
        self._all_records = {**stored, **records}
        self._names = sorted(records)
        self._removed = stored.keys() - records.keys()
        changed = {name for name in records if not _is_unchanged(name, records, stored)}
        cases = {name for name in changed if not _is_case_unchanged(name, records, stored)}
        self._changed = {CORPUS: cases | self._removed, BUCKETS: changed | self._removed}
        """Fingerprints of new, changed and removed lines, by kind of file."""

    @property
    def is_needed(self) -> bool:
        """True if a file must be written or removed."""
        before = self._stored_layout
        if before is None or before.schema != SCHEMA or self._changed[BUCKETS]:
            return True
        return bool(leftovers(self._folder, before))

    def write(self) -> None:
        """Write the changes in the order that the module's docstring explains."""
        layout = self._layout()
        for kind in (CORPUS, BUCKETS) if layout.digits else ():
            (self._folder / kind).mkdir(exist_ok=True)
        names = sorted(self._all_records) if self._removed else self._names
        for kind in (CORPUS, BUCKETS):
            self._replace(kind, layout, self._parts(kind, layout, names))
        if layout.digits and layout != self._stored_layout:
            replace_file(self._folder / INDEX, f"{header(layout)}\n", durable=True)
        for kind in (BUCKETS, CORPUS):
            kept = self._parts(kind, layout, self._names)
            dropped = {layout.part_of(name) for name in self._removed}
            self._replace(kind, layout, {part: kept[part] for part in sorted(dropped)})
        for path in leftovers(self._folder, layout):
            path.unlink(missing_ok=True)
        for kind in (BUCKETS, CORPUS) if not layout.digits else ():
            with suppress(OSError):  # the folder does not exist, or contains other files
                (self._folder / kind).rmdir()

    def _layout(self) -> BaselineLayout:
        """Return the layout with the fewest parts in which no changed part is too large.

        Unchanged parts were checked when they were written.
        """
        for digits in range(min_digits(len(self._names)), MAX_DIGITS + 1):
            layout = BaselineLayout(digits=digits)
            if all(
                len(self._text(kind, names)) <= MAX_PART_BYTES
                for kind in (CORPUS, BUCKETS)
                for names in self._parts(kind, layout, self._names).values()
            ):
                return layout
        msg = (
            f"{self._folder}: the new baseline is too large, so the stored one is unchanged. "
            "Remove records with `ciguard baseline prune`."
        )
        raise BaselineError(msg)

    def _parts(self, kind: str, layout: BaselineLayout, names: list[str]) -> dict[str, list[str]]:
        """Return the names of the buckets in each part to write, by the name of the part.

        These are the parts with changes; if the layout changes, all parts.

        Args:
            kind: `BUCKETS` or `CORPUS`.
            layout: the new layout.
            names: the fingerprints to distribute over the parts.
        """
        if layout == self._stored_layout:
            parts = sorted({layout.part_of(name) for name in self._changed[kind]})
        else:
            parts = list(layout.parts())
        names_by_part: dict[str, list[str]] = {part: [] for part in parts}
        for name in names if names_by_part else ():
            part = layout.part_of(name)
            if part in names_by_part:
                names_by_part[part].append(name)
        return names_by_part

    def _replace(self, kind: str, layout: BaselineLayout, parts: dict[str, list[str]]) -> None:
        for part, names in parts.items():
            file = file_of(kind, part)
            first_line = f"{header(layout)}\n" if file == INDEX else ""
            text = first_line + self._text(kind, names)
            replace_file(self._folder / file, text, durable=kind == BUCKETS)

    def _text(self, kind: str, names: list[str]) -> str:
        return "".join(f"{self._line(kind, name)}\n" for name in names)

    def _line(self, kind: str, name: str) -> str:
        record = self._all_records[name]
        if kind == CORPUS:
            return case_to_line(name, record.representative.case)
        return record_to_line(record)


def _is_unchanged(name: str, records: Records, stored: Records) -> bool:
    before, after = stored.get(name), records[name]
    return before is after or before == after


def _is_case_unchanged(name: str, records: Records, stored: Records) -> bool:
    before = stored.get(name)
    return before is not None and before.representative.case == records[name].representative.case
