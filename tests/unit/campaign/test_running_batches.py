"""The batches of a stream that are not judged yet."""

from __future__ import annotations

from ciguard.campaign.batches import Turn
from ciguard.campaign.running_batches import PendingBatch, RunningBatches
from ciguard.domain.outcomes import Outcome, Passed

PASSED: Outcome = Passed(b"", 0.0)
BOTH = {"a", "b"}


def started(batches: RunningBatches, number: int, *targets: str) -> PendingBatch:
    pending = PendingBatch(Turn(number, f"lib.f{number}", 0), None, [*targets])
    batches.add(pending)
    return pending


def give(batches: RunningBatches, pending: PendingBatch, target: str) -> None:
    pending.outcomes[target] = [PASSED]
    batches.note_change(pending)


def test_a_batch_is_complete_once_all_targets_have_returned() -> None:
    batches = RunningBatches()
    pending = started(batches, 0, "a", "b")

    give(batches, pending, "a")
    assert batches.complete(BOTH) == []
    assert batches.unreturned == 1

    give(batches, pending, "b")
    assert batches.complete(BOTH) == [pending]
    assert batches.unreturned == 0


def test_a_complete_batch_is_returned_until_it_is_removed() -> None:
    batches = RunningBatches()
    second, first = started(batches, 2), started(batches, 1)

    assert batches.complete(BOTH) == [first, second]
    batches.remove(first)

    assert batches.complete(BOTH) == [second]
    assert len(batches) == 1
    assert batches.get(1) is None


def test_a_batch_with_parked_cases_is_complete_when_they_have_run() -> None:
    batches = RunningBatches()
    pending = started(batches, 0, "a")
    pending.parked["a"] = [0]
    give(batches, pending, "a")

    assert batches.complete(BOTH) == []
    assert batches.unreturned == 0
    del pending.parked["a"]
    batches.note_change(pending)

    assert batches.complete(BOTH) == [pending]


def test_a_failed_target_is_not_awaited() -> None:
    batches = RunningBatches()
    pending = started(batches, 0, "a", "b")
    give(batches, pending, "a")
    assert batches.complete(BOTH) == []

    assert batches.complete({"a"}) == [pending]


def test_the_first_incomplete_batch_has_the_smallest_number() -> None:
    batches = RunningBatches()
    started(batches, 0)
    started(batches, 3, "a")
    started(batches, 1, "a")
    batches.complete(BOTH)

    assert batches.first_incomplete == 1


def test_cases_without_an_outcome_on_every_target_are_unknown() -> None:
    pending = PendingBatch(Turn(0, "lib.f", 0), None, ["a", "b"])
    pending.outcomes |= {"b": [PASSED, None, PASSED], "a": [PASSED, PASSED, None]}

    assert pending.known_indices == [0]
    assert [*pending.outcomes_in_order] == ["a", "b"]
