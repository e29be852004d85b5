"""The event loop of a run, which routes results of the dispatcher to the stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.campaign.progress import ProgressRecorder
from ciguard.campaign.reruns import Reruns
from ciguard.domain.events import Event, StageFinished, TargetUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import CampaignStage
    from ciguard.campaign.state import CampaignState
    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.execution import Job, JobResult

_WAIT_S = 0.1


class Loop:
    """Runs the stages one after the other, and routes results to all of them (`EventLoop`).

    It also handles invalidated results, failed targets, and the journal.
    """

    def __init__(self, state: CampaignState, stages: Sequence[CampaignStage]) -> None:
        """Make the loop of one run.

        Args:
            state: state of the run.
            stages: stages in the order in which they run.
        """
        self._state = state
        self._stages = stages
        self._reruns = Reruns(state.dispatcher, state.groups, on_invalidated=self._invalidate)
        self._progress = ProgressRecorder(state, self._reruns)
        self._owners = {key: stage for stage in stages for key in stage.keys}

    def run(self) -> Iterator[Event]:
        """Run all stages."""
        budget = self._state.budget
        for stage in self._stages:
            yield from stage.run(self)
            yield StageFinished(stage=stage.name, spent_s=budget.finish_stage(stage.name))

    def finish(self) -> list[Event]:
        """Close all stages, and record the progress of the run.

        Returns:
            Warnings of invalidated results. A target whose invalidated results were not replaced
            counts as not run.
        """
        for stage in reversed(self._stages):  # candidates before measurements
            stage.close()
        self._progress.record(force=True)
        members = self._state.members
        for name, cases in self._reruns.unsettled().items():
            if not members[name].not_run:
                members[name].not_run = (
                    f"the results of {cases:,} cases are invalid: their workers were not proven "
                    "trustworthy, and the cases were not run again in time"
                )
        return list(self._reruns.totals())

    # --- one step -------------------------------------------------------------------------------

    @property
    def is_proven(self) -> bool:
        """True if every result is proven, and no case runs again."""
        return self._state.dispatcher.prove() and self._reruns.is_idle

    @property
    def needed_s(self) -> float:
        """Expected time for the waiting work of all stages, in seconds."""
        return sum(stage.needed_s for stage in self._stages)

    @property
    def overtime_s(self) -> float:
        """Expected time that stages need beyond their shares of the budget, in seconds."""
        return sum(stage.overtime_s for stage in self._stages)

    def step(self, *, is_exploring: bool = False) -> Iterator[Event]:
        """Let all stages start jobs, then route results; see `EventLoop`."""
        for stage in self._stages:
            yield from stage.start_jobs(is_exploring=is_exploring)
        yield from self.step_running()

    def step_running(self) -> Iterator[Event]:
        """Route results without letting stages start new jobs; see `EventLoop`."""
        for result in self._state.dispatcher.wait(_WAIT_S):
            yield from self._route(result)
        yield from self._reruns.pump()
        yield from self._check_failures()
        self._progress.record()

    def _route(self, result: JobResult) -> Iterator[Event]:
        match result.job.key:
            case (Reruns.KEY, _):
                for group, executed in self._reruns.take(result):
                    yield from self._judge_again(group, executed)
            case (str(key), *_) if key in self._owners:
                yield from self._owners[key].take(result)
            case key:
                msg = f"no stage owns the job {key!r}"
                raise AssertionError(msg)

    def _invalidate(self, job: Job) -> None:
        """Notify all stages that the results of a job are invalid."""
        for stage in self._stages:
            stage.invalidate(job)

    def _judge_again(self, group: Group, executed: ExecutedBatch) -> Iterator[Event]:
        """Judge a batch that ran again; it may show a bucket whose replay had passed."""
        if self._state.investigations.note(executed, group):
            return
        collector = self._state.collector
        previous = dict(collector.counts)
        yield from collector.take(executed, group)
        shown = {name for name, count in collector.counts.items() if count > previous.get(name, 0)}
        for stage in self._stages:
            stage.revise(shown)

    def _check_failures(self) -> Iterator[Event]:
        for name, member in self._state.members.items():
            reason = self._state.dispatcher.failure(name)
            if not reason:
                continue
            is_new = not member.not_run
            if is_new:
                # Later batches lack this target, and its earlier results cannot be proven.
                self._progress.stop()
                member.not_run = reason
            for stage in self._stages:
                yield from stage.give_up(name)
            if is_new:
                for group, executed in self._reruns.give_up(name):
                    yield from self._judge_again(group, executed)
                yield TargetUnavailable(target=name, reason=reason)
