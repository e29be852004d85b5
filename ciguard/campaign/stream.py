"""A stream: the cases of one level for one group of targets, in batches.

Batches are identified by their index, and a window of them runs at a time. Their results are
returned in the order of the index. Which batches are skipped depends only on results at least one
window earlier. So the same seed gives the same cases, regardless of the speed of workers. Feedback
for the level is delayed in the same way, see `feedback`.

A shard's stream skips the batches of APIs that belong to other shards. Skipping and feedback depend
on batches of the same API only, so all shards together run the cases of one long run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ciguard.campaign.feedback import WINDOW_PER_LANE, FeedbackQueue
from ciguard.campaign.group import is_for_modes
from ciguard.execution import Job
from ciguard.levels import IndexedLevel, cost_of
from ciguard.oracles.relations import encode
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ciguard.campaign.feedback import Feedback
    from ciguard.campaign.group import Group
    from ciguard.campaign.relating import RelationChooser
    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, JobResult
    from ciguard.levels import Batch, Level

_MAX_CRASH_COST = 24
"""Cost of crashes and hangs after which an API is skipped, as most of them repeat known ones."""
_ROUNDS_PER_CRASH = 8
"""Number of rounds after which one more crash per API is tolerated, as other defects may remain."""
_MAX_CASES_IN_MODE = 4
"""Maximum cases of a batch in a mode: each is compiled, and it is better to test many APIs."""


@dataclass(slots=True)
class _PendingBatch:
    batch: Batch
    targets: list[str]
    results: dict[str, JobResult] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExecutedBatch:
    """A batch that ran on all its targets."""

    api: str
    """API that the batch tests."""
    cases: tuple[Case, ...]
    """Cases that were run, in order."""
    outcomes: Mapping[str, tuple[Outcome, ...]]
    """Outcomes by target, one per case."""

    @property
    def level(self) -> str:
        """Name of the level that all cases belong to."""
        return self.cases[0].level


class Stream:
    """Proposes batches of one level to the workers of one group."""

    KEY = "explore"

    def __init__(self, name: str, level: Level, group: Group, *, lanes: int, apis: int = 0) -> None:
        """Make a stream.

        Args:
            name: name of the stream, which is the same in every run with the same cases.
            level: generator of the batches.
            group: targets that run the batches.
            lanes: number of workers per target.
            apis: number of APIs that the level tests in turn; 0 if unknown, for an endless stream.
        """
        self.name = name
        self.group = group
        self._level = level
        self.relating: RelationChooser | None = None
        """Chooser of metamorphic relations for calls; None for none."""
        self.mode = EAGER
        """Mode of the targets that run the cases in addition to the eager ones."""
        self.is_whole = False
        """True if cases are whole models, programs or functions, which run on every target."""
        self.avoids_crashes = False
        """True if the level itself avoids inputs that crash or hang."""
        self.limit_s = 0.0
        """Timeout of one case, in seconds; 0 for the default."""
        self.own: Collection[str] | None = None
        """APIs of this shard, whose batches are run; None for all."""
        self._window = WINDOW_PER_LANE * lanes
        self.feedback = FeedbackQueue(level, window=self._window)
        self._next = 0
        """Index of the next batch to propose."""
        self.cases = 0
        self._running: dict[int, _PendingBatch] = {}
        """Running batches, in the order of their index."""
        self._apis = apis
        self._skipped = 0
        """Number of consecutive batches that were skipped; after whole rounds, the stream ends."""
        self._crashes: dict[str, list[tuple[int, int]]] = {}
        """Index and cost of the batches with crashes or hangs, by API."""
        self._judged = (0, 0)
        self.last = 0
        """Index of the first batch that is not run any more; 0 for no end."""

    @property
    def done(self) -> int:
        """Index below which all batches were returned, or belong to other shards."""
        return next(iter(self._running), self._next)

    def continue_from(self, state: Mapping[str, Any]) -> None:
        """Restore the state of an interrupted run of the same campaign."""
        self._next = state["done"]
        self.cases = state["cases"]
        self._crashes = {api: list(entries) for api, entries in state["deaths"].items()}
        self.mark_judged()

    def mark_judged(self) -> None:
        """Record that all returned batches were judged, so that a resumed run skips them."""
        self._judged = (self.done, self.cases)

    def state(self) -> dict[str, Any]:
        """Return the state for `continue_from`, as of the last judged batch."""
        done, cases = self._judged
        crashes = {
            api: [(index, cost) for index, cost in entries if index < done]
            for api, entries in self._crashes.items()
        }
        return {
            "done": done,
            "cases": cases,
            "deaths": {api: entries for api, entries in crashes.items() if entries},
        }

    def new_feedback(self) -> list[Feedback]:
        """Return the feedback of the batches that were judged since the last call."""
        return self.feedback.drain(self._judged[0])

    def end_after(self, cases: int) -> None:
        """Stop after about this number of cases, in whole batches, at least one."""
        per_batch = max(1, len(self._for_mode(self._level.cases(0)).cases))
        self.last = max(1, -(-cases // per_batch))

    @property
    def is_exhausted(self) -> bool:
        """True if all batches have run and were returned."""
        return self._is_at_end and not self._running

    @property
    def _is_at_end(self) -> bool:
        is_past_last = bool(self.last) and self._next >= self.last
        if self.own is not None:
            # A single run would continue with the other shards' APIs, and return to these.
            return is_past_last or not self.own
        return is_past_last or 0 < 2 * self._apis <= self._skipped

    def fill(self, dispatcher: Dispatcher) -> None:
        """Start batches until the window is full."""
        while len(self._running) < self._window and not self._is_at_end:
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
        """Return whether the next batch depends on a running one, as a shard's lie far apart."""
        last_decisive = self._next - self._window
        return any(
            index <= last_decisive and pending.batch.api == api
            for index, pending in self._running.items()
        )

    def _propose(self, index: int, dispatcher: Dispatcher) -> None:
        self.feedback.apply_until(index)
        batch = self._level.cases(index)
        if self.relating is not None:
            batch = self.relating.related(batch)
        batch = self._for_mode(batch)
        modes = {EAGER, self.mode}
        group = self.group
        candidates = group.running_eagerly if self.is_whole else group.targets_with(batch.api)
        targets = [name for name in candidates if group.mode_of(name) in modes]
        if not batch.cases or self._is_retired(batch.api, index):
            targets = []
        self._skipped = 0 if targets else self._skipped + 1
        self._running[index] = _PendingBatch(batch, targets)
        encoded = tuple(map(encode, batch.cases)) if targets else ()
        for target in targets:
            job = Job(
                target,
                (self.KEY, self.name, index),
                encoded,
                max_hangs=1,
                limit_s=self.limit_s,
                tested=batch.cases,
            )
            dispatcher.add(job)

    def _for_mode(self, batch: Batch) -> Batch:
        if self.mode == EAGER:
            return batch
        cases = [case for case in batch.cases if is_for_modes(case)]
        return replace(batch, cases=tuple(cases[:_MAX_CASES_IN_MODE]))

    def _is_retired(self, api: str, index: int) -> bool:
        """Return whether an API crashed too often, up to one window before this index."""
        if self.avoids_crashes:
            return False  # all batches are of one API
        crashes = self._crashes.get(api, ())
        tolerated = index // self._apis // _ROUNDS_PER_CRASH if self._apis else 0
        cost = sum(cost for number, cost in crashes if number <= index - self._window)
        return cost >= _MAX_CRASH_COST + tolerated

    def take(self, result: JobResult) -> Iterator[ExecutedBatch]:
        """Add a result, and yield the batches that are complete, in the order of their index."""
        index: int = result.job.key[2]  # type: ignore[index]
        self._running[index].results[result.job.target] = result
        return self.completed()

    def completed(self) -> Iterator[ExecutedBatch]:
        """Yield the batches that are complete; results of failed targets are omitted."""
        running = {member.name for member in self.group.running}
        while self._running:
            index, pending = next(iter(self._running.items()))
            if any(name in running and name not in pending.results for name in pending.targets):
                return
            del self._running[index]
            if pending.results:
                yield self._executed(pending, index)

    def _executed(self, pending: _PendingBatch, index: int) -> ExecutedBatch:
        outcomes = {
            name: pending.results[name].outcomes
            for name in pending.targets
            if name in pending.results
        }
        cost = max(sum(map(cost_of, row)) for row in outcomes.values())
        if (
            cost and not self.avoids_crashes
        ):  # otherwise unused, and each line of the journal holds all
            self._crashes.setdefault(pending.batch.api, []).append((index, cost))
        # After a hang the rest of a batch was skipped, as it probably hangs, too.
        count = min(map(len, outcomes.values()))
        self.cases += count
        complete = {name: results[:count] for name, results in outcomes.items()}
        self.feedback.observe(index, pending.batch, complete)
        return ExecutedBatch(pending.batch.api, pending.batch.cases[:count], complete)
