"""Delayed feedback of guided levels, and its form in the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from campaign_examples import ONE, TWO, call
from hypothesis import given
from hypothesis import strategies as st

from ciguard.campaign.batches import WINDOW, Feedback, pack, unpack
from ciguard.campaign.batches.feedback import FeedbackQueue
from ciguard.domain.api_calls import CallKind
from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.domain.values import Json, LiteralValue
from ciguard.knowledge import Experience
from ciguard.levels import Batch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PASSED, REFUSED = Passed(b"", 0.1), Rejected("ValueError", "no")


class Guided:
    """A level that records the feedback it receives."""

    def __init__(self) -> None:
        self.observed: list[int] = []

    def cases(self, index: int) -> Batch:
        return batch(index)

    def feedback(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> Json:
        del batch
        return [index, *outcomes]

    def update(self, feedback: Json) -> None:
        index, *targets = feedback
        assert targets == [ONE, TWO]
        self.observed.append(index)


def batch(index: int) -> Batch:
    return Batch(api="planted.double", kind=CallKind.FUNCTION, cases=(call("double", index),))


def observe(feedback: FeedbackQueue, indices: range) -> None:
    for index in indices:
        feedback.observe(index, batch(index), {ONE: (PASSED,), TWO: (REFUSED,)})


@given(st.lists(st.integers(1, 40), max_size=8))
def test_a_batch_uses_feedback_up_to_a_fixed_lag(steps: list[int]) -> None:
    level = Guided()
    feedback = FeedbackQueue(level)
    done = 0
    for step in steps:
        observe(feedback, range(done, done + step))
        done += step

        feedback.apply_until(done)

        assert level.observed == list(range(max(0, done - WINDOW + 1)))


def test_feedback_is_recorded_once_for_judged_batches() -> None:
    feedback = FeedbackQueue(Guided())
    observe(feedback, range(5))

    assert [entry.index for entry in feedback.drain(3)] == [0, 1, 2]
    assert [entry.index for entry in feedback.drain(5)] == [3, 4]
    assert feedback.drain(5) == []


def test_a_resumed_level_receives_the_feedback_with_the_same_lag() -> None:
    first, second = Guided(), Guided()
    feedback, resumed = FeedbackQueue(first), FeedbackQueue(second)
    observe(feedback, range(10))
    recorded = unpack(pack(feedback.drain(10)))

    feedback.apply_until(10)
    resumed.restore(recorded)
    resumed.apply_until(10)

    assert first.observed == second.observed == [0, 1, 2, 3, 4]


@given(st.integers(0, 9), st.sampled_from(["é", "x"]))
def test_feedback_round_trips_through_the_journal(index: int, text: str) -> None:
    experience = Experience()
    experience.note({"x": LiteralValue(text)}, ("x",), Rejected("ValueError", "x must be > 0"))
    feedback = Feedback(index, "planted.double", experience)

    assert unpack(pack([feedback])) == [feedback]


@pytest.mark.parametrize("text", ["", "%%%", "abc", pack([])[:-3]])
def test_malformed_feedback_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(text)
