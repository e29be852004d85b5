from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from campaign_examples import ONE, TWO, call, group, member

from ciguard.campaign.stages.relatives import CrashRelatives
from ciguard.campaign.stream import ExecutedBatch
from ciguard.config import Config
from ciguard.domain.api_calls import CallKind
from ciguard.domain.outcomes import Crashed, Outcome, Passed
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.execution import JobResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.group import Group
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.events import Event
    from ciguard.execution import Job

CRASHED, PASSED = Crashed("SIGSEGV", (), ""), Passed(b'["i","1"]', 0.1)


@dataclass
class FakeDispatcher:
    """A dispatcher whose jobs all have the same outcome for every case."""

    outcome: Outcome = CRASHED
    jobs: list[Job] = field(default_factory=list)

    def add(self, job: Job) -> None:
        self.jobs.append(job)


@dataclass
class FakeCollector:
    """A collector that keeps the judged batches."""

    judged: list[ExecutedBatch] = field(default_factory=list)

    def take(self, executed: ExecutedBatch, group: Group) -> Iterator[Event]:
        del group
        self.judged.append(executed)
        return iter(())


class Fixture:
    """The stage with its state, and an event loop that answers all of its jobs."""

    is_proven = True

    def __init__(self, *targets: str, config: Config | None = None, time_s: float = 60.0) -> None:
        self.dispatcher = FakeDispatcher()
        self.collector = FakeCollector()
        self.group = group(*[member(name) for name in targets or (ONE,)])
        for each in self.group.members.values():
            each.catalogue = {
                f"planted.{name}": _record(f"planted.{name}", parameter)
                for name, parameter in (("fragile", "x"), ("cube", "x"), ("join", "texts"))
            }
        state = SimpleNamespace(
            config=config or Config(),
            budget=SimpleNamespace(relatives_until=time.monotonic() + time_s, elapsed_s=1.0),
            groups={"planted": self.group},
            dispatcher=self.dispatcher,
            collector=self.collector,
        )
        self.stage = CrashRelatives(cast("CampaignState", state))

    def watch(self, *calls: ApiCall, outcome: Outcome = CRASHED) -> None:
        outcomes = {name: (outcome,) * len(calls) for name in self.group.names}
        self.stage.watch(ExecutedBatch(calls[0].api, calls, outcomes), self.group)

    def run(self) -> list[Event]:
        return list(self.stage.run(self))

    def step(self, *, is_exploring: bool = False) -> Iterator[Event]:
        del is_exploring
        jobs, self.dispatcher.jobs = self.dispatcher.jobs, []
        for job in jobs:
            outcomes = (self.dispatcher.outcome,) * len(job.cases)
            yield from self.stage.take(JobResult(job, outcomes, 0.1))

    overtime_s = 0.0

    @property
    def needed_s(self) -> float:
        return 0.0

    def step_running(self) -> Iterator[Event]:
        return self.step()


def _record(api: str, parameter: str) -> ApiRecord:
    parameters = (ParameterRecord(name=parameter),)
    return ApiRecord(api=api, kind=CallKind.FUNCTION, parameters=parameters)


def test_calls_that_crashed_run_on_the_relatives_of_their_api_and_are_judged() -> None:
    fixture = Fixture(ONE, TWO)
    fixture.watch(call("fragile", -1), call("fragile", -2))

    events = fixture.run()

    (judged,) = fixture.collector.judged
    assert judged.api == "planted.cube"
    assert judged.cases == (call("cube", -1), call("cube", -2))
    assert judged.outcomes == {ONE: (CRASHED,) * 2, TWO: (CRASHED,) * 2}
    assert len(events) == 2  # one count per target


def test_calls_that_passed_or_have_a_relation_run_on_no_relative() -> None:
    fixture = Fixture()
    fixture.watch(call("fragile"), outcome=PASSED)
    fixture.watch(replace(call("fragile"), relation="same call twice"))

    assert not fixture.run()
    assert not fixture.collector.judged


def test_only_a_few_crashes_of_one_api_run_on_its_relatives() -> None:
    fixture = Fixture()
    fixture.watch(*[call("fragile", -number) for number in range(1, 40)])

    fixture.run()

    (judged,) = fixture.collector.judged
    assert 0 < len(judged.cases) < 10


def test_relatives_are_among_the_selected_apis() -> None:
    fixture = Fixture(config=Config(exclude=("planted.cube",)))
    fixture.watch(call("fragile"))

    fixture.run()

    assert not fixture.collector.judged


def test_relatives_end_at_their_deadline() -> None:
    fixture = Fixture(time_s=-1.0)
    fixture.watch(call("fragile"))

    assert not fixture.run()
    assert not fixture.dispatcher.jobs


def test_relatives_on_a_failed_target_are_judged_on_the_others() -> None:
    fixture = Fixture(ONE, TWO)
    fixture.watch(call("fragile"))
    answering = fixture.step

    def step_without_two(*, is_exploring: bool = False) -> Iterator[Event]:
        fixture.dispatcher.jobs = [job for job in fixture.dispatcher.jobs if job.target == ONE]
        yield from answering(is_exploring=is_exploring)
        yield from fixture.stage.give_up(TWO)

    fixture.step = step_without_two  # type: ignore[method-assign]
    fixture.run()

    (judged,) = fixture.collector.judged
    assert list(judged.outcomes) == [ONE]
