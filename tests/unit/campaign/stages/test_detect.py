"""The stage that plants defects into judged calls."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, call, group, member

from ciguard.campaign.detecting import MAX_DEFECTS, sampled_apis
from ciguard.campaign.stages.detect import Detect
from ciguard.campaign.stream import ExecutedBatch
from ciguard.config import Config
from ciguard.domain.outcomes import Hung, Rejected
from ciguard.execution import JobResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.campaign.state import CampaignState
    from ciguard.domain.detection import Detection
    from ciguard.domain.events import Event
    from ciguard.execution import Job

REJECTED = Rejected("ValueError", "no")


class Clock:
    """A clock that only a loop advances, so that the speed of the machine does not matter."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("ciguard.campaign.stages.detect.time", SimpleNamespace(monotonic=clock))
    return clock


class Answering:
    """A dispatcher and a loop whose jobs end at once, as if no defect had been planted."""

    is_proven = True
    needed_s = 0.0
    overtime_s = 0.0

    def __init__(self, clock: Clock, *, hangs: bool = False, takes_s: float = 0.0) -> None:
        self.clock = clock
        self.jobs: list[Job] = []
        self.waiting: list[Job] = []
        self.stage: Detect | None = None
        self._hangs = hangs
        """True if the first call of each job hangs, after which no other runs."""
        self._takes_s = takes_s
        """Time that all waiting jobs take together, in seconds."""

    def add(self, job: Job) -> None:
        self.jobs.append(job)
        self.waiting.append(job)

    def step(self, *, is_exploring: bool = False) -> Iterator[Event]:
        assert not is_exploring
        return self.step_running()

    def step_running(self) -> Iterator[Event]:
        assert self.stage is not None
        self.clock.now_s += self._takes_s
        waiting, self.waiting = self.waiting, []
        for job in waiting:
            outcomes = (Hung(1.0),) if self._hangs else (REJECTED,) * len(job.cases)
            yield from self.stage.take(JobResult(job, outcomes, 0.1))


def detected(
    calls: Mapping[str, int], answering: Answering, *, limit_s: float = 40.0
) -> Detection | None:
    """Return the planted defects of a run with so many calls of each API."""
    tested = group(member(ONE, *calls))
    state = SimpleNamespace(
        config=Config(),
        groups={"planted": tested},
        dispatcher=answering,
        budget=SimpleNamespace(detect_until=answering.clock.now_s + limit_s, measures=False),
        detection=None,
    )
    stage = answering.stage = Detect(cast("CampaignState", state))
    for api, count in calls.items():
        name = api.removeprefix("planted.")
        cases = tuple(call(name, number) for number in range(count))
        if not cases:
            continue
        stage.watch(ExecutedBatch(api, cases, {ONE: (REJECTED,) * count}), tested)
    list(stage.run(answering))
    detection: Detection | None = state.detection
    return detection


def test_defects_run_in_workers_of_their_own_and_each_call_is_tried(clock: Clock) -> None:
    answering = Answering(clock)

    detection = detected({"planted.double": 40}, answering)

    assert [len(job.cases) for job in answering.jobs] == [8, 8, 8]
    assert all(job.fresh for job in answering.jobs)
    assert detection is not None
    assert [defect.api for defect in detection.missed] == ["planted.double"]


@pytest.mark.parametrize("hangs", [False, True])
def test_several_defects_share_a_worker_and_each_is_decided(clock: Clock, *, hangs: bool) -> None:
    answering = Answering(clock, hangs=hangs)

    detection = detected({f"planted.f{number}": 8 for number in range(9)}, answering)

    assert [len(job.cases) for job in answering.jobs[:3]] == [32, 32, 8]
    assert detection is not None
    assert len(detection.missed) == 9
    assert len(answering.jobs) == (9 if hangs else 3)


def test_without_enough_time_only_defects_before_the_first_undecided_one_count(
    clock: Clock,
) -> None:
    slow = Answering(clock, takes_s=0.3)
    calls = {f"planted.f{number}": 8 for number in range(12)}
    order = sampled_apis(Config(), group(member(ONE, *calls)).records(), MAX_DEFECTS)

    detection = detected({**calls, order[7]: 40}, slow, limit_s=0.2)

    assert detection is not None
    assert {defect.api for defect in detection.missed} == set(order[:7])


def test_a_run_without_any_decided_defect_has_no_share(clock: Clock) -> None:
    slow = Answering(clock, takes_s=0.3)

    detection = detected({f"planted.f{number}": 40 for number in range(30)}, slow, limit_s=0.2)

    assert [len(job.cases) for job in slow.jobs] == [32] * 6
    assert detection is None


def test_defects_of_an_api_that_was_never_called_count_in_their_turn(clock: Clock) -> None:
    slow = Answering(clock, takes_s=0.3)
    calls = {f"planted.f{number}": 8 for number in range(12)}
    order = sampled_apis(Config(), group(member(ONE, *calls)).records(), MAX_DEFECTS)

    detection = detected({**calls, order[2]: 0, order[7]: 40, order[9]: 0}, slow, limit_s=0.2)

    assert detection is not None
    assert [defect.api for defect in detection.uncalled] == [order[2]]
    assert len(detection.missed) == 6
