"""The loop: turns in which results of the dispatcher go to the stages that asked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.campaign.progress_notes import ProgressNotes
from ciguard.campaign.redoing import Redoing
from ciguard.domain.events import Event, StageFinished, TargetUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import CampaignStage
    from ciguard.campaign.state import CampaignState
    from ciguard.campaign.stream import Executed
    from ciguard.execution import Job, JobResult

_WAIT_S = 0.1


class Loop:
    """Gives every stage its turn, and lets all take part in it (`Turns`).

    It looks after what concerns them all: void results, targets that fail, and the journal.
    """

    def __init__(self, state: CampaignState, stages: Sequence[CampaignStage]) -> None:
        """Make the loop of one run.

        Args:
            state: of the run.
            stages: in the order in which they have their turn.
        """
        self._state = state
        self._stages = stages
        self._redoing = Redoing(state.dispatcher, state.groups, on_void=self._doubt)
        self._notes = ProgressNotes(state, self._redoing)
        self._owners = {key: stage for stage in stages for key in stage.keys}

    def run(self) -> Iterator[Event]:
        """Go through all stages."""
        budget = self._state.budget
        for stage in self._stages:
            yield from stage.run(self)
            yield StageFinished(stage=stage.name, spent_s=budget.finish_stage(stage.name))

    def finish(self) -> list[Event]:
        """Settle what is still open, and note how far the run is.

        Returns:
            What is to be reported of void results. A target counts as not run where they were not
            replaced by proven ones.
        """
        for stage in reversed(self._stages):  # candidates before measurements
            stage.close()
        self._notes.note(force=True)
        members = self._state.members
        for name, cases in self._redoing.unsettled().items():
            if not members[name].not_run:
                members[name].not_run = (
                    f"the results of {cases:,} cases are void: their workers did not prove that "
                    "they can be trusted, and the cases were not run again in time"
                )
        return list(self._redoing.totals())

    # --- a turn ---------------------------------------------------------------------------------

    @property
    def is_proven(self) -> bool:
        """Whether every result is proven, and nothing runs again."""
        return self._state.dispatcher.prove() and self._redoing.is_idle

    def take(self, *, is_patient: bool = False) -> Iterator[Event]:
        """Take one turn; see `Turns`."""
        for stage in self._stages:
            yield from stage.prepare_turn(is_patient=is_patient)
        yield from self.take_quietly()

    def take_quietly(self) -> Iterator[Event]:
        """Take one turn in which nothing is started but what follows from the results."""
        for result in self._state.dispatcher.wait(_WAIT_S):
            yield from self._route(result)
        yield from self._redoing.pump()
        yield from self._notice_failures()
        self._notes.note()

    def _route(self, result: JobResult) -> Iterator[Event]:
        match result.job.key:
            case (Redoing.KEY, _):
                for group, executed in self._redoing.take(result):
                    yield from self._judge_again(group, executed)
            case (str(key), *_) if key in self._owners:
                yield from self._owners[key].take(result)
            case key:
                msg = f"a result of nobody's job: {key!r}"
                raise AssertionError(msg)

    def _doubt(self, job: Job) -> None:
        """Let no stage conclude from results that are void."""
        for stage in self._stages:
            stage.doubt(job)

    def _judge_again(self, group: Group, executed: Executed) -> Iterator[Event]:
        """Judge what was done again: a bucket whose replay passed may show after all."""
        if self._state.investigations.note(executed, group):
            return
        intake = self._state.intake
        before = dict(intake.counts)
        yield from intake.take(executed, group)
        shown = {name for name, count in intake.counts.items() if count > before.get(name, 0)}
        for stage in self._stages:
            stage.revise(shown)

    def _notice_failures(self) -> Iterator[Event]:
        for name, member in self._state.members.items():
            reason = self._state.dispatcher.failure(name)
            if not reason:
                continue
            is_new = not member.not_run
            if is_new:
                # From here on batches lack this target, nor can its workers prove what they did.
                self._notes.end()
                member.not_run = reason
            for stage in self._stages:
                yield from stage.give_up(name)
            if is_new:
                for group, executed in self._redoing.give_up(name):
                    yield from self._judge_again(group, executed)
                yield TargetUnavailable(target=name, reason=reason)
