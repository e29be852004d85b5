from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from campaign_examples import ONE, TWO, call
from hypothesis import given
from hypothesis import strategies as st

from ciguard.campaign.feedback import Feedback, FeedbackQueue, pack, unpack
from ciguard.domain.api_calls import CallKind
from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.domain.values import Json, LiteralValue
from ciguard.knowledge import Experience
from ciguard.levels import Batch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LAG = 24
PASSED, REFUSED = Passed(b"", 0.1), Rejected("ValueError", "no")


class RecordingLevel:
    """A level that records its feedback."""

    def __init__(self) -> None:
        self.observed: list[int] = []
        self.outcomes: list[list[Outcome]] = []
        self.relearned = 0

    def cases(self, index: int) -> Batch:
        return batch(index)

    def recall(self, learned: object) -> None:
        raise AssertionError(learned)

    def feedback(self, taught: Batch, outcomes: list[Outcome]) -> Experience | None:
        del taught
        self.outcomes.append(list(outcomes))
        return Experience(noted=len(self.outcomes))

    def learn(self, api: str, lesson: Experience) -> None:
        del api
        self.observed.append(lesson.noted)

    def replay(self, api: str, lesson: Experience) -> None:
        del api, lesson
        self.relearned += 1

    def learned(self) -> dict[str, Experience]:
        return {"planted.double": Experience(noted=len(self.observed))}


class Guided:
    """A level that follows what all targets made of its batches."""

    def __init__(self) -> None:
        self.observed: list[int] = []

    def cases(self, index: int) -> Batch:
        return batch(index)

    def feedback(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> Json:
        del batch
        return [index, *outcomes]

    def update(self, lesson: Json) -> None:
        index, *targets = lesson
        assert targets == [ONE, TWO]
        self.observed.append(index)


class Fixed:
    """A level that learns nothing."""

    def cases(self, index: int) -> Batch:
        return batch(index)


def batch(index: int) -> Batch:
    return Batch(api="planted.double", kind=CallKind.FUNCTION, cases=(call("double", index),))


def drawn(feedback: FeedbackQueue, count: int) -> None:
    for index in range(count):
        feedback.observe(index, batch(index), {ONE: (PASSED,)})


@given(st.lists(st.integers(1, 40), max_size=8))
def test_a_batch_uses_feedback_up_to_a_fixed_lag(steps: list[int]) -> None:
    level = RecordingLevel()
    feedback = FeedbackQueue(level, window=6)
    done = 0
    for step in steps:
        for index in range(done, done + step):
            feedback.observe(index, batch(index), {ONE: (PASSED,)})
        done += step

        feedback.apply_until(done)

        assert len(level.observed) == max(0, done - LAG + 1)


def test_a_wide_window_widens_the_lag() -> None:
    level = RecordingLevel()
    feedback = FeedbackQueue(level, window=48)
    drawn(feedback, 48)

    feedback.apply_until(48)

    assert level.observed == [1]


def test_feedback_comes_from_the_target_that_got_furthest() -> None:
    level = RecordingLevel()

    FeedbackQueue(level, window=6).observe(
        0, batch(0), {ONE: (REFUSED, REFUSED), TWO: (REFUSED, PASSED)}
    )

    assert level.outcomes == [[REFUSED, PASSED]]


def test_feedback_is_recorded_once_for_judged_batches() -> None:
    feedback = FeedbackQueue(RecordingLevel(), window=6)
    drawn(feedback, 5)

    assert [one.index for one in feedback.drain(3)] == [0, 1, 2]
    assert [one.index for one in feedback.drain(5)] == [3, 4]
    assert feedback.drain(5) == []


def test_restored_feedback_reaches_the_level_with_the_same_lag() -> None:
    noted = FeedbackQueue(RecordingLevel(), window=6)
    drawn(noted, 30)
    level = RecordingLevel()
    resumed = FeedbackQueue(level, window=6)

    resumed.restore(unpack(pack(noted.drain(30))))
    resumed.apply_until(30)

    assert level.relearned == 30
    assert level.observed == list(range(1, 8))


def test_all_feedback_is_applied_at_the_end() -> None:
    level = RecordingLevel()
    feedback = FeedbackQueue(level, window=6)
    drawn(feedback, 30)

    assert feedback.apply_all()["planted.double"].noted == 30


def test_a_guided_level_observes_all_targets_and_continues_when_resumed() -> None:
    first, second = Guided(), Guided()
    feedback = FeedbackQueue(first, window=6)
    for index in range(10):
        feedback.observe(index, batch(index), {ONE: (PASSED,), TWO: (REFUSED,)})
    noted = unpack(pack(feedback.drain(10)))
    resumed = FeedbackQueue(second, window=6)

    feedback.apply_until(10)
    resumed.restore(noted)
    resumed.apply_until(10)

    assert first.observed == second.observed == [0, 1, 2, 3, 4]
    assert resumed.apply_all() == {}
    assert second.observed == list(range(10))


def test_a_level_without_feedback_gets_none() -> None:
    feedback = FeedbackQueue(Fixed(), window=6)
    drawn(feedback, 3)

    feedback.apply_until(100)

    assert feedback.drain(3) == []
    assert feedback.apply_all() == {}


@given(st.integers(0, 9), st.sampled_from(["é", "x"]))
def test_feedback_round_trips_through_the_journal(index: int, text: str) -> None:
    experience = Experience()
    experience.note({"x": LiteralValue(text)}, ("x",), Rejected("ValueError", "x must be > 0"))
    lesson = Feedback(index, "planted.double", experience)

    assert unpack(pack([lesson])) == [lesson]


@pytest.mark.parametrize("text", ["", "%%%", "abc", pack([])[:-3]])
def test_malformed_feedback_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(text)
