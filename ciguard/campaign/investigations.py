"""Investigations: batches that levels look into before anything is a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ciguard.campaign.group import Group
    from ciguard.campaign.intake import Intake
    from ciguard.campaign.levels import RunnableLevel
    from ciguard.campaign.stream import Executed
    from ciguard.domain.events import Event
    from ciguard.execution import Dispatcher, JobResult


class Investigations:
    """Hands batches to the investigators of their levels, and what these find to the intake."""

    def __init__(
        self, levels: Iterable[RunnableLevel], dispatcher: Dispatcher, intake: Intake
    ) -> None:
        """Make the investigators.

        Args:
            levels: of the run.
            dispatcher: runs the jobs.
            intake: takes findings.
        """
        made = {level.name: level.investigator(dispatcher) for level in levels}
        self._investigators = {name: one for name, one in made.items() if one is not None}
        """By level."""
        self._intake = intake

    @property
    def keys(self) -> Collection[str]:
        """First words of the keys of their jobs."""
        return [one.key for one in self._investigators.values()]

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        return all(one.is_idle for one in self._investigators.values())

    def note(self, executed: Executed, group: Group) -> bool:
        """Take a batch; return whether its level has it looked into, and oracles judge it later."""
        investigator = self._investigators.get(executed.level)
        if investigator is None:
            return False
        investigator.note(executed, group)
        return True

    def pump(self) -> Iterator[Event]:
        """Start what may be started; propose what is found without a further run."""
        for investigator in self._investigators.values():
            for finding in investigator.pump():
                yield from self._intake.propose(finding)

    def take(self, result: JobResult) -> Iterator[Event]:
        """Take the result of one of their jobs; propose what it proves."""
        for investigator in self._investigators.values():
            if isinstance(result.job.key, tuple) and result.job.key[0] == investigator.key:
                for finding in investigator.take(result):
                    yield from self._intake.propose(finding)

    def give_up(self, target: str) -> None:
        """Forget what needs a target that failed."""
        for investigator in self._investigators.values():
            investigator.give_up(target)

    def abandon(self) -> None:
        """Forget what is looked into and not settled."""
        for investigator in self._investigators.values():
            investigator.abandon()
