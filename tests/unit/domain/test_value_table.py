from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.untrusted import Untrusted
from ciguard.domain.value_table import (
    PARAMETER_KINDS,
    VALUE_KINDS,
    ValueTable,
    merged_values,
    value_table_from_json,
    value_table_to_json,
)

CELLS = [(row, column) for column, rows in VALUE_KINDS.items() for row in rows]


@st.composite
def tables(draw: st.DrawFn) -> ValueTable:
    table = ValueTable()
    for cells, has_passed in draw(
        st.lists(st.tuples(st.lists(st.sampled_from(CELLS), max_size=4), st.booleans()))
    ):
        table.note(cells, has_passed=has_passed)
    table.crashed.update(draw(st.lists(st.sampled_from(CELLS), max_size=3)))
    return table


def read(table: ValueTable) -> ValueTable:
    encoded = json.loads(json.dumps(value_table_to_json(table)))
    return value_table_from_json(Untrusted(encoded, "the table"))


@given(tables())
def test_table_survives_a_round_trip(table: ValueTable) -> None:
    assert value_table_to_json(read(table)) == value_table_to_json(table)


@given(st.lists(tables(), max_size=3))
def test_merged_tables_have_the_sum_of_all_counts(parts: list[ValueTable]) -> None:
    total = merged_values(parts)

    if total is None:
        assert not any(part.drawn or part.crashed for part in parts)
        return
    assert total.calls == sum(part.calls for part in parts)
    for cell in CELLS:
        assert total.drawn[cell] == sum(part.drawn[cell] for part in parts)
        assert total.crashed[cell] == sum(part.crashed[cell] for part in parts)


def test_two_equal_kinds_in_one_call_count_once() -> None:
    table = ValueTable()

    table.note([("int", "negative"), ("int", "negative")], has_passed=True)

    assert (table.drawn["int", "negative"], table.passed["int", "negative"]) == (1, 1)


def test_gaps_are_possible_values_of_parameters_that_occurred() -> None:
    table = ValueTable()
    table.note([("dtype", "ordinary"), ("dtype", "None")], has_passed=False)

    assert table.gaps() == [("dtype", "other structure")]


def test_every_kind_of_parameter_can_be_ordinary() -> None:
    assert {row for row, _ in CELLS} == set(PARAMETER_KINDS)


@pytest.mark.parametrize(
    "cell",
    [
        ["int", "high rank", 1, 0, 0],
        ["<b>", "ordinary", 1, 0, 0],
        ["int", "ordinary", 1, 2, 0],
        ["int", "ordinary", 1, 0, -1],
        ["int", "ordinary", 1.5, 0, 0],
        ["int", "ordinary"],
        None,
    ],
)
def test_malformed_cells_are_refused(cell: Any) -> None:
    with pytest.raises(ValueError, match="malformed cell"):
        value_table_from_json(Untrusted({"calls": 1, "cells": [cell]}, "the table"))
