"""Which defects a seed plants."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_defects import CONTROLS, PLANTABLE, Kind, defects

REPOSITORY = Path(__file__).parents[3]
CATALOGUE = REPOSITORY / "seeds" / "constraints" / "torch-2.13.0.jsonl"
RELATIONS = REPOSITORY / "ciguard" / "oracles" / "relations"

seeds = st.integers(0, 2**31)


@given(seeds)
def test_every_seed_plants_at_least_sixty_defects_in_at_least_forty_functions(seed: int) -> None:
    chosen = defects(seed)

    assert len(set(chosen)) == len(chosen) >= 60
    assert len({defect.api for defect in chosen}) >= 40


@given(seeds)
def test_every_kind_is_planted_equally_often(seed: int) -> None:
    counts = Counter(defect.kind for defect in defects(seed))

    assert set(counts) == set(Kind)
    assert len(set(counts.values())) == 1


@given(seeds)
def test_a_function_has_at_most_two_defects_that_leave_different_traces(seed: int) -> None:
    traces: dict[str, list[frozenset[object]]] = {}
    for defect in defects(seed):
        traces.setdefault(defect.api, []).append(frozenset(defect.kind.traces))

    for of_one_api in traces.values():
        assert len(of_one_api) <= 2
        assert len(of_one_api) == 1 or not of_one_api[0] & of_one_api[1]


@given(seeds)
def test_defects_are_planted_only_where_the_table_allows_them(seed: int) -> None:
    for defect in defects(seed):
        assert defect.kind in defect.plantable.kinds
        assert bool(defect.edge) == (defect.kind is Kind.CRASH)
        assert defect.kind is not Kind.IGNORED or defect.plantable.ignored
        assert defect.kind is not Kind.BOUNDS or defect.plantable.bounded


def test_the_same_seed_plants_the_same_defects() -> None:
    assert defects(7) == defects(7)
    assert defects(8) != defects(7)


def test_what_seed_0_plants_stays_what_it_was() -> None:
    first, *_, last = defects(0)

    assert (first.api, first.kind) == ("torch.erf", Kind.DTYPE)
    assert (last.api, last.kind) == ("torch.Tensor.diff", Kind.BOUNDS)


def test_more_defects_than_the_table_has_room_for_are_refused() -> None:
    with pytest.raises(ValueError, match="no function is left for defect"):
        defects(0, 1000)


def test_every_function_is_in_the_catalogue_under_this_name_and_compared_by_value() -> None:
    lines = CATALOGUE.read_text("utf-8").splitlines()
    records = {record["api"]: record for record in map(json.loads, lines) if "api" in record}
    names = [*(row.api for row in PLANTABLE), *CONTROLS]

    assert len(set(names)) == len(names)
    assert [name for name in names if name not in records] == []
    assert [name for name in names if records[name].get("tags")] == []


def test_every_argument_of_the_table_is_one_that_calls_can_carry() -> None:
    lines = CATALOGUE.read_text("utf-8").splitlines()
    records = {record["api"]: record for record in map(json.loads, lines) if "api" in record}

    for row in PLANTABLE:
        known = [parameter["name"] for parameter in records[row.api].get("parameters", ())]
        for argument in (row.ignored, row.bounded):
            if argument is not None:
                assert argument.name in known
                assert argument.place < 0 or known[argument.place] == argument.name


def test_no_twin_of_a_relation_is_made_of_a_function_that_may_be_planted() -> None:
    texts = {path.name: path.read_text("utf-8") for path in RELATIONS.glob("*.py")}
    used = [
        (row.api, n) for row in PLANTABLE for n, text in texts.items() if f'"{row.api}"' in text
    ]

    assert "contract.py" in texts
    assert used == []
