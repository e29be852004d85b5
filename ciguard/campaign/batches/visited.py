"""Batches of a level that visits each API separately, in an order that costs no waiting.

A batch depends on the seed, its API and the feedback of the API's earlier batches. So the next
batch of an API waits for its last one, and no batch waits for another API, however slow that is.

There are two orders. The fixed one visits all APIs in rounds. It is the same for the same seed,
also across shards, each of which runs the turns of its own APIs. The adaptive one visits every API
once, and then the API that took the least of its share of the time so far (see `crash_rates`). So
slow calls do not take the time of others. Both orders give the same batches of an API, one after
the other; they differ in how many.
"""

from __future__ import annotations

import math
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any

from ciguard.campaign.batches.api_turns import ApiTurns
from ciguard.campaign.batches.contract import Turn, UnknownProgressError
from ciguard.campaign.batches.crash_rates import CrashRates
from ciguard.campaign.batches.feedback import Feedback
from ciguard.campaign.batches.indexed import MAX_CRASH_COST, ROUNDS_PER_CRASH
from ciguard.domain.outcomes import Crashed, Rejected
from ciguard.domain.visits import pack_visits, unpack_visits
from ciguard.knowledge import Experience
from ciguard.levels import cost_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.levels import ApiShare, Batch, VisitedLevel

_MAX_TURNS = 10**9
"""Maximum number of turns of a run, which an interrupted run cannot have reached."""
_OVERHEAD_S = 0.02
"""Time that each batch counts besides that of its calls, in seconds.

Without it, APIs that reject every call would take most turns, since a rejection is cheap."""
_MAX_WAITING = 64
"""Maximum number of turns that wait for an earlier batch of their API in the fixed order."""


class VisitedBatches:
    """Batches of all APIs, each of which is visited repeatedly."""

    def __init__(
        self,
        level: VisitedLevel,
        shares: Sequence[ApiShare],
        *,
        seed: int,
        is_adaptive: bool = False,
    ) -> None:
        """Begin with the first visit of each API.

        Args:
            level: generator of the batches.
            shares: APIs of the level in groups, each with its share of the turns.
            seed: seed of the run, for the order.
            is_adaptive: whether to divide the time among the APIs, instead of the turns in the
                fixed order.
        """
        self.own: Collection[str] | None = None
        self.last = 0
        self.is_ordered = not is_adaptive
        self.avoids_crashes = False
        self._level = level
        self._is_adaptive = is_adaptive
        self._shares = [ApiTurns(share, seed) for share in shares]
        self._share_of = {api: share for share in self._shares for api in share.apis}
        total = sum(share.weight for share in self._shares)
        rounds = [len(share.apis) * total / share.weight for share in self._shares]
        self._two_rounds = 2 * math.ceil(max(rounds))
        """Number of turns in which each API had at least two."""
        self._fixed_order = self._fixed_turns()
        self._visits = dict.fromkeys(level.apis, 0)
        """Number of judged batches by API, in the order of the level."""
        self._unvisited: set[str] | None = None
        """APIs of this run without a judged batch; None until they are counted."""
        self._limits: dict[str, int] = {}
        """Number of visits at which each API stops; empty for no limit."""
        self._running: dict[str, Turn] = {}
        """Turns that were returned and not completed, by API."""
        self._deferred: dict[str, deque[int]] = {}
        """Numbers of turns in the fixed order that wait for an earlier batch, by API."""
        self._ready: deque[tuple[int, str]] = deque()
        """Turns that waited and can run now: their numbers and APIs."""
        self._next = 0
        """Number of the next turn."""
        self._done = 0
        self._skipped = 0
        """Number of consecutive turns in the fixed order that were skipped."""
        self._crash_costs: dict[str, int] = {}
        self._spent_s: dict[str, float] = {}
        """Time that each API took so far, in seconds."""
        self._rates = CrashRates(level.apis)
        self._unrecorded: list[Feedback] = []

    # --- order ----------------------------------------------------------------------------------

    @property
    def waiting(self) -> Collection[int]:
        """Numbers of the turns that wait for an earlier batch of the same API."""
        numbers = [number for queue in self._deferred.values() for number in queue]
        return [*numbers, *(number for number, _ in self._ready)]

    @property
    def is_at_end(self) -> bool:
        """True if there are no more turns."""
        if self._ready or self._deferred:
            return False
        if self._is_adaptive:
            return not self._running and not any(share.has_next for share in self._shares)
        return self._is_past_last

    @property
    def _is_past_last(self) -> bool:
        """True if the fixed order has no more turns."""
        is_past_last = bool(self.last) and self._next >= self.last
        has_none = self.own is not None and not self.own
        return is_past_last or has_none or self._skipped >= self._two_rounds

    def samples(self) -> Sequence[tuple[Batch, int]]:
        """Return the first batches of an API; see `BatchSource`."""
        api, last = self._level.apis[0], len(self._level.batch_sizes) - 1
        return [
            (self._level.visit(api, number), len(self._visits) if number < last else 0)
            for number in range(last + 1)
        ]

    def next_turn(self) -> Turn | None:
        """Return the next turn of an API that has no running batch."""
        if self._is_adaptive:
            return self._next_adaptive()
        while self._ready:
            number, api = self._ready.popleft()
            if turn := self._turn(number, api):
                return turn
        while not self._is_past_last and len(self.waiting) < _MAX_WAITING:
            number, api = self._next, next(self._fixed_order)
            self._next += 1
            if self.own is not None and api not in self.own:
                continue
            if api in self._running:
                self._deferred.setdefault(api, deque()).append(number)
            elif turn := self._turn(number, api):
                return turn
        return None

    def _turn(self, number: int, api: str) -> Turn | None:
        """Return a turn of the fixed order; None if it is skipped."""
        tolerated = number // len(self._visits) // ROUNDS_PER_CRASH
        is_retired = self._crash_costs.get(api, 0) >= MAX_CRASH_COST + tolerated
        if is_retired or self._is_at_limit(api):
            self._skipped += 1
            self._release(api)
            return None
        self._skipped = 0
        turn = self._running[api] = Turn(number, api, self._visits[api])
        return turn

    def _next_adaptive(self) -> Turn | None:
        candidates = [share for share in self._shares if share.has_next]
        if not candidates:
            return None
        share = min(candidates, key=lambda share: (share.taken + 1) / share.weight)
        share.taken += 1
        api = share.pop()
        turn = self._running[api] = Turn(self._next, api, self._visits[api])
        self._next += 1
        return turn

    def _is_retired(self, api: str) -> bool:
        """Return whether an API crashed too often for more turns in the adaptive order."""
        tolerated = self._visits[api] // ROUNDS_PER_CRASH
        return self._crash_costs.get(api, 0) >= MAX_CRASH_COST + tolerated

    def _is_at_limit(self, api: str) -> bool:
        return bool(self._limits) and self._visits[api] >= self._limits[api]

    def _fixed_turns(self) -> Iterator[str]:
        """Yield the API of each turn in the fixed order."""
        for _ in count():
            share = min(self._shares, key=lambda share: (share.taken + 1) / share.weight)
            yield share.in_rounds()

    # --- batches --------------------------------------------------------------------------------

    def batch(self, turn: Turn) -> Batch:
        """Return the batch of a turn."""
        return self._level.visit(turn.api, turn.visit)

    def complete(
        self,
        turn: Turn,
        batch: Batch | None,
        outcomes: Mapping[str, Sequence[Outcome]],
        *,
        cost_s: float,
    ) -> None:
        """Record that a batch was judged or skipped, and learn from it; see `BatchSource`."""
        api = turn.api
        del self._running[api]
        self._visits[api] += 1
        self._done += 1
        if self._unvisited is not None:
            self._unvisited.discard(api)
        if batch is not None and outcomes:
            rows = list(outcomes.values())
            self._crash_costs[api] = self._crash_costs.get(api, 0) + max(
                sum(map(cost_of, row)) for row in rows
            )
            self._learn(turn, batch, rows)
            if self._is_adaptive:
                self._spent_s[api] = self._spent_s.get(api, 0.0) + cost_s + _OVERHEAD_S
                self._note_crash(api, rows)
                if not self._is_retired(api) and not self._is_at_limit(api):
                    self._share_of[api].push(api, self._used_share(api))
        self._release(api)

    def _note_crash(self, api: str, rows: Sequence[Sequence[Outcome]]) -> None:
        """Give APIs more time whose names resemble those that crashed."""
        has_crashed = any(isinstance(outcome, Crashed) for row in rows for outcome in row)
        if has_crashed and self._rates.note((api,)):
            for share in self._shares:
                share.reorder(self._used_share)

    def _used_share(self, api: str) -> float:
        """Return the time that an API took so far, divided by its share."""
        return self._spent_s.get(api, 0.0) / self._rates.weights[api]

    def reopen(self, turn: Turn) -> None:
        """Keep the batch open; see `BatchSource`."""
        self._running.setdefault(turn.api, turn)

    def _learn(self, turn: Turn, batch: Batch, rows: Sequence[Sequence[Outcome]]) -> None:
        content = self._level.feedback(batch, [_best(row) for row in zip(*rows, strict=True)])
        if content is not None:
            self._level.learn(batch.api, content)
            self._unrecorded.append(Feedback(turn.visit, batch.api, content))

    def _release(self, api: str) -> None:
        """Let the next turn of an API run that waited for its last one."""
        if api in self._running or api not in self._deferred:
            return
        queue = self._deferred[api]
        self._ready.append((queue.popleft(), api))
        if not queue:
            del self._deferred[api]

    # --- progress -------------------------------------------------------------------------------

    @property
    def apis(self) -> int:
        """Number of APIs that have turns in this run."""
        return sum(map(self._has_turns, self._visits))

    @property
    def unvisited(self) -> int:
        """Number of these APIs that no batch has tested yet."""
        if self._unvisited is None:
            self._unvisited = {
                api for api, count in self._visits.items() if not count and self._has_turns(api)
            }
        return len(self._unvisited)

    @property
    def is_first_pass(self) -> bool:
        """True while some API has not had a turn yet."""
        if self._is_adaptive:
            return any(share.has_unvisited for share in self._shares)
        return self._next < len(self._visits) and not self.is_at_end

    def _has_turns(self, api: str) -> bool:
        is_own = self.own is None or api in self.own
        return is_own and (not self._limits or self._limits[api] > 0)

    @property
    def done(self) -> int:
        """Number of batches that were judged or skipped."""
        return self._done

    @property
    def visits(self) -> str:
        """Number of judged batches of each API, packed."""
        return pack_visits([*self._visits.values()])

    def end_at(self, done: int, visits: str) -> None:
        """Stop at the visits of an earlier run; see `BatchSource`."""
        if done:
            self._limits = self._by_api(visits)
            for share in self._shares:
                share.retain(lambda api: not self._is_at_limit(api))

    def _by_api(self, visits: str) -> dict[str, int]:
        try:
            counts = unpack_visits(visits)
        except ValueError as error:
            raise UnknownProgressError(*error.args) from error
        if len(counts) != len(self._visits):
            msg = f"it counts visits to {len(counts)} APIs, but this run tests {len(self._visits)}"
            raise UnknownProgressError(msg)
        return dict(zip(self._visits, counts, strict=True))

    def state(self) -> dict[str, Any]:
        """Return the visits and the cost of crashes by API, and the next turn."""
        costs = {api: cost for api, cost in self._crash_costs.items() if cost}
        judged = self._oldest_open() if self.is_ordered else 0
        return {"turn": judged, "done": self._done, "visits": self.visits, "deaths": costs}

    def _oldest_open(self) -> int:
        """Return the number below which every turn was judged or skipped."""
        open_numbers = [turn.number for turn in self._running.values()]
        return min([*open_numbers, *self.waiting], default=self._next)

    def continue_from(self, state: Mapping[str, Any], feedback: Sequence[Feedback]) -> None:
        """Restore the state of an interrupted run; see `BatchSource`."""
        try:
            self._visits = self._by_api(str(state["visits"]))
            self._done = int(state["done"])
            next_turn = int(state["turn"])
            self._crash_costs = {str(api): int(cost) for api, cost in state["deaths"].items()}
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            msg = f"this is not the progress of a stream that visits APIs: {error!r}"
            raise UnknownProgressError(msg) from error
        unknown = {entry.api for entry in feedback} - set(self._visits)
        if not 0 <= next_turn <= _MAX_TURNS or unknown:
            msg = f"turn {next_turn} or the feedback on {sorted(unknown)[:3]} does not fit this run"
            raise UnknownProgressError(msg)
        for _ in range(next_turn):
            next(self._fixed_order)
        self._next = next_turn
        for entry in feedback:
            if isinstance(entry.content, Experience):
                self._level.replay(entry.api, entry.content)
                self._level.learn(entry.api, entry.content)
        if self._is_adaptive:
            # The times of the interrupted run are lost.
            self._spent_s = {api: _OVERHEAD_S * count for api, count in self._visits.items()}
            self._rates.note(api for api, cost in self._crash_costs.items() if cost)
            for share in self._shares:
                share.resume(self._visits, self._used_share)
                share.retain(lambda api: not self._is_at_limit(api) and not self._is_retired(api))

    def new_feedback(self) -> list[Feedback]:
        """Return the feedback of the batches that were judged since the last call."""
        drained, self._unrecorded = self._unrecorded, []
        return drained

    def learned(self) -> Mapping[str, Experience]:
        """Return the experience of the level, by API."""
        return self._level.learned()


def _best(row: Sequence[Outcome]) -> Outcome:
    """Return the first outcome that is not a rejection, or the first one."""
    return next((outcome for outcome in row if not isinstance(outcome, Rejected)), row[0])
