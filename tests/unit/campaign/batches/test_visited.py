"""Batches of a level that visits each API separately."""

from __future__ import annotations

import random
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from campaign_examples import call
from hypothesis import given, settings
from hypothesis import strategies as st

from ciguard.campaign.batches import UnknownProgressError, VisitedBatches
from ciguard.domain.api_calls import CallKind
from ciguard.domain.outcomes import Crashed, Outcome, Passed, Rejected
from ciguard.domain.shards import Shard
from ciguard.knowledge import Experience
from ciguard.levels import ApiShare, Batch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.campaign.batches import Turn

APIS = tuple(f"planted.f{number}" for number in range(7))
PER_BATCH = 4
TARGET = "current[planted]"


class CountingLevel:
    """A level whose cases are made of the visit and of all feedback about their API so far."""

    batch_sizes = (PER_BATCH,)

    def __init__(self, apis: Sequence[str] = APIS) -> None:
        self.apis = apis
        self.noted: Counter[str] = Counter()
        self.replayed: Counter[str] = Counter()

    def visit(self, api: str, number: int) -> Batch:
        name = api.removeprefix("planted.")
        numbers = [number * 1000 + self.noted[api] * 10 + index for index in range(PER_BATCH)]
        cases = tuple(call(name, value) for value in numbers)
        return Batch(api=api, kind=CallKind.FUNCTION, cases=cases)

    def recall(self, learned: Mapping[str, Experience]) -> None:
        raise AssertionError(learned)

    def feedback(self, batch: Batch, outcomes: Sequence[Outcome]) -> Experience | None:
        assert len(outcomes) == len(batch.cases)
        return Experience(noted=sum(isinstance(outcome, Passed) for outcome in outcomes))

    def learn(self, api: str, feedback: Experience) -> None:
        self.noted[api] += feedback.noted

    def replay(self, api: str, feedback: Experience) -> None:
        self.replayed[api] += feedback.noted

    def learned(self) -> dict[str, Experience]:
        return {api: Experience(noted=noted) for api, noted in self.noted.items()}


def batches(
    *, is_adaptive: bool = False, last: int = 0, shares: Sequence[ApiShare] = ()
) -> VisitedBatches:
    shares = shares or [ApiShare(1, APIS)]
    made = VisitedBatches(CountingLevel(), shares, seed=3, is_adaptive=is_adaptive)
    made.last = last
    return made


def outcome_of(api: str, visit: int) -> Outcome:
    """Return an outcome that differs between APIs; one API always crashes."""
    if api == APIS[0]:
        return Crashed("SIGSEGV")
    return Passed(b"1", 0.1) if (visit + APIS.index(api)) % 3 else Rejected("ValueError", "no")


Ran = list[tuple["Turn", Batch]]


def play(
    source: VisitedBatches,
    choices: random.Random,
    *,
    window: int = 3,
    limit: int = 10_000,
    states: list[dict[str, Any]] | None = None,
) -> Ran:
    """Run batches that end in a random order, but are judged as a stream judges them."""
    running: dict[int, tuple[Turn, Batch]] = {}
    ended: dict[int, tuple[Turn, Batch]] = {}
    judged: Ran = []
    while len(judged) < limit:
        while len(running) < window and (turn := source.next_turn()):
            running[turn.number] = turn, source.batch(turn)
        if running:
            number = choices.choice(sorted(running))
            ended[number] = running.pop(number)
        open_numbers = [*running, *source.waiting] if source.is_ordered else []
        ready = [n for n in sorted(ended) if not open_numbers or n < min(open_numbers)]
        for number in ready:
            turn, batch = ended.pop(number)
            row = tuple(outcome_of(turn.api, turn.visit) for _ in batch.cases)
            source.complete(turn, batch, {TARGET: row}, cost_s=0.01)
            judged.append((turn, batch))
            if states is not None:
                states.append(source.state())
        if not running and not ended and source.is_at_end:
            break
    return judged


def by_api(ran: Ran) -> dict[str, list[Batch]]:
    return {api: [batch for turn, batch in ran if turn.api == api] for api in APIS}


@settings(max_examples=30)
@given(st.integers(), st.integers(1, 12))
def test_the_fixed_order_does_not_depend_on_the_speed_of_workers(seed: int, window: int) -> None:
    one_by_one = play(batches(last=100), random.Random(0), window=1)

    assert play(batches(last=100), random.Random(seed), window=window) == one_by_one


@settings(max_examples=30)
@given(st.integers(), st.integers(1, 12))
def test_the_adaptive_order_gives_an_api_the_batches_of_the_fixed_order(
    seed: int, window: int
) -> None:
    adaptive = by_api(
        play(batches(is_adaptive=True), random.Random(seed), window=window, limit=120)
    )
    fixed = by_api(play(batches(last=3000), random.Random(0)))

    for api in APIS[1:]:
        assert adaptive[api] == fixed[api][: len(adaptive[api])]


def test_a_batch_uses_the_feedback_of_all_earlier_batches_of_its_api() -> None:
    ran = play(batches(last=70), random.Random(0))

    passed: Counter[str] = Counter()
    for turn, batch in ran:
        (first,) = batch.cases[0].values
        assert first.value == turn.visit * 1000 + passed[turn.api] * 10  # type: ignore[union-attr]
        is_passed = isinstance(outcome_of(turn.api, turn.visit), Passed)
        passed[turn.api] += PER_BATCH * is_passed


def test_no_api_waits_for_another_one() -> None:
    source = batches(last=1000)
    started = []
    while turn := source.next_turn():
        started.append(turn.api)
        if turn.api != APIS[3]:
            batch = source.batch(turn)
            source.complete(turn, batch, {TARGET: [Passed(b"", 0.1)] * PER_BATCH}, cost_s=0.01)

    assert started.count(APIS[3]) == 1
    assert started.count(APIS[4]) > 50


def test_an_api_that_crashes_repeatedly_is_skipped_in_the_fixed_order() -> None:
    ran = by_api(play(batches(last=700), random.Random(0)))

    assert len(ran[APIS[1]]) == 100
    assert 6 <= len(ran[APIS[0]]) < 12


@pytest.mark.parametrize("is_adaptive", [False, True])
def test_every_api_is_visited_before_one_is_visited_again(is_adaptive: bool) -> None:  # noqa: FBT001
    ran = play(batches(is_adaptive=is_adaptive), random.Random(0), limit=40)

    first_turns = sorted(ran, key=lambda entry: entry[0].number)[: len(APIS)]
    assert {turn.api for turn, _ in first_turns} == set(APIS)


@pytest.mark.parametrize("is_adaptive", [True, False])
def test_the_first_pass_ends_when_every_api_had_a_turn(is_adaptive: bool) -> None:  # noqa: FBT001
    source = batches(is_adaptive=is_adaptive)

    for _ in APIS:
        assert source.is_first_pass
        assert source.next_turn() is not None

    assert not source.is_first_pass


def test_unvisited_apis_are_counted_until_each_was_judged_once() -> None:
    source = batches(is_adaptive=True)
    source.own = APIS[:3]
    assert (source.apis, source.unvisited) == (3, 3)

    for expected in (2, 1, 0, 0):
        turn = source.next_turn()
        while turn and turn.api not in APIS[:3]:
            source.complete(turn, source.batch(turn), {}, cost_s=0.0)
            turn = source.next_turn()
        if turn:
            passed = [Passed(b"", 0.1)] * PER_BATCH
            source.complete(turn, source.batch(turn), {TARGET: passed}, cost_s=0.01)
        assert source.unvisited == expected


def test_the_adaptive_order_divides_the_time_equally() -> None:
    source = batches(is_adaptive=True)
    cost_s = {APIS[1]: 1.0, APIS[2]: 0.1}
    taken: Counter[str] = Counter()
    for _ in range(400):
        turn = source.next_turn()
        assert turn is not None
        taken[turn.api] += 1
        outcomes = [Passed(b"", 0.1)] * PER_BATCH
        batch = source.batch(turn)
        source.complete(turn, batch, {TARGET: outcomes}, cost_s=cost_s.get(turn.api, 0.0))

    cheap = [taken[api] for api in (APIS[0], *APIS[3:])]
    assert max(cheap) - min(cheap) <= 1
    assert taken[APIS[2]] == pytest.approx(cheap[0] / 6, abs=1)  # a batch counts 20 ms more
    assert taken[APIS[1]] == pytest.approx(cheap[0] / 51, abs=1)


def test_an_api_whose_namesake_crashed_gets_more_time() -> None:
    apis = ["planted.max_pool", "planted.avg_pool", *(f"other.f{n}" for n in range(8))]
    source = VisitedBatches(CountingLevel(apis), [ApiShare(1, apis)], seed=3, is_adaptive=True)
    taken: Counter[str] = Counter()
    for _ in range(400):
        turn = source.next_turn()
        assert turn is not None
        taken[turn.api] += 1
        has_crashed = turn.api == apis[0] and turn.visit == 0
        outcomes = [Crashed("SIGSEGV") if has_crashed else Passed(b"", 0.1)] * PER_BATCH
        source.complete(turn, source.batch(turn), {TARGET: outcomes}, cost_s=0.0)

    others = [taken[api] for api in apis[2:]]
    assert max(others) - min(others) <= 1
    assert min(others) >= 400 / len(apis) / 2
    assert taken[apis[1]] > 4 * max(others)


def test_shares_divide_the_turns() -> None:
    shares = [ApiShare(7, APIS[:2]), ApiShare(3, APIS[2:])]

    for is_adaptive in (False, True):
        source = batches(is_adaptive=is_adaptive, shares=shares)
        turns = []
        for _ in range(100):
            turn = source.next_turn()
            assert turn is not None
            turns.append(turn.api)
            passed = [Passed(b"", 0.1)] * PER_BATCH
            source.complete(turn, source.batch(turn), {TARGET: passed}, cost_s=0.01)
        assert sum(api in APIS[:2] for api in turns) == 70


@settings(max_examples=40)
@given(st.integers(), st.integers(0, 60), st.booleans())
def test_a_resumed_run_continues_with_the_same_batches(
    seed: int,
    cut: int,
    is_adaptive: bool,  # noqa: FBT001
) -> None:
    states: list[dict[str, Any]] = []
    whole = batches(is_adaptive=is_adaptive, last=100)
    ran = play(whole, random.Random(0), states=states, limit=80)
    place = cut % len(states)
    judged = Counter(turn.api for turn, _ in ran[: place + 1])
    feedback = [entry for entry in whole.new_feedback() if entry.index < judged[entry.api]]

    rest = batches(is_adaptive=is_adaptive, last=100)
    rest.continue_from(states[place], feedback)
    continued = play(rest, random.Random(seed), limit=80)

    before = by_api(ran[: place + 1])
    for api, made in by_api(continued).items():
        expected = by_api(ran)[api]
        both = [*before[api], *made]
        assert both[: len(expected)] == expected[: len(both)]
    if not is_adaptive:
        together = ran[: place + 1] + continued
        assert together[: len(ran)] == ran[: len(together)]


@settings(max_examples=20)
@given(st.integers(), st.integers(1, 6))
def test_all_shards_together_make_the_batches_of_one_run(seed: int, count: int) -> None:
    whole = play(batches(last=200), random.Random(0))
    parts = []
    for index in range(count):
        shard = batches(last=200)
        shard.own = Shard(index + 1, count).select(APIS)
        parts.append(play(shard, random.Random(seed)))

    assert sorted(chain(*parts), key=lambda entry: entry[0].number) == whole


def test_a_repeated_run_stops_at_the_visits_of_the_first() -> None:
    first = batches(is_adaptive=True)
    ran = play(first, random.Random(0), limit=60)

    for is_adaptive in (True, False):
        again = batches(is_adaptive=is_adaptive)
        again.end_at(first.done, first.visits)
        repeated = by_api(play(again, random.Random(1)))

        for api, expected in by_api(ran).items():
            is_retired = api == APIS[0] and not is_adaptive
            assert is_retired or repeated[api] == expected
            assert len(repeated[api]) <= len(expected)


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"turn": 0, "done": 0, "visits": "x", "deaths": {}},
        {"turn": 0, "done": 0, "visits": batches().visits[:-2], "deaths": {}},
        {"turn": 0, "done": 0, "visits": batches().visits, "deaths": []},
    ],
)
def test_progress_of_other_batches_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(UnknownProgressError, match=r"not|APIs"):
        batches().continue_from(state, ())
