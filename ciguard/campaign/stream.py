"""A stream: one level's cases for one group of targets, proposed and taken back in order.

Batches are identified by their index. A window of them is under way at a time; results are handed
on in the order of the index, and what is skipped depends only on results that lie a whole window
back. So the same seed gives the same cases however fast the workers are. What a level learns from
outcomes is put to use in the same way, see `lessons`.

A shard's stream passes over the batches of APIs that are not its own. What is skipped or learned
follows from batches of the same API only, so all shards together make the cases of one long run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ciguard.campaign.group import is_for_modes
from ciguard.campaign.lessons import WINDOW_PER_LANE, Lessons
from ciguard.execution import Job
from ciguard.levels import IndexedLevel, cost_of
from ciguard.oracles.relations import encode
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ciguard.campaign.group import Group
    from ciguard.campaign.lessons import Lesson
    from ciguard.campaign.relating import Relating
    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, JobResult
    from ciguard.levels import Batch, Level

_PATIENCE = 24
"""An API is left alone after this many deaths: each costs a worker, and few are of a new kind."""
_ROUNDS_PER_DEATH = 8
"""One more is forgiven every so many rounds: there may be more to find than what kills."""
_CASES_IN_A_MODE = 4
"""Cases of a batch that are run in a mode: each is compiled, and many APIs say more than many calls
of one."""


@dataclass(slots=True)
class _PendingBatch:
    batch: Batch
    targets: list[str]
    results: dict[str, JobResult] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Executed:
    """A batch that ran on all its targets."""

    api: str
    cases: tuple[Case, ...]
    outcomes: Mapping[str, tuple[Outcome, ...]]
    """By target, one per case."""

    @property
    def level(self) -> str:
        """The level that the cases belong to; all are of one."""
        return self.cases[0].level


class Stream:
    """Proposes batches of one level to the workers of one group."""

    KEY = "explore"

    def __init__(self, name: str, level: Level, group: Group, *, lanes: int, apis: int = 0) -> None:
        """Make a stream.

        Args:
            name: the same for the same cases, in every run.
            level: makes the batches.
            group: runs them.
            lanes: workers per target.
            apis: how many the level calls in turn; 0 if unknown: the stream has no end then.
        """
        self.name = name
        self.group = group
        self._level = level
        self.relating: Relating | None = None
        """Gives calls the metamorphic relations that they are tried with."""
        self.mode = EAGER
        """Mode of the targets that run the cases, beside the eager ones."""
        self.is_whole = False
        """Whether its cases are whole models, programs or functions of the user's: every target
        runs them, whatever APIs it has."""
        self.spares = False
        """Whether the level itself leaves out what is deadly."""
        self.limit_s = 0.0
        """Time of one case; 0 for the usual."""
        self.own: Collection[str] | None = None
        """APIs whose batches are proposed; None for all."""
        self._window = WINDOW_PER_LANE * lanes
        self.lessons = Lessons(level, window=self._window)
        self._next = 0
        """Index of the next batch to propose."""
        self.cases = 0
        self._under_way: dict[int, _PendingBatch] = {}
        """In the order of the index."""
        self._apis = apis
        self._skipped = 0
        """Batches in a row that were not run: when it is a whole round, no later one will be."""
        self._deaths: dict[str, list[tuple[int, int]]] = {}
        """API → (index, cost) of its batches in which processes died."""
        self._judged = (0, 0)
        self.last = 0
        """Batches with this or a higher index are not proposed; 0 for no end."""

    @property
    def done(self) -> int:
        """Batches with a lower index have been handed on, or are another shard's."""
        return next(iter(self._under_way), self._next)

    def continue_from(self, past: Mapping[str, Any]) -> None:
        """Take up where an earlier part of the campaign ended."""
        self._next = past["done"]
        self.cases = past["cases"]
        self._deaths = {api: list(seen) for api, seen in past["deaths"].items()}
        self.mark_judged()

    def mark_judged(self) -> None:
        """Note that what was handed on so far has been judged: no later part repeats it."""
        self._judged = (self.done, self.cases)

    def state(self) -> dict[str, Any]:
        """Return what `continue_from` needs, as of the last batch that was judged."""
        done, cases = self._judged
        deaths = {api: [d for d in seen if d[0] < done] for api, seen in self._deaths.items()}
        return {
            "done": done,
            "cases": cases,
            "deaths": {a: seen for a, seen in deaths.items() if seen},
        }

    def new_lessons(self) -> list[Lesson]:
        """Return the lessons of batches that were judged since the last call."""
        return self.lessons.drain(self._judged[0])

    def end_after(self, cases: int) -> None:
        """Propose no more than about `cases`: whole batches, at least one."""
        per_batch = max(1, len(self._for_mode(self._level.cases(0)).cases))
        self.last = max(1, -(-cases // per_batch))

    @property
    def is_exhausted(self) -> bool:
        """Whether every batch that may be proposed was, and has come back."""
        return self._is_at_end and not self._under_way

    @property
    def _is_at_end(self) -> bool:
        is_past_last = bool(self.last) and self._next >= self.last
        if self.own is not None:
            # One run would go on with the APIs of others, and come back to these.
            return is_past_last or not self.own
        return is_past_last or 0 < 2 * self._apis <= self._skipped

    def fill(self, dispatcher: Dispatcher) -> None:
        """Propose batches until the window is full."""
        while len(self._under_way) < self._window and not self._is_at_end:
            if self.own is not None:
                api = self._api_of(self._next)
                if self._is_undecided(api):
                    return
                if api not in self.own:
                    self._next += 1
                    continue
            self._propose(self._next, dispatcher)
            self._next += 1

    def _api_of(self, index: int) -> str:
        level = self._level
        return level.api_of(index) if isinstance(level, IndexedLevel) else level.cases(index).api

    def _is_undecided(self, api: str) -> bool:
        """Return whether what decides the next batch is under way: a shard's lie far apart."""
        seen_until = self._next - self._window
        return any(at <= seen_until and e.batch.api == api for at, e in self._under_way.items())

    def _propose(self, index: int, dispatcher: Dispatcher) -> None:
        self.lessons.put_to_use(index)
        batch = self._level.cases(index)
        if self.relating is not None:
            batch = self.relating.related(batch)
        batch = self._for_mode(batch)
        modes = {EAGER, self.mode}
        group = self.group
        able = group.running_eagerly if self.is_whole else group.targets_with(batch.api)
        targets = [name for name in able if group.mode_of(name) in modes]
        if not batch.cases or self._is_retired(batch.api, index):
            targets = []
        self._skipped = 0 if targets else self._skipped + 1
        self._under_way[index] = _PendingBatch(batch, targets)
        encoded = tuple(map(encode, batch.cases)) if targets else ()
        for target in targets:
            job = Job(
                target,
                (self.KEY, self.name, index),
                encoded,
                most_hangs=1,
                limit_s=self.limit_s,
                tested=batch.cases,
            )
            dispatcher.add(job)

    def _for_mode(self, batch: Batch) -> Batch:
        if self.mode == EAGER:
            return batch
        cases = [case for case in batch.cases if is_for_modes(case)]
        return replace(batch, cases=tuple(cases[:_CASES_IN_A_MODE]))

    def _is_retired(self, api: str, index: int) -> bool:
        """Return whether an API died too often, as known a window before this index."""
        if self.spares:
            return False  # all are of one API
        seen = self._deaths.get(api, ())
        forgiven = index // self._apis // _ROUNDS_PER_DEATH if self._apis else 0
        cost = sum(cost for at, cost in seen if at <= index - self._window)
        return cost >= _PATIENCE + forgiven

    def take(self, result: JobResult) -> Iterator[Executed]:
        """Take a result; return the batches that are complete, in the order of their index."""
        index: int = result.job.key[2]  # type: ignore[index]
        self._under_way[index].results[result.job.target] = result
        return self.completed()

    def completed(self) -> Iterator[Executed]:
        """Hand on the batches that are complete; those whose target failed go without it."""
        running = {member.name for member in self.group.running}
        while self._under_way:
            index, entry = next(iter(self._under_way.items()))
            if any(name in running and name not in entry.results for name in entry.targets):
                return
            del self._under_way[index]
            if entry.results:
                yield self._executed(entry, index)

    def _executed(self, entry: _PendingBatch, index: int) -> Executed:
        outcomes = {
            name: entry.results[name].outcomes for name in entry.targets if name in entry.results
        }
        cost = max(sum(map(cost_of, row)) for row in outcomes.values())
        if cost and not self.spares:  # nobody would ask, and every line of the journal holds all
            self._deaths.setdefault(entry.batch.api, []).append((index, cost))
        # After a hang the rest of a batch is left out: it would hang as well, and time is short.
        count = min(map(len, outcomes.values()))
        self.cases += count
        ran = {name: results[:count] for name, results in outcomes.items()}
        self.lessons.draw(index, entry.batch, ran)
        return Executed(entry.batch.api, entry.batch.cases[:count], ran)
