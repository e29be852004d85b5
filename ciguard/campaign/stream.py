"""A stream: the cases of one level for one group of targets, in batches.

The source of the batches (see `batches`) chooses their order. A few of them run at a time, on all
targets of the group. Their results are judged in the order in which they are complete, or in that
of their turns if the source is ordered.

A case that exceeds a short first timeout is parked, so that it does not delay others. It runs again
later, with its full timeout, in a bounded share of the workers' time. Its batch is complete then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ciguard.campaign.called_functions import CalledFunctions
from ciguard.campaign.group import is_for_modes
from ciguard.campaign.pace import Pace
from ciguard.campaign.parking import Parking
from ciguard.campaign.running_batches import PendingBatch, RunningBatches
from ciguard.campaign.value_counts import ValueCounts
from ciguard.domain.outcomes import Hung
from ciguard.execution import Job
from ciguard.oracles.relations import encode, is_slow
from ciguard.targets import EAGER, GUARDED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.campaign.batches import BatchSource, Feedback, Turn
    from ciguard.campaign.group import Group
    from ciguard.campaign.relating import RelationChooser
    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, JobResult
    from ciguard.knowledge import Experience
    from ciguard.levels import Batch

_UNCOMPILED = (EAGER, GUARDED)
_WINDOW_PER_LANE = 3
"""Number of batches per worker that run at the same time."""
_MAX_CASES_IN_MODE = 4
"""Maximum cases of a batch in a mode: each is compiled, and it is better to test many APIs."""
_MAX_AHEAD = 256
"""Maximum number of batches that wait for an earlier one to be judged."""
_MAX_PARKED_AT_ONCE = 3
"""Number of parked cases after which the rest of a batch is parked, too."""


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
    """Sends batches of one level to the workers of one group."""

    KEY = "explore"

    def __init__(self, name: str, batches: BatchSource, group: Group, *, lanes: int) -> None:
        """Make a stream.

        Args:
            name: name of the stream, which is the same in every run with the same cases.
            batches: source of the batches.
            group: targets that run the batches.
            lanes: number of workers per target.
        """
        self.name = name
        self.group = group
        self.batches = batches
        self.relating: RelationChooser | None = None
        """Chooser of metamorphic relations for calls; None for none."""
        self.mode = EAGER
        """Mode of the targets that run the cases in addition to the eager ones."""
        self.is_whole = False
        """True if cases are whole models, programs or functions, which run on every target."""
        self.called = CalledFunctions()
        """The user's functions that the cases call; none for other levels."""
        self.values = ValueCounts()
        """Kinds of the cases' arguments."""
        self.parks = False
        """True if slow cases are parked."""
        self.limit_s = 0.0
        """Timeout of one case, in seconds; 0 for the default."""
        self.cases = 0
        """Number of cases that were judged."""
        self._lanes = lanes
        self._running = RunningBatches()
        """Batches that are not judged."""
        self._yielded: tuple[PendingBatch, ExecutedBatch] | None = None
        """Batch that is being judged."""
        self._parking = Parking(self._running)
        self._paces: dict[str, Pace] = {}
        self._is_closing = False
        """True if exploring has ended, so that no case is parked any more."""
        self._has_reopened = False
        """True if a batch was judged only in part."""
        self.dropped_cases = 0
        """Number of parked cases that were given up."""

    def end_after(self, cases: int) -> None:
        """Stop after about this number of cases, in whole batches, at least one."""
        self.batches.last = 0
        for batch, count in self.batches.samples():
            size = max(1, len(self._for_mode(batch).cases))
            turns = math.ceil(cases / size)
            turns = min(count, turns) if count else turns
            self.batches.last += turns
            cases -= turns * size
            if cases <= 0:
                break

    # --- progress -------------------------------------------------------------------------------

    def continue_from(self, state: Mapping[str, Any], feedback: Sequence[Feedback]) -> None:
        """Restore the state of an interrupted run of the same campaign.

        Raises:
            UnknownProgressError: if the state does not fit the batches of this run.
        """
        self.cases = state["cases"]
        self.called.continue_from(state.get("tested", ()))
        self.batches.continue_from(state["batches"], feedback)

    def mark_judged(self) -> None:
        """Record that the last yielded batch was judged, so that a resumed run skips it."""
        if self._yielded is None:
            return
        pending, executed = self._yielded
        self._yielded = None
        self.cases += len(executed.cases)
        self.called.note(executed.cases, executed.outcomes)
        self.values.note(executed.cases, executed.outcomes)
        self._complete(pending, executed)

    def _complete(self, pending: PendingBatch, executed: ExecutedBatch | None) -> None:
        batch, outcomes = pending.batch, executed.outcomes if executed is not None else {}
        self._has_reopened |= pending.is_partial
        if pending.is_partial or (self._has_reopened and self.batches.is_ordered):
            self.batches.reopen(pending.turn)  # with a fixed order, later turns follow this one
            return
        if batch is not None and executed is not None:
            batch = replace(batch, cases=executed.cases)
        self.batches.complete(pending.turn, batch, outcomes, cost_s=pending.cost_s)

    def state(self) -> dict[str, Any]:
        """Return the state for `continue_from`, after the last judged batch."""
        tested = {"tested": self.called.state()} if self.called.functions else {}
        return {"cases": self.cases, "batches": self.batches.state(), **tested}

    def new_feedback(self) -> list[Feedback]:
        """Return the feedback of the batches that were judged since the last call."""
        return self.batches.new_feedback()

    def learned(self) -> Mapping[str, Experience]:
        """Return the experience of the level, by API."""
        return self.batches.learned()

    @property
    def is_exhausted(self) -> bool:
        """True if all batches have run and were judged."""
        return self.batches.is_at_end and not self._running

    @property
    def lanes(self) -> int:
        """Number of workers that run its batches."""
        return self._lanes * len(self.group.running_eagerly)

    # --- running --------------------------------------------------------------------------------

    def fill(self, dispatcher: Dispatcher) -> None:
        """Start batches until the window is full, and run parked cases again."""
        self._parking.start_clock()
        self._retry_parked(dispatcher)
        for _ in range(_WINDOW_PER_LANE * self._lanes):
            turn = self.batches.next_turn() if self._has_room else None
            if turn is None:
                break
            self._start(turn, dispatcher)
        if not self._running.unreturned and not self._parking.running:
            # Nothing else can run, so that the share of parked cases would never grow.
            self._retry_parked(dispatcher, is_idle=True)

    @property
    def _has_room(self) -> bool:
        """True if more batches may start; those that are complete or parked occupy no worker."""
        is_behind = self.batches.is_ordered and len(self._running) >= _MAX_AHEAD
        window = _WINDOW_PER_LANE * self._lanes
        return self._running.unreturned + self._parking.running < window and not is_behind

    def _start(self, turn: Turn, dispatcher: Dispatcher) -> None:
        if turn.api and not self._targets_of(turn.api):
            self._running.add(PendingBatch(turn, None, []))
            return
        batch = self.batches.batch(turn)
        if batch is not None and self.relating is not None:
            batch = self.relating.related(batch)
        if batch is not None:
            batch = self._for_mode(batch)
        self.called.visited.add(turn.api if batch is None else batch.api)
        targets = self._targets_of(batch.api) if batch is not None and batch.cases else []
        if batch is not None and batch.is_eager:
            targets = [name for name in targets if self.group.mode_of(name) == EAGER]
        if batch is not None and batch.is_scouting:
            targets = self.group.cheapest(targets)
        self._running.add(PendingBatch(turn, batch, targets))
        if batch is None or not targets:
            return
        encoded = tuple(map(encode, batch.cases))
        slow = frozenset(
            text for text, case in zip(encoded, batch.cases, strict=True) if is_slow(case)
        )
        for target in targets:
            first_limit_s = self._first_limit_s(target, batch.api)
            dispatcher.add(
                Job(
                    target,
                    (self.KEY, self.name, turn.number),
                    encoded,
                    max_hangs=_MAX_PARKED_AT_ONCE if first_limit_s else 1,
                    limit_s=self.limit_s,
                    first_limit_s=first_limit_s,
                    slow_cases=slow,
                    tested=batch.cases,
                )
            )

    def _first_limit_s(self, target: str, api: str) -> float:
        """Return the timeout after which a case of an API is parked, in seconds; 0 for none."""
        return self._pace(target).first_limit_s(api) if self._is_parkable(target) else 0.0

    def _targets_of(self, api: str) -> list[str]:
        group, modes = self.group, {EAGER, self.mode} if self.mode != GUARDED else {GUARDED}
        candidates = group.running_eagerly if self.is_whole else group.targets_with(api)
        return [name for name in candidates if group.mode_of(name) in modes]

    def _is_parkable(self, target: str) -> bool:
        """Return whether slow cases are parked: compilation and devices have no steady pace."""
        if self.group.mode_of(target) not in _UNCOMPILED or self.group.compiles_calls(target):
            return False
        return self.parks and self.group.members[target].identity.device == "cpu"

    def _pace(self, target: str) -> Pace:
        return self._paces.setdefault(target, Pace())

    def _for_mode(self, batch: Batch) -> Batch:
        if self.mode in _UNCOMPILED or batch.is_eager:
            return batch
        cases = [case for case in batch.cases if is_for_modes(case)]
        return replace(batch, cases=tuple(cases[:_MAX_CASES_IN_MODE]))

    # --- parked cases ---------------------------------------------------------------------------

    def _retry_parked(self, dispatcher: Dispatcher, *, is_idle: bool = False) -> None:
        """Run parked cases again; `is_idle` says that no other case can run."""
        is_ordered = self.batches.is_ordered
        for pending, target in self._parking.start(is_idle=is_idle, is_ordered=is_ordered):
            batch = pending.batch
            cases = () if batch is None else tuple(batch.cases[i] for i in pending.parked[target])
            dispatcher.add(
                Job(
                    target,
                    (self.KEY, self.name, pending.turn.number),
                    tuple(map(encode, cases)),
                    max_hangs=1,
                    limit_s=self.limit_s,
                    tested=cases,
                )
            )

    def reopen(self) -> None:
        """Park slow cases again, as exploring continues."""
        self._is_closing = False

    def drop_parked(self) -> None:
        """Give up the parked cases, as exploring ends for now.

        Their batches are judged without them, but do not count as visits: a run that repeats this
        one would report what these cases show as new.
        """
        self._is_closing = True
        self.dropped_cases += self._parking.clear()

    # --- results --------------------------------------------------------------------------------

    def take(self, result: JobResult) -> Iterator[ExecutedBatch]:
        """Add a result, and yield the batches that are complete."""
        number: int = result.job.key[2]  # type: ignore[index]
        target = result.job.target
        is_retry = self._parking.end(number, target)
        pending = self._running.get(number)
        if pending is not None and (is_retry or target not in pending.outcomes):
            self._add(pending, result, is_retry=is_retry)
        return self.completed()

    def _add(self, pending: PendingBatch, result: JobResult, *, is_retry: bool) -> None:
        target = result.job.target
        pending.cost_s += result.elapsed_s
        self._parking.note_time(target, result.elapsed_s, is_retry=is_retry)
        has_hung = any(isinstance(outcome, Hung) for outcome in result.outcomes)
        if not has_hung:
            self._pace(target).observe(pending.turn.api, result.elapsed_s, len(result.outcomes))
        if is_retry:
            if has_hung:
                self._parking.note_hang(pending.turn.api)
            self._add_retried(pending, result)
        else:
            outcomes: list[Outcome | None] = [*result.outcomes]
            outcomes += [None] * (len(result.job.cases) - len(outcomes))
            pending.outcomes[target] = outcomes
            if result.job.first_limit_s and has_hung:
                self._park(pending, result.job, outcomes)
        self._running.note_change(pending)

    def _add_retried(self, pending: PendingBatch, result: JobResult) -> None:
        """Add the outcomes of parked cases that ran again."""
        target = result.job.target
        row = pending.outcomes[target]
        for index, outcome in zip(pending.parked.pop(target), result.outcomes, strict=False):
            row[index] = outcome
            if isinstance(outcome, Hung):
                # As without parking, the rest of the batch does not count after a hang.
                row[index + 1 :] = [None] * (len(row) - index - 1)

    def _park(self, pending: PendingBatch, job: Job, outcomes: list[Outcome | None]) -> None:
        """Park the cases that exceeded the first timeout, and those after them that did not run."""
        slow = [i for i, o in enumerate(outcomes) if o is None or isinstance(o, Hung)]
        for index in slow:
            outcomes[index] = None
        if self._is_closing:
            pending.is_partial = True
            self.dropped_cases += len(slow)
        else:
            pending.parked[job.target] = slow
            self._parking.add(pending.turn.number, job.target)

    def completed(self) -> Iterator[ExecutedBatch]:
        """Yield the complete batches; results of failed targets are omitted.

        `mark_judged` must follow each of them.
        """
        complete = self._running.complete({member.name for member in self.group.running})
        if self.batches.is_ordered and complete:
            first_open = min(self.batches.waiting, default=math.inf)
            if (incomplete := self._running.first_incomplete) is not None:
                first_open = min(first_open, incomplete)
            complete = [pending for pending in complete if pending.turn.number < first_open]
        for pending in complete:
            self._running.remove(pending)
            self._parking.forget(pending.turn.number)
            executed = _executed(pending)
            if executed is None:
                self._complete(pending, None)
                continue
            self._yielded = pending, executed
            yield executed
            self.mark_judged()


def _executed(pending: PendingBatch) -> ExecutedBatch | None:
    """Return the cases with an outcome on every target; None if there are none."""
    known = pending.known_indices
    if pending.batch is None or not known:
        return None
    outcomes = {
        name: tuple(outcome for index in known if (outcome := row[index]) is not None)
        for name, row in pending.outcomes_in_order.items()
    }
    cases = tuple(pending.batch.cases[index] for index in known)
    return ExecutedBatch(pending.batch.api, cases, outcomes)
