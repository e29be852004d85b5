"""The stage that plants defects into judged calls."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from campaign_examples import ONE, call, group, member

from ciguard.campaign.budget import Budget
from ciguard.campaign.stages.detect import Detect
from ciguard.campaign.stream import ExecutedBatch
from ciguard.config import Config
from ciguard.domain.outcomes import Rejected
from ciguard.execution import JobResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.execution import Job

REJECTED = Rejected("ValueError", "no")


class Answering:
    """A dispatcher and a loop whose jobs end at once, as if no defect had been planted."""

    is_proven = True
    needed_s = 0.0

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.waiting: list[Job] = []
        self.stage: Detect | None = None

    def add(self, job: Job) -> None:
        self.jobs.append(job)
        self.waiting.append(job)

    def step(self, *, is_exploring: bool = False) -> Iterator[Event]:
        assert not is_exploring
        return self.step_running()

    def step_running(self) -> Iterator[Event]:
        assert self.stage is not None
        waiting, self.waiting = self.waiting, []
        for job in waiting:
            yield from self.stage.take(JobResult(job, (REJECTED,) * len(job.cases), 0.1))


def test_defects_run_in_workers_of_their_own_and_each_call_is_tried() -> None:
    api, calls = "planted.double", tuple(call("double", number) for number in range(40))
    answering, tested = Answering(), group(member(ONE, "planted.double"))
    state = SimpleNamespace(
        config=Config(),
        groups={"planted": tested},
        dispatcher=answering,
        budget=Budget(1000.0),
        detection=None,
    )
    stage = answering.stage = Detect(cast("CampaignState", state))

    stage.watch(ExecutedBatch(api, calls, {ONE: (REJECTED,) * len(calls)}), tested)
    list(stage.run(answering))

    assert [len(job.cases) for job in answering.jobs] == [16, 16, 8]
    assert all(job.fresh for job in answering.jobs)
    assert state.detection is not None
    assert [defect.api for defect in state.detection.missed] == [api]
