"""Investigations: batches that levels examine in further runs before they report findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ciguard.campaign.finding_collector import FindingCollector
    from ciguard.campaign.group import Group
    from ciguard.campaign.levels import RunnableLevel
    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.domain.events import Event
    from ciguard.execution import Dispatcher, JobResult


class Investigations:
    """Passes batches to the investigators of their levels, and their findings to the collector."""

    def __init__(
        self, levels: Iterable[RunnableLevel], dispatcher: Dispatcher, collector: FindingCollector
    ) -> None:
        """Create the investigators.

        Args:
            levels: levels of the run.
            dispatcher: dispatcher of their jobs.
            collector: collector of their findings.
        """
        investigators = {level.name: level.investigator(dispatcher) for level in levels}
        self._investigators = {
            name: investigator
            for name, investigator in investigators.items()
            if investigator is not None
        }
        """Investigators by level."""
        self._collector = collector

    @property
    def keys(self) -> Collection[str]:
        """First elements of the keys of their jobs."""
        return [investigator.key for investigator in self._investigators.values()]

    @property
    def is_idle(self) -> bool:
        """True if no job is waiting or running."""
        return all(investigator.is_idle for investigator in self._investigators.values())

    def note(self, executed: ExecutedBatch, group: Group) -> bool:
        """Pass a batch to its level's investigator; return whether there is one."""
        investigator = self._investigators.get(executed.level)
        if investigator is None:
            return False
        investigator.note(executed, group)
        return True

    def pump(self) -> Iterator[Event]:
        """Start waiting jobs, and propose the findings that need no further run."""
        for investigator in self._investigators.values():
            for finding in investigator.pump():
                yield from self._collector.propose(finding)

    def take(self, result: JobResult) -> Iterator[Event]:
        """Process the result of one of their jobs, and propose the findings that it proves."""
        for investigator in self._investigators.values():
            if isinstance(result.job.key, tuple) and result.job.key[0] == investigator.key:
                for finding in investigator.take(result):
                    yield from self._collector.propose(finding)

    def give_up(self, target: str) -> None:
        """Drop all work that needs a failed target."""
        for investigator in self._investigators.values():
            investigator.give_up(target)

    def abandon(self) -> None:
        """Drop all unfinished work."""
        for investigator in self._investigators.values():
            investigator.abandon()
