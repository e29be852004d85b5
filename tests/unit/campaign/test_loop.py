from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, call, group, member

from ciguard import interrupts
from ciguard.baseline.store import FolderStore
from ciguard.campaign.conclude import BaselineSnapshot
from ciguard.campaign.finding_collector import FindingCollector
from ciguard.campaign.frontier import Frontier
from ciguard.campaign.journal import Journal, ResumeState, read_journal
from ciguard.campaign.loop import Loop
from ciguard.campaign.stages.explore import Explore
from ciguard.campaign.stages.stage import CampaignStage, EventLoop
from ciguard.campaign.state import CampaignState, begin
from ciguard.campaign.stream import ExecutedBatch, Stream
from ciguard.config import Config
from ciguard.domain.events import Event, StageFinished, TargetUnavailable
from ciguard.domain.outcomes import Crashed
from ciguard.domain.policy import Action, Policy
from ciguard.execution import Job, JobResult, Priority
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from ciguard.domain.findings import Finding
    from ciguard.execution import Dispatcher

API = "planted.fragile"
CASES = tuple(call("fragile", -1 - number) for number in range(4))


class OneBatch:
    """A stream whose only batch has run and waits to be judged."""

    name = "planted"

    def __init__(self) -> None:
        self.group = group(member(ONE, API))
        self.judged = 0

    def take(self, result: JobResult) -> list[ExecutedBatch]:
        del result
        return [EXECUTED]

    def mark_judged(self) -> None:
        self.judged += 1

    def state(self) -> dict[str, object]:
        return {"cases": len(CASES) * self.judged, "batches": {"done": self.judged}}

    def new_feedback(self) -> list[object]:
        return []


class Interrupting(Policy):
    """Interrupt the process while it judges, like Ctrl-C."""

    def action(self, finding: Finding) -> Action:
        if finding.case == CASES[1]:
            os.kill(os.getpid(), signal.SIGINT)
        return super().action(finding)


@dataclass
class FakeDispatcher:
    """A dispatcher with unproven and invalidated results."""

    jobs: list[Job] = field(default_factory=list)
    waiting: set[tuple[str, Hashable]] = field(default_factory=set)
    invalidated: list[Job] = field(default_factory=list)
    results: list[JobResult] = field(default_factory=list)
    failed: str = ""

    def unproven(self) -> set[tuple[str, Hashable]]:
        return set(self.waiting)

    def take_invalidated(self) -> list[Job]:
        taken, self.invalidated = self.invalidated, []
        return taken

    def wait(self, timeout_s: float) -> list[JobResult]:
        del timeout_s
        taken, self.results = self.results, []
        return taken

    def failure(self, target: str) -> str:
        del target
        return self.failed

    def add(self, job: Job, priority: Priority = Priority.NORMAL) -> None:
        del priority
        self.jobs.append(job)


EXECUTED = ExecutedBatch(API, CASES, {ONE: (Crashed("SIGSEGV"),) * len(CASES)})
JOB = Job(ONE, (Stream.KEY, "planted", 0), tuple(map(encode, CASES)))
RESULT = JobResult(JOB, EXECUTED.outcomes[ONE], 0.1)


def state_of(
    dispatcher: FakeDispatcher, journal: Journal, policy: Policy | None = None
) -> CampaignState:
    """Return the state of a run whose only stream is `OneBatch`, under a policy."""
    stream = OneBatch()
    config = Config()
    memory = BaselineSnapshot(
        store=FolderStore(Path("baseline")),
        records={},
        is_first=True,
        frontier=Frontier(Path("baseline"), is_first=True),
    )
    state = begin(
        config, memory, ResumeState(), dispatcher=cast("Dispatcher", dispatcher), journal=journal
    )
    if policy is not None:
        state.collector = FindingCollector(
            confirmer=state.confirmer,
            journal=journal,
            groups=state.groups,
            known=(),
            policy=policy,
        )
    state.groups["planted"] = stream.group
    state.streams["planted"] = cast("Stream", stream)
    return state


def loop_of(state: CampaignState) -> Loop:
    return Loop(state, [Explore(state)])


def step(loop: Loop, dispatcher: FakeDispatcher, *results: JobResult) -> None:
    """Step the loop with these results, and record the progress."""
    dispatcher.results += results
    list(loop.step())
    loop.finish()


def done(folder: Path) -> int:
    streams = read_journal(folder).streams
    return int(streams["planted"]["batches"]["done"]) if streams else 0


def test_a_batch_with_unproven_results_runs_again_on_resume(tmp_path: Path) -> None:
    dispatcher = FakeDispatcher(waiting={(ONE, JOB.key)})
    with Journal(tmp_path) as journal:
        journal.start({"seed": 1})
        loop = loop_of(state_of(dispatcher, journal))

        step(loop, dispatcher, RESULT)
        unproven = done(tmp_path)
        dispatcher.waiting.clear()
        step(loop, dispatcher)

    assert unproven == 0
    assert done(tmp_path) == 1


def test_an_invalidated_batch_counts_once_its_rerun_is_proven(tmp_path: Path) -> None:
    dispatcher = FakeDispatcher(waiting={(ONE, JOB.key)})
    with Journal(tmp_path) as journal:
        journal.start({"seed": 1})
        loop = loop_of(state_of(dispatcher, journal))
        step(loop, dispatcher, RESULT)

        dispatcher.waiting, dispatcher.invalidated = set(), [JOB]
        step(loop, dispatcher)
        while_invalid = done(tmp_path)
        again = next(job for job in dispatcher.jobs if job.is_careful)
        step(loop, dispatcher, JobResult(again, EXECUTED.outcomes[ONE], 0.1))

    assert while_invalid == 0
    assert done(tmp_path) == 1


def test_an_interrupted_batch_is_counted_completely(tmp_path: Path) -> None:
    dispatcher = FakeDispatcher(results=[RESULT])
    with Journal(tmp_path) as journal:
        journal.start({"seed": 1})
        loop = loop_of(state_of(dispatcher, journal, Interrupting()))
        with interrupts.raised(), pytest.raises(KeyboardInterrupt):
            list(loop.step())

        loop.finish()

    past = read_journal(tmp_path)
    assert past.streams["planted"]["batches"]["done"] == 1
    assert sum(past.counts.values()) == len(CASES)


def test_a_result_of_no_stage_is_an_error(tmp_path: Path) -> None:
    stray = Job(ONE, ("nobody", 1), JOB.cases)
    dispatcher = FakeDispatcher(results=[JobResult(stray, EXECUTED.outcomes[ONE], 0.1)])
    with Journal(tmp_path) as journal:
        loop = loop_of(state_of(dispatcher, journal))

        with pytest.raises(AssertionError, match="nobody"):
            list(loop.step())


class Recording(CampaignStage):
    """A stage that logs its calls."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self._log = log

    def run(self, turns: EventLoop) -> Iterator[Event]:
        self._log.append(f"run {self.name}")
        yield from turns.step()

    def start_jobs(self, *, is_exploring: bool) -> Iterator[Event]:
        del is_exploring
        self._log.append(f"prepare {self.name}")
        return iter(())

    def give_up(self, target: str) -> Iterator[Event]:
        self._log.append(f"{self.name} without {target}")
        return iter(())

    def close(self) -> None:
        self._log.append(f"close {self.name}")


def test_every_stage_starts_jobs_while_others_run(tmp_path: Path) -> None:
    log: list[str] = []
    with Journal(tmp_path) as journal:
        loop = Loop(state_of(FakeDispatcher(), journal), [Recording("a", log), Recording("b", log)])

        events = list(loop.run())
        loop.finish()

    assert [event.stage for event in events if isinstance(event, StageFinished)] == ["a", "b"]
    assert log == [
        *("run a", "prepare a", "prepare b"),
        *("run b", "prepare a", "prepare b"),
        *("close b", "close a"),
    ]


def test_a_failed_target_is_reported_once_and_dropped_by_all_stages(
    tmp_path: Path,
) -> None:
    log: list[str] = []
    with Journal(tmp_path) as journal:
        journal.start({"seed": 1})
        loop = Loop(state_of(FakeDispatcher(failed="gone"), journal), [Recording("a", log)])

        events = [*loop.step_running(), *loop.step_running()]
        loop.finish()

    assert events == [TargetUnavailable(target=ONE, reason="gone")]
    assert log == [f"a without {ONE}"] * 2 + ["close a"]
    assert done(tmp_path) == 0
