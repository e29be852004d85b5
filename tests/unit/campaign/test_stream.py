from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import pytest
from campaign_examples import ONE, TWO, call, group, member, record
from hypothesis import given, settings
from hypothesis import strategies as st

from ciguard.campaign.batches import IndexedBatches, VisitedBatches
from ciguard.campaign.pace import MIN_FIRST_LIMIT_S
from ciguard.campaign.stream import ExecutedBatch, Stream
from ciguard.domain.api_calls import CallKind
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Crashed, Exhausted, Hung, Outcome, Passed, Resource
from ciguard.domain.shards import Shard
from ciguard.domain.values import LiteralValue
from ciguard.execution import Job, JobResult, Priority
from ciguard.levels import ApiShare, Batch
from ciguard.levels.api.level import ApiLevel
from ciguard.targets import GUARDED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.campaign.group import Group, Member
    from ciguard.execution import Dispatcher
    from ciguard.knowledge import Experience
    from ciguard.levels import Level

FUNCTIONS = ("double", "fragile", "spin", "cube")
APIS = tuple(f"planted.{function}" for function in FUNCTIONS)
PER_BATCH = 4
LANES = 2
WINDOW = 6

OUTCOMES: dict[str, Outcome] = {
    "double": Passed(b"1", 0.1),
    "fragile": Crashed("SIGSEGV"),
    "spin": Hung(1.0),
    "cube": Exhausted(Resource.MEMORY, was_killed=True),
}


class Rounds:
    """A level that calls one function after the other."""

    def cases(self, index: int) -> Batch:
        function = FUNCTIONS[index % len(FUNCTIONS)]
        calls = tuple(call(function, index * PER_BATCH + i) for i in range(PER_BATCH))
        return Batch(api=f"planted.{function}", kind=CallKind.FUNCTION, cases=calls)


@dataclass
class FakeDispatcher:
    """A dispatcher that stores jobs until a test finishes one."""

    jobs: list[Job] = field(default_factory=list)
    proposed: list[tuple[str, int]] = field(default_factory=list)

    def add(self, job: Job, priority: Priority = Priority.NORMAL) -> None:
        assert priority is Priority.NORMAL
        self.jobs.append(job)
        self.proposed.append((job.target, index_of(job)))

    def finish(self, choice: int) -> JobResult:
        return finished(self.jobs.pop(choice % len(self.jobs)))


def index_of(job: Job) -> int:
    _, _, index = cast("tuple[str, str, int]", job.key)
    return index


def finished(job: Job) -> JobResult:
    outcome = OUTCOMES[FUNCTIONS[index_of(job) % len(FUNCTIONS)]]
    count = 1 if isinstance(outcome, Hung) else len(job.cases)
    return JobResult(job, (outcome,) * count, 0.1)


def chance(seed: int = 0) -> random.Random:
    return random.Random(seed)


def in_rounds(tested: Group, level: Level | None = None) -> Stream:
    batches = IndexedBatches(level or Rounds(), apis=len(FUNCTIONS))
    return Stream("explore", batches, tested, lanes=LANES)


def stream(*targets: str, end_after: int = 0) -> Stream:
    members = [member(name, *APIS) for name in targets or (ONE,)]
    made = in_rounds(group(*members))
    if end_after:
        made.end_after(end_after)
    return made


@pytest.mark.parametrize(
    ("cases", "turns"), [(1, 1), (8, 2), (12, 3), (13, 4), (28, 4), (45, 6), (61, 7), (200, 9)]
)
def test_a_number_of_cases_is_divided_by_the_sizes_of_batches(cases: int, turns: int) -> None:
    apis = [record(name) for name in APIS[:3]]  # 4 calls each, then 16, then 64
    source = VisitedBatches(ApiLevel(apis, 0), [ApiShare(1, [api.api for api in apis])], seed=0)
    made = Stream("explore", source, group(member(ONE, *APIS)), lanes=LANES)

    made.end_after(cases)

    assert source.last == turns


def play(
    played: Stream, choices: random.Random, *, state_every: list[dict[str, Any]] | None = None
) -> tuple[list[ExecutedBatch], set[tuple[str, int]]]:
    """Run a stream to its end, jobs ending in an order of chance."""
    dispatcher = FakeDispatcher()
    handed_on: list[ExecutedBatch] = []
    while not played.is_exhausted:
        played.fill(cast("Dispatcher", dispatcher))
        taken = (
            played.take(dispatcher.finish(choices.randrange(1 << 16)))
            if dispatcher.jobs
            else iter(())
        )
        for executed in chain(played.completed(), taken):
            handed_on.append(executed)
            played.mark_judged()
            if state_every is not None:
                state_every.append(played.state())
    return handed_on, set(dispatcher.proposed)


def summary(batches: list[ExecutedBatch]) -> list[tuple[str, int, dict[str, int]]]:
    return [
        (b.api, len(b.cases), {name: len(out) for name, out in b.outcomes.items()}) for b in batches
    ]


@given(st.integers())
def test_the_order_of_results_does_not_matter(seed: int) -> None:
    in_order, proposed = play(stream(ONE, TWO, end_after=400), chance())

    again, proposed_again = play(stream(ONE, TWO, end_after=400), chance(seed))

    assert summary(again) == summary(in_order)
    assert [batch.cases for batch in again] == [batch.cases for batch in in_order]
    assert proposed_again == proposed


def test_batches_are_returned_in_the_order_of_their_index() -> None:
    played = stream()
    dispatcher = FakeDispatcher()
    played.fill(cast("Dispatcher", dispatcher))

    late = [list(played.take(dispatcher.finish(-1))) for _ in range(WINDOW - 1)]
    at_last = list(played.take(dispatcher.finish(0)))

    assert late == [[]] * (WINDOW - 1)
    assert [batch.cases[0] for batch in at_last] == [
        Rounds().cases(index).cases[0] for index in range(WINDOW)
    ]


def test_at_most_a_window_of_batches_is_running() -> None:
    played, dispatcher = stream(), FakeDispatcher()

    played.fill(cast("Dispatcher", dispatcher))
    played.fill(cast("Dispatcher", dispatcher))

    assert [index for _, index in dispatcher.proposed] == list(range(WINDOW))


def test_an_api_that_crashes_repeatedly_is_skipped() -> None:
    batches, _ = play(stream(end_after=1600), chance())

    met = [batch.api for batch in batches]
    assert met.count("planted.double") == 100
    assert met.count("planted.fragile") < 12
    assert met.count("planted.cube") < 12
    assert met.count("planted.spin") < 8


def test_a_stream_of_programs_ignores_crashes() -> None:
    played = stream(end_after=1600)
    played.is_whole = played.batches.avoids_crashes = True
    batches, _ = play(played, chance())

    assert [batch.api for batch in batches].count("planted.fragile") == 100
    assert played.state()["batches"]["deaths"] == {}


def test_a_skipped_api_is_tested_again_at_intervals() -> None:
    some, _ = play(stream(end_after=1600), chance())
    more, _ = play(stream(end_after=6400), chance())

    tries, later = ([b.api for b in of].count("planted.fragile") for of in (some, more))

    assert tries < later < 2 * tries + 10


def test_after_a_hang_the_rest_of_the_batch_is_ignored_on_every_target() -> None:
    played, dispatcher = stream(ONE, TWO, end_after=12), FakeDispatcher()
    played.fill(cast("Dispatcher", dispatcher))
    executed = [e for _ in range(len(dispatcher.jobs)) for e in played.take(dispatcher.finish(0))]

    (hung,) = [batch for batch in executed if batch.api == "planted.spin"]

    assert len(hung.cases) == 1
    assert {len(outcomes) for outcomes in hung.outcomes.values()} == {1}
    assert played.cases == 4 + 4 + 1


@pytest.mark.parametrize(("cases", "batches"), [(1, 1), (4, 1), (5, 2), (40, 10)])
def test_a_limit_of_cases_is_reached_in_whole_batches(cases: int, batches: int) -> None:
    handed_on, proposed = play(stream(end_after=cases), chance())

    assert len(handed_on) == len(proposed) == batches


@given(st.integers(), st.integers(0, 30))
def test_a_resumed_stream_continues_with_the_same_batches(seed: int, cut: int) -> None:
    states: list[dict[str, Any]] = []
    whole, _ = play(stream(ONE, TWO, end_after=400), chance(), state_every=states)
    place = cut % len(states)

    rest = stream(ONE, TWO, end_after=400)
    rest.continue_from(states[place], ())
    handed_on, _ = play(rest, chance(seed))

    assert summary(whole[: place + 1] + handed_on) == summary(whole)


def test_batches_that_were_not_judged_run_again_when_resumed() -> None:
    played, dispatcher = stream(), FakeDispatcher()
    played.fill(cast("Dispatcher", dispatcher))
    list(played.take(dispatcher.finish(0)))

    interrupted = next(played.take(dispatcher.finish(0)))

    assert interrupted.api == "planted.fragile"
    assert played.state() == {"cases": 4, "batches": {"done": 1, "deaths": {}}}


def test_a_failed_target_does_not_block_the_stream() -> None:
    played, dispatcher = stream(ONE, TWO), FakeDispatcher()
    played.fill(cast("Dispatcher", dispatcher))
    (first,) = [job for job in dispatcher.jobs if index_of(job) == 0 and job.target == ONE]
    assert list(played.take(finished(first))) == []

    played.group.members[TWO].not_run = "its fork server exited"

    (executed,) = played.completed()
    assert set(executed.outcomes) == {ONE}


def test_a_target_without_an_api_does_not_run_it() -> None:
    members = (member(ONE, "planted.double"), member(TWO, *APIS))
    tested = group(*members)
    played = in_rounds(tested)
    dispatcher = FakeDispatcher()

    played.fill(cast("Dispatcher", dispatcher))

    assert [index for name, index in dispatcher.proposed if name == ONE] == [0, 4]
    assert [index for name, index in dispatcher.proposed if name == TWO] == list(range(WINDOW))


def test_a_stream_ends_when_all_its_apis_are_skipped() -> None:
    deadly = member(ONE, "planted.fragile", "planted.spin")
    played = in_rounds(group(deadly))

    batches, _ = play(played, chance())

    assert {batch.api for batch in batches} == {"planted.fragile", "planted.spin"}
    assert len(batches) < 20
    assert played.is_exhausted


TRACED = "current[planted] TRACED=1"


def in_mode(name: str, mode: str) -> Member:
    made = member(name, *APIS)
    made.identity = replace(made.identity, mode=mode)
    return made


class Mixed(Rounds):
    """A level of which every other case is meant to be refused, and one is tried with a twin."""

    def cases(self, index: int) -> Batch:
        calls = [call("double", index * PER_BATCH + i) for i in range(4 * PER_BATCH)]
        calls[::2] = [replace(case, intent=Intent.VIOLATING) for case in calls[::2]]
        calls[1] = replace(calls[1], relation="same call twice")
        return Batch(api="planted.double", kind=CallKind.FUNCTION, cases=tuple(calls))


def test_a_mode_gets_a_few_conforming_cases_and_its_eager_reference_the_same() -> None:
    tested = group(member(ONE, *APIS), in_mode(TWO, "trace"), in_mode(TRACED, "compile"))
    played = in_rounds(tested, Mixed())
    played.mode = "trace"
    played.end_after(4)

    ((batch,), proposed) = play(played, chance())

    assert {target for target, _ in proposed} == {ONE, TWO} == set(batch.outcomes)
    assert [case.values for case in batch.cases] == [(LiteralValue(n),) for n in (3, 5, 7, 9)]


class Scouting(Rounds):
    """A level whose first batch is for the cheapest target."""

    def cases(self, index: int) -> Batch:
        return replace(super().cases(index), is_scouting=index == 0)


def test_a_scouting_batch_runs_on_one_target_only() -> None:
    tested = group(member(ONE, *APIS), member(TWO, *APIS))
    compiled = tested.members[ONE]
    compiled.identity = replace(compiled.identity, engine="jax")
    played, dispatcher = in_rounds(tested, Scouting()), FakeDispatcher()

    played.fill(cast("Dispatcher", dispatcher))

    assert [name for name, index in dispatcher.proposed if index == 0] == [TWO]
    assert [name for name, index in dispatcher.proposed if index == 1] == [ONE, TWO]


def test_a_guarded_target_gets_all_cases_alone() -> None:
    tested = group(member(ONE, *APIS), in_mode(TWO, GUARDED))
    played = in_rounds(tested, Mixed())
    played.mode = GUARDED
    played.end_after(4 * PER_BATCH)

    ((batch,), proposed) = play(played, chance())

    assert {target for target, _ in proposed} == {TWO} == set(batch.outcomes)
    assert len(batch.cases) == 4 * PER_BATCH


def eager(tested: Group) -> Stream:
    made = in_rounds(tested)
    made.end_after(40)
    return made


def test_eager_streams_are_not_delayed_by_modes() -> None:
    tested = group(member(ONE, *APIS), in_mode(TWO, "trace"))

    _, proposed = play(eager(tested), chance())

    assert {target for target, _ in proposed} == {ONE}


def shard_of(shard: Shard, *, end_after: int) -> Stream:
    made = stream(ONE, TWO, end_after=end_after)
    made.batches.own = shard.select(APIS)
    return made


@settings(max_examples=20)
@given(st.integers(), st.integers(1, 6))
@pytest.mark.lengthy
def test_all_shards_together_make_the_batches_of_one_run(seed: int, count: int) -> None:
    whole, _ = play(stream(ONE, TWO, end_after=1600), chance())
    shards = [shard_of(Shard(i + 1, count), end_after=1600) for i in range(count)]

    parts = [play(shard, chance(seed))[0] for shard in shards]

    order = {batch.cases[0]: place for place, batch in enumerate(whole)}
    together = sorted(chain(*parts), key=lambda batch: order[batch.cases[0]])
    assert together == whole
    assert [len(part) > 0 for part in parts] == [i < len(APIS) for i in range(count)]


def test_a_shard_runs_as_many_batches_at_a_time_as_a_whole_run() -> None:
    played, dispatcher = shard_of(Shard(1, 2), end_after=400), FakeDispatcher()

    played.fill(cast("Dispatcher", dispatcher))

    assert len({index for _, index in dispatcher.proposed}) == 4
    assert {FUNCTIONS[index % 4] for _, index in dispatcher.proposed} == {
        api.removeprefix("planted.") for api in Shard(1, 2).select(APIS)
    }


@given(st.integers(), st.integers(0, 30))
@pytest.mark.lengthy
def test_a_resumed_shard_continues_with_the_same_batches(seed: int, cut: int) -> None:
    states: list[dict[str, Any]] = []
    shard = Shard(2, 3)
    whole, _ = play(shard_of(shard, end_after=400), chance(), state_every=states)
    place = cut % len(states)

    rest = shard_of(shard, end_after=400)
    rest.continue_from(states[place], ())
    handed_on, _ = play(rest, chance(seed))

    assert summary(whole[: place + 1] + handed_on) == summary(whole)


class Visits:
    """A level that visits one API; its batches have four cases."""

    apis = ("planted.double",)
    batch_sizes = (PER_BATCH,)

    def visit(self, api: str, number: int) -> Batch:
        calls = tuple(call("double", number * PER_BATCH + index) for index in range(PER_BATCH))
        return Batch(api=api, kind=CallKind.FUNCTION, cases=calls)

    def recall(self, learned: Mapping[str, Experience]) -> None:
        raise AssertionError(learned)

    def feedback(self, batch: Batch, outcomes: Sequence[Outcome]) -> Experience | None:
        assert len(batch.cases) == len(outcomes)
        return None

    def learn(self, api: str, feedback: Experience) -> None:
        raise AssertionError(api, feedback)

    def replay(self, api: str, feedback: Experience) -> None:
        raise AssertionError(api, feedback)

    def learned(self) -> dict[str, Experience]:
        return {}


SLOW, PASSED = Hung(0.3), Passed(b"1", 0.001)


def parking_stream(*targets: str, is_adaptive: bool = True) -> Stream:
    batches = VisitedBatches(Visits(), [ApiShare(1, Visits.apis)], seed=0, is_adaptive=is_adaptive)
    made = Stream(
        "visits", batches, group(*(member(name, *APIS) for name in targets or (ONE,))), lanes=1
    )
    made.parks = True
    return made


def start(played: Stream) -> FakeDispatcher:
    dispatcher = FakeDispatcher()
    played.fill(cast("Dispatcher", dispatcher))
    return dispatcher


def test_a_case_that_exceeds_the_first_timeout_runs_again_with_the_full_one() -> None:
    played = parking_stream()
    dispatcher = start(played)
    (job,) = dispatcher.jobs

    first = list(played.take(JobResult(job, (PASSED, SLOW, PASSED, PASSED), 0.3)))
    played.fill(cast("Dispatcher", dispatcher))
    retry = dispatcher.jobs[-1]
    (executed,) = played.take(JobResult(retry, (PASSED,), 1.2))

    assert first == []
    assert (job.first_limit_s, retry.first_limit_s, retry.limit_s) == (MIN_FIRST_LIMIT_S, 0.0, 0.0)
    assert retry.cases == (job.cases[1],)
    assert executed.outcomes == {ONE: (PASSED,) * 4}
    assert played.dropped_cases == 0


def test_cases_after_a_hang_of_parked_ones_are_left_out_on_every_target() -> None:
    played = parking_stream(ONE, TWO)
    dispatcher = start(played)
    one, two = dispatcher.jobs
    hung = Hung(5.0)

    list(played.take(JobResult(two, (PASSED,) * 4, 0.01)))
    list(played.take(JobResult(one, (PASSED, SLOW, SLOW, SLOW), 0.9)))
    played.fill(cast("Dispatcher", dispatcher))
    (executed,) = played.take(JobResult(dispatcher.jobs[-1], (hung,), 5.0))

    assert executed.outcomes == {ONE: (PASSED, hung), TWO: (PASSED, PASSED)}
    assert [case.values for case in executed.cases] == [(LiteralValue(n),) for n in (0, 1)]


def test_the_rest_of_a_batch_is_parked_after_several_slow_cases() -> None:
    played = parking_stream()
    dispatcher = start(played)
    (job,) = dispatcher.jobs

    list(played.take(JobResult(job, (SLOW, SLOW, SLOW), 0.9)))
    played.fill(cast("Dispatcher", dispatcher))

    assert job.max_hangs == 3
    assert dispatcher.jobs[-1].cases == job.cases
    assert dispatcher.jobs[-1].max_hangs == 1


def test_parked_cases_take_a_bounded_share_of_the_time() -> None:
    many = tuple(f"planted.{name}" for name in FUNCTIONS)
    level = Visits()
    level.apis = many  # type: ignore[assignment]
    batches = VisitedBatches(level, [ApiShare(1, many)], seed=0, is_adaptive=True)
    played = Stream("visits", batches, group(member(ONE, *APIS)), lanes=2)
    played.parks = True
    dispatcher = start(played)
    for job in list(dispatcher.jobs):
        list(played.take(JobResult(job, (PASSED, SLOW, PASSED, PASSED), 0.3)))

    played.fill(cast("Dispatcher", dispatcher))
    retries = dispatcher.jobs[len(many) :]
    list(played.take(JobResult(retries[0], (PASSED,), 5.0)))
    played.fill(cast("Dispatcher", dispatcher))

    assert len(retries) == 1
    assert [job for job in dispatcher.jobs[len(many) + 1 :] if not job.first_limit_s] == []


def test_parked_cases_run_again_at_once_in_a_fixed_order() -> None:
    played = parking_stream(ONE, TWO, is_adaptive=False)
    dispatcher = start(played)
    for job in list(dispatcher.jobs):
        list(played.take(JobResult(job, (PASSED, SLOW, PASSED, PASSED), 0.3)))

    played.fill(cast("Dispatcher", dispatcher))

    assert [job.target for job in dispatcher.jobs[2:]] == [ONE, TWO]


def test_dropped_parked_cases_leave_the_others_to_be_judged() -> None:
    played = parking_stream()
    dispatcher = start(played)
    (job,) = dispatcher.jobs
    list(played.take(JobResult(job, (PASSED, SLOW, PASSED, PASSED), 0.3)))
    played.fill(cast("Dispatcher", dispatcher))

    played.drop_parked()
    (executed,) = played.completed()
    late = list(played.take(JobResult(dispatcher.jobs[-1], (PASSED,), 5.0)))

    assert executed.outcomes == {ONE: (PASSED,) * 3}
    assert late == []
    assert played.dropped_cases == 1
    assert played.batches.done == 0


def test_a_batch_that_returns_after_exploring_is_judged_without_its_slow_cases() -> None:
    played = parking_stream(is_adaptive=False)
    dispatcher = start(played)
    played.drop_parked()

    (executed,) = played.take(JobResult(dispatcher.jobs[0], (PASSED, SLOW, PASSED, PASSED), 0.3))

    assert executed.outcomes == {ONE: (PASSED,) * 3}
    assert (played.dropped_cases, played.batches.done) == (1, 0)


def test_parked_cases_run_again_if_nothing_else_can_run() -> None:
    played = parking_stream()
    dispatcher = start(played)
    for _ in range(5):
        job = dispatcher.jobs.pop()
        assert job.first_limit_s
        list(played.take(JobResult(job, (PASSED, SLOW, PASSED, PASSED), 0.3)))
        played.fill(cast("Dispatcher", dispatcher))
        list(played.take(JobResult(dispatcher.jobs.pop(), (PASSED,), 5.0)))
        played.fill(cast("Dispatcher", dispatcher))

    assert played.batches.done == 5


def test_the_cases_after_a_hang_do_not_depend_on_the_speed_of_the_machine() -> None:
    hung = Hung(5.0)
    judged: list[ExecutedBatch] = []
    for first_run in ((PASSED, SLOW, PASSED, PASSED), (PASSED, SLOW, PASSED, SLOW)):
        played = parking_stream(is_adaptive=False)
        dispatcher = start(played)
        list(played.take(JobResult(dispatcher.jobs.pop(), first_run, 0.6)))
        played.fill(cast("Dispatcher", dispatcher))
        (retry,) = [job for job in dispatcher.jobs if not job.first_limit_s]
        judged += played.take(JobResult(retry, (hung,), 5.0))

    assert [batch.outcomes for batch in judged] == [{ONE: (PASSED, hung)}] * 2


def test_a_failed_target_leaves_no_retry_that_occupies_the_window() -> None:
    played = parking_stream(ONE, TWO, is_adaptive=False)
    dispatcher = start(played)
    one, two = dispatcher.jobs
    list(played.take(JobResult(one, (PASSED,) * 4, 0.1)))
    list(played.take(JobResult(two, (PASSED, SLOW, PASSED, PASSED), 0.3)))
    played.fill(cast("Dispatcher", dispatcher))
    played.group.members[TWO].not_run = "its fork server exited"

    (executed,) = played.completed()
    before = len(dispatcher.jobs)
    for _ in range(3):
        played.fill(cast("Dispatcher", dispatcher))
        list(played.take(JobResult(dispatcher.jobs[-1], (PASSED,) * 4, 0.1)))

    assert set(executed.outcomes) == {ONE, TWO}
    assert len(dispatcher.jobs) == before + 3


def test_a_group_without_running_targets_generates_no_batches() -> None:
    played = parking_stream()
    played.group.members[ONE].not_run = "its fork server exited"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Visits, "visit", lambda *_: pytest.fail("a batch was generated"))
        dispatcher = start(played)

    assert dispatcher.jobs == []


def test_a_backend_that_compiles_calls_parks_nothing() -> None:
    played = parking_stream()
    compiled = played.group.members[ONE]
    compiled.identity = replace(compiled.identity, engine="jax")

    dispatcher = start(played)

    assert {job.first_limit_s for job in dispatcher.jobs} == {0.0}


def test_devices_and_modes_park_nothing() -> None:
    on_gpu, traced = member(ONE, *APIS), in_mode(TWO, "trace")
    on_gpu.identity = replace(on_gpu.identity, device="cuda")
    played = parking_stream()
    played.group, played.mode = group(on_gpu, traced), "trace"

    dispatcher = start(played)

    assert {(job.target, job.first_limit_s, job.max_hangs) for job in dispatcher.jobs} == {
        (ONE, 0.0, 1),
        (TWO, 0.0, 1),
    }
