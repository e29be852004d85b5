from __future__ import annotations

from dataclasses import replace

import pytest
from baseline_examples import NAMES, record, record_sets, sighting
from hypothesis import given

from ciguard.baseline import BaselineRecord, Records, State, prune

ONE, OTHER, THIRD = NAMES[1], NAMES[2], NAMES[3]
NOW = sighting(31).time


def baseline(*records: BaselineRecord) -> dict[str, BaselineRecord]:
    return {item.fingerprint: item for item in records}


@pytest.mark.parametrize(
    ("state", "day", "stays"),
    [
        (State.FIXED, 1, False),
        (State.FIXED, 25, True),
        (State.FLAKY, 1, False),
        (State.FLAKY, 25, True),
        (State.OPEN, 1, True),
        (State.ACCEPTED, 1, True),
    ],
)
def test_prune_removes_old_fixed_and_flaky_records_only(
    state: State, day: int, *, stays: bool
) -> None:
    records = baseline(record(ONE, state=state, day=day))

    assert bool(prune(records, now=NOW, older_than_days=10)) is stays


def test_prune_merges_a_replaced_record_into_its_replacement() -> None:
    renamed = replace(record(THIRD, day=5), aliases=(ONE,))
    covered = replace(record(ONE, day=2, argument=0), issue="7", aliases=(OTHER,))

    pruned = prune(baseline(renamed, covered), now=NOW, older_than_days=90)

    assert list(pruned) == [THIRD]
    assert pruned[THIRD].issue == "7"
    assert pruned[THIRD].aliases == (ONE, OTHER)
    assert pruned[THIRD].first_seen == sighting(2)
    assert pruned[THIRD].representative == renamed.representative


@given(record_sets)
def test_repeated_prune_changes_nothing(records: Records) -> None:
    settled = records
    for _ in range(len(records) + 1):
        settled = prune(settled, now=NOW, older_than_days=0)

    assert prune(settled, now=NOW, older_than_days=0) == settled
    assert all(r.state in {State.OPEN, State.ACCEPTED} for r in settled.values())
