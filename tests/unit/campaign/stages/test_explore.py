"""Exploring: which streams run, and for how long."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, group, member, record

from ciguard.campaign import budget
from ciguard.campaign.batches import VisitedBatches
from ciguard.campaign.stages import explore
from ciguard.campaign.stages.explore import Explore, ExploreAgain
from ciguard.campaign.stream import Stream
from ciguard.config import Config
from ciguard.levels import ApiShare
from ciguard.levels.api.level import ApiLevel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.execution import Dispatcher, Job

CORES = 1000
"""More than any machine has."""


class Collecting:
    """A dispatcher whose jobs never end."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def add(self, job: Job) -> None:
        self.jobs.append(job)


class Clock:
    """A clock that stands still until a step."""

    now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


class Steps:
    """A loop whose steps take a tenth of a second each; the stages need some time."""

    is_proven = True

    def __init__(self, clock: Clock, *, needed_s: float, overtime_s: float = 0.0) -> None:
        self.needed_s = needed_s
        self.overtime_s = overtime_s
        self._clock = clock

    def step(self, *, is_exploring: bool = False) -> Iterator[Event]:
        assert is_exploring
        return self.step_running()

    def step_running(self) -> Iterator[Event]:
        self._clock.now_s += 0.1
        return iter(())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in (budget, explore):
        monkeypatch.setattr(module, "time", made)
    return made


def visited(name: str, apis: int, *, lanes: int) -> Stream:
    records = [record(f"{name}.f{number}") for number in range(apis)]
    names = [api.api for api in records]
    batches = VisitedBatches(ApiLevel(records, 0), [ApiShare(1, names)], seed=0, is_adaptive=True)
    return Stream(name, batches, group(member(ONE, *names)), lanes=lanes)


def state_of(*streams: Stream, total_s: float) -> CampaignState:
    state = SimpleNamespace(
        streams={stream.name: stream for stream in streams},
        groups={stream.name: stream.group for stream in streams},
        dispatcher=cast("Dispatcher", Collecting()),
        budget=budget.Budget(total_s),
        config=Config(out=Path("out")),
        is_late=False,
    )
    return cast("CampaignState", state)


@pytest.mark.parametrize("lanes", [1, CORES])
def test_a_stream_gives_way_only_to_streams_that_occupy_all_cores(clock: Clock, lanes: int) -> None:
    small, large = visited("small", 1, lanes=1), visited("large", 10 * CORES, lanes=lanes)
    turn = small.batches.next_turn()  # its only API has had its turn
    assert turn is not None
    small.batches.complete(turn, small.batches.batch(turn), {ONE: ()}, cost_s=0.01)
    state = state_of(small, large, total_s=10.0)

    list(Explore(state).run(Steps(clock, needed_s=0.0)))

    started = {job.key[1] for job in cast("Collecting", state.dispatcher).jobs}  # type: ignore[index]
    assert started == ({"large"} if lanes == CORES else {"small", "large"})


@pytest.mark.parametrize(("needed_s", "explored_s"), [(0.0, 88.0), (10.0, 81.5), (50.0, 74.0)])
def test_exploring_leaves_the_time_that_other_stages_need(
    clock: Clock, needed_s: float, explored_s: float
) -> None:
    state = state_of(visited("only", 10_000, lanes=1), total_s=100.0)
    began_s = clock.now_s

    list(Explore(state).run(Steps(clock, needed_s=needed_s)))

    assert clock.now_s - began_s == pytest.approx(explored_s, abs=0.2)


@pytest.mark.parametrize(("overtime_s", "explored_s"), [(0.0, 76.0), (5.0, 71.0), (50.0, 42.0)])
def test_exploring_ends_earlier_if_a_later_stage_needs_more_than_its_share(
    clock: Clock, overtime_s: float, explored_s: float
) -> None:
    state = state_of(visited("only", 10_000, lanes=1), total_s=100.0)
    state.budget.measures = True
    began_s = clock.now_s

    list(Explore(state).run(Steps(clock, needed_s=0.0, overtime_s=overtime_s)))

    assert clock.now_s - began_s == pytest.approx(explored_s, abs=0.2)


@pytest.mark.parametrize(
    ("measured_s", "again_s"), [(0.0, 12.0), (5.0, 7.0), (12.0, 0.0)], ids=["unused", "part", "all"]
)
def test_time_that_measuring_leaves_goes_back_to_exploring(
    clock: Clock, measured_s: float, again_s: float
) -> None:
    state = state_of(visited("only", 10_000, lanes=1), total_s=100.0)
    state.budget.measures = True
    stage, steps = Explore(state), Steps(clock, needed_s=0.0)
    list(stage.run(steps))
    clock.now_s += measured_s
    before_s = clock.now_s

    list(ExploreAgain(stage).run(steps))

    assert clock.now_s - before_s == pytest.approx(again_s, abs=0.3)
