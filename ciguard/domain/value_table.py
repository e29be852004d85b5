"""Kinds of arguments that a run has drawn: a table of parameters by values.

Each row is a kind of parameter, each column a kind of value. A value that can stand at a kind of
parameter and was never drawn there is a gap in the tests.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.domain.untrusted import Untrusted
    from ciguard.domain.values import Json

TENSORS = ("float tensor", "int tensor", "index tensor", "offset tensor", "bool tensor")
"""Kinds of parameters that take one tensor."""
_NUMBERS = ("int tensor", "index tensor", "offset tensor", "int", "ints", "float")
_SCALARS = ("int", "ints", "float", "bool", "text", "dtype")
ORDINARY = "ordinary"
"""Kind of a value that is of no other kind."""
VALUE_KINDS: Mapping[str, tuple[str, ...]] = {
    ORDINARY: (*TENSORS, "tensors", "object", *_SCALARS),
    "None": (*TENSORS, "tensors", "object", *_SCALARS),
    "empty": (*TENSORS, "tensors", "ints", "text"),
    "empty, huge size": TENSORS,
    "scalar": TENSORS,
    "high rank": TENSORS,
    "other dtype": TENSORS,
    "other form": (*TENSORS, "object"),
    "NaN, infinite": ("float tensor", "float"),
    "extreme": ("float tensor", *_NUMBERS),
    "negative": _NUMBERS,
    "decreasing": ("int tensor", "index tensor", "offset tensor"),
    "too long": ("tensors", "ints", "text"),
    "other structure": (*TENSORS, "tensors", *_SCALARS),
}
"""Kinds of parameters at which each kind of value can stand."""
PARAMETER_KINDS = VALUE_KINDS[ORDINARY]
"""Kinds of parameters."""


@dataclass(slots=True)
class ValueTable:
    """Numbers of arguments by kind of parameter and kind of value."""

    calls: int = 0
    """Number of calls of which all arguments were counted."""
    drawn: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of arguments of these calls."""
    passed: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of those whose call passed."""
    crashed: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of arguments of calls that crashed, among all calls of the run."""

    def note(self, kinds: Iterable[tuple[str, str]], *, has_passed: bool) -> None:
        """Count the arguments of a call."""
        cells = set(kinds)
        self.calls += 1
        self.drawn.update(cells)
        if has_passed:
            self.passed.update(cells)

    def add(self, other: ValueTable) -> None:
        """Add the counts of another table."""
        self.calls += other.calls
        self.drawn += other.drawn
        self.passed += other.passed
        self.crashed += other.crashed

    def gaps(self) -> list[tuple[str, str]]:
        """Return the kinds of parameters with values that can stand there and were never drawn.

        Kinds of parameters that the called APIs do not have are left out.
        """
        rows = {row for row, _ in self.drawn}
        return [
            (row, column)
            for column, possible in VALUE_KINDS.items()
            for row in possible
            if row in rows and not self.drawn[row, column]
        ]


def merged_values(tables: Iterable[ValueTable]) -> ValueTable | None:
    """Return the sum of tables; None if they have counted nothing."""
    total = ValueTable()
    for table in tables:
        total.add(table)
    return total if total.drawn or total.crashed else None


def value_table_to_json(table: ValueTable) -> dict[str, Json]:
    """Return the JSON form of a table, as in `run.json` and `parts.jsonl`."""
    cells = sorted({*table.drawn, *table.crashed})
    return {
        "calls": table.calls,
        "cells": [
            [*cell, table.drawn[cell], table.passed[cell], table.crashed[cell]] for cell in cells
        ],
    }


def value_table_from_json(reader: Untrusted) -> ValueTable:
    """Return an untrusted table.

    Raises:
        ValueError: if a cell is malformed, or is none of the table.
    """
    table = ValueTable(calls=reader.count("calls"))
    for cell in reader.value("cells", list):
        match cell:
            case [
                str() as row,
                str() as column,
                int() as drawn,
                int() as passed,
                int() as crashed,
            ] if row in VALUE_KINDS.get(column, ()) and min(drawn - passed, passed, crashed) >= 0:
                table.drawn[row, column] = drawn
                table.passed[row, column] = passed
                table.crashed[row, column] = crashed
            case _:
                message = f"'cells' has a malformed cell: {cell!r:.80}"
                raise ValueError(message)
    return table
