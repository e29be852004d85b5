"""The share of the time of each target that parked cases get."""

from __future__ import annotations

import pytest
from campaign_examples import ONE, TWO, call

from ciguard.campaign.batches import Turn
from ciguard.campaign.parking import Parking
from ciguard.campaign.running_batches import PendingBatch, RunningBatches
from ciguard.domain.api_calls import CallKind
from ciguard.domain.outcomes import Passed
from ciguard.levels import Batch

PASSED = Passed(b"[]", 0.0)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("ciguard.campaign.parking.time.monotonic", clock)
    return clock


def park(
    batches: RunningBatches, parking: Parking, number: int, *targets: str, name: str = "double"
) -> None:
    """Park the second of two cases of a new batch on each target."""
    api = f"planted.{name}"
    batch = Batch(api=api, kind=CallKind.FUNCTION, cases=(call(name, 1), call(name, 2)))
    pending = PendingBatch(Turn(number, api, 0), batch, [*targets])
    pending.outcomes = {target: [PASSED, None] for target in targets}
    pending.parked = {target: [1] for target in targets}
    batches.add(pending)
    for target in targets:
        parking.add(number, target)


def started(parking: Parking) -> list[tuple[int, str]]:
    entries = [(p.turn.number, name) for p, name in parking.start(is_idle=False, is_ordered=False)]
    for number, name in entries:
        assert parking.end(number, name)
        parking.note_time(name, 1.0, is_retry=True)
    return entries


@pytest.mark.parametrize(
    ("busy_s", "elapsed_s", "runs"),
    [(0.0, 1.0, False), (8.0, 9.0, False), (10.0, 1.0, True), (0.0, 11.0, True)],
)
def test_a_tenth_of_the_busy_time_or_of_one_worker_is_for_parked_cases(
    clock: Clock, busy_s: float, elapsed_s: float, *, runs: bool
) -> None:
    batches = RunningBatches()
    parking = Parking(batches)
    parking.start_clock()
    park(batches, parking, 1, ONE)
    park(batches, parking, 2, ONE)
    assert started(parking) == [(1, ONE)]  # the first one takes a second

    parking.note_time(ONE, busy_s, is_retry=False)
    clock.now += elapsed_s

    assert started(parking) == ([(2, ONE)] if runs else [])


def test_each_target_runs_parked_cases_of_one_batch_at_a_time(clock: Clock) -> None:
    del clock
    batches = RunningBatches()
    parking = Parking(batches)
    park(batches, parking, 1, ONE, TWO)
    park(batches, parking, 2, ONE, TWO)

    entries = [
        (pending.turn.number, target)
        for pending, target in parking.start(is_idle=True, is_ordered=False)
    ]

    assert entries == [(1, ONE), (1, TWO)]
    assert parking.running == 2


def test_cases_of_apis_that_hang_run_last(clock: Clock) -> None:
    del clock
    batches = RunningBatches()
    parking = Parking(batches)
    park(batches, parking, 1, ONE)
    park(batches, parking, 2, ONE, name="spin")
    parking.note_hang("planted.double")

    assert started(parking) == [(2, ONE)]


def test_giving_up_makes_batches_partial(clock: Clock) -> None:
    del clock
    batches = RunningBatches()
    parking = Parking(batches)
    park(batches, parking, 1, ONE, TWO)

    assert parking.clear() == 2
    assert [pending.is_partial for pending in batches] == [True]
    assert started(parking) == []
