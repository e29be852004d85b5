"""Batches of a level that are identified by their index, in its order.

Which batches are skipped, and the feedback that a batch uses, depend only on batches at least one
window earlier. So the same seed gives the same cases, regardless of the speed of workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ciguard.campaign.batches.contract import Turn, UnknownProgressError
from ciguard.campaign.batches.feedback import WINDOW, FeedbackQueue
from ciguard.campaign.batches.uniform_failures import UniformFailures
from ciguard.levels import GuidedLevel, IndexedLevel, cost_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ciguard.campaign.batches.feedback import Feedback
    from ciguard.domain.outcomes import Outcome
    from ciguard.knowledge import Experience
    from ciguard.levels import Batch, Level

MAX_CRASH_COST = 24
"""Cost of crashes and hangs after which an API is skipped, as most of them repeat known ones."""
ROUNDS_PER_CRASH = 8
"""Number of rounds after which one more crash per API is tolerated, as other defects may remain."""


class IndexedBatches:
    """Batches in the order of their index."""

    def __init__(self, level: Level, *, apis: int = 0) -> None:
        """Begin with the first batch.

        Args:
            level: generator of the batches.
            apis: number of APIs that the level tests in turn; 0 if unknown, for an endless stream.
        """
        self.own: Collection[str] | None = None
        self.last = 0
        self.is_ordered = True
        self.avoids_crashes = False
        self._level = level
        self._apis = apis
        self._feedback = FeedbackQueue(level) if isinstance(level, GuidedLevel) else None
        self._next = 0
        """Index of the next turn."""
        self._running: dict[int, str] = {}
        """API of each running batch, by index, in order."""
        self._skipped = 0
        """Number of consecutive batches that were skipped; after two rounds, there are no more."""
        self._crashes: dict[str, list[tuple[int, int]]] = {}
        """Index and cost of the batches with crashes or hangs, by API."""
        self._failures = UniformFailures()

    @property
    def waiting(self) -> Collection[int]:
        """No turn waits, as `next_turn` returns them in order."""
        return ()

    @property
    def apis(self) -> int:
        """Zero, as there are no visits."""
        return 0

    @property
    def unvisited(self) -> int:
        """Zero, as there are no visits."""
        return 0

    @property
    def is_first_pass(self) -> bool:
        """False, as there are no visits."""
        return False

    @property
    def done(self) -> int:
        """Index below which all batches were judged, or belong to other shards."""
        return next(iter(self._running), self._next)

    @property
    def visits(self) -> str:
        """Empty, as the index suffices."""
        return ""

    def end_at(self, done: int, visits: str) -> None:
        """Stop before a batch, if it is not 0."""
        del visits
        self.last = done

    @property
    def is_at_end(self) -> bool:
        """True if the last index is reached, or every API is skipped."""
        is_past_last = bool(self.last) and self._next >= self.last
        if self.own is not None:
            # A single run would continue with the other shards' APIs, and return to these.
            return is_past_last or not self.own
        return is_past_last or 0 < 2 * self._apis <= self._skipped

    def samples(self) -> Sequence[tuple[Batch, int]]:
        """Return the first batch, which has the size of all."""
        return [(self._level.cases(0), 0)]

    def next_turn(self) -> Turn | None:
        """Return the next index of an API of this shard."""
        while not self.is_at_end and len(self._running) < WINDOW:
            api = self._api_of(self._next)
            if self.own is not None:
                if self._is_undecided(api):
                    return None
                if api not in self.own:
                    self._next += 1
                    continue
            index = self._next
            self._next += 1
            self._running[index] = api
            return Turn(index, api, index)
        return None

    def _api_of(self, index: int) -> str:
        level = self._level
        if isinstance(level, IndexedLevel):
            return level.api_of(index)
        return level.cases(index).api if self.own is not None else ""

    def _is_undecided(self, api: str) -> bool:
        """Return whether the next batch depends on a running one, as a shard's lie far apart."""
        last_decisive = self._next - WINDOW
        return any(
            index <= last_decisive and running == api for index, running in self._running.items()
        )

    def batch(self, turn: Turn) -> Batch | None:
        """Return the batch; None if its API crashed or failed too often before the window."""
        if self._feedback is not None:
            self._feedback.apply_until(turn.visit)
        batch = self._level.cases(turn.visit)
        return None if self._is_retired(batch.api, turn.visit) else batch

    def _is_retired(self, api: str, index: int) -> bool:
        if self.avoids_crashes:
            return False  # all batches are of one API
        crashes = self._crashes.get(api, ())
        tolerated = index // self._apis // ROUNDS_PER_CRASH if self._apis else 0
        last = index - WINDOW
        cost = sum(cost for number, cost in crashes if number <= last)
        return cost >= MAX_CRASH_COST + tolerated or self._failures.suffice(
            api, until=last, tolerated=tolerated
        )

    def complete(
        self,
        turn: Turn,
        batch: Batch | None,
        outcomes: Mapping[str, Sequence[Outcome]],
        *,
        cost_s: float,
    ) -> None:
        """Record that a batch was judged or skipped; see `BatchSource`."""
        del cost_s
        self._running.pop(turn.number)
        self._skipped = 0 if outcomes else self._skipped + 1
        if batch is None or not outcomes:
            return
        self._failures.note(turn.visit, batch.cases, outcomes)
        cost = max(sum(map(cost_of, row)) for row in outcomes.values())
        if cost and not self.avoids_crashes:
            # Otherwise unused, and each line of the journal contains all of them.
            self._crashes.setdefault(batch.api, []).append((turn.visit, cost))
        if self._feedback is not None:
            self._feedback.observe(turn.visit, batch, outcomes)

    def reopen(self, turn: Turn) -> None:
        """Keep the batch open, so that `done` stays below its index."""
        self._running.setdefault(turn.number, turn.api)

    def state(self) -> dict[str, Any]:
        """Return the number of judged batches, and the crashes and failures by API."""
        failures = self._failures.state()
        return {
            "done": self.done,
            "deaths": {api: list(rows) for api, rows in self._crashes.items()},
            **({"failures": failures} if failures else {}),
        }

    def continue_from(self, state: Mapping[str, Any], feedback: Sequence[Feedback]) -> None:
        """Restore the state of an interrupted run; see `BatchSource`."""
        try:
            self._next = int(state["done"])
            self._crashes = {
                str(api): [(int(index), int(cost)) for index, cost in rows]
                for api, rows in state["deaths"].items()
            }
            self._failures.restore(state.get("failures", {}))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            msg = f"this is not the progress of a stream in the order of an index: {error!r}"
            raise UnknownProgressError(msg) from error
        if self._feedback is not None:
            self._feedback.restore(feedback)

    def new_feedback(self) -> list[Feedback]:
        """Return the feedback of the batches that were judged since the last call."""
        return [] if self._feedback is None else self._feedback.drain(self.done)

    def learned(self) -> Mapping[str, Experience]:
        """Return nothing: only levels with visits have experience."""
        return {}
