"""Parked cases: those that exceeded a short first timeout, and run again later with the full one.

They get a bounded share of the time of each target's workers. Those that probably take their whole
timeout come last.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING

from ciguard.oracles import judged_level_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.running_batches import PendingBatch, RunningBatches

_MAX_SHARE = 0.1
"""Maximum share of a target's time for parked cases: of the time that its workers were busy, or of
one worker if they were mostly idle."""


class Parking:
    """Parked cases of one stream, by batch and target."""

    def __init__(self, batches: RunningBatches) -> None:
        """Create it without parked cases.

        Args:
            batches: batches of the stream that are not judged.
        """
        self._batches = batches
        self._waiting: list[tuple[int, str]] = []
        """Turn and target of the parked cases that wait for their second run."""
        self._running: set[tuple[int, str]] = set()
        """Turn and target of the parked cases that run again."""
        self._hanging_apis: set[str] = set()
        """APIs of which a parked case exceeded the full timeout, too."""
        self._began = math.inf
        """Time when the first batch started, on the clock of `time.monotonic`."""
        self._busy_s: dict[str, float] = {}
        """Time of the workers by target, in seconds."""
        self._parked_s: dict[str, float] = {}
        """Part of this time for parked cases, in seconds."""

    @property
    def running(self) -> int:
        """Number of batches with parked cases that run again, on any target."""
        return len(self._running)

    def start_clock(self) -> None:
        """Count the time from the first call on."""
        self._began = min(self._began, time.monotonic())

    def add(self, turn: int, target: str) -> None:
        """Let the parked cases of a batch wait for their second run."""
        self._waiting.append((turn, target))

    def start(self, *, is_idle: bool, is_ordered: bool) -> Iterator[tuple[PendingBatch, str]]:
        """Yield the batches and targets whose parked cases are to run again now.

        Args:
            is_idle: whether no other case can run. Otherwise parked cases only get their share of
                the time.
            is_ordered: whether the order of the batches is fixed, so that all of them run.
        """
        targets = {target for _, target in self._waiting}
        if not is_ordered and not any(self._may_run(one, is_idle=is_idle) for one in targets):
            return
        for entry in sorted(self._waiting, key=self._takes_long):
            turn, target = entry
            pending = self._batches.get(turn)
            if pending is None or target not in pending.parked or pending.batch is None:
                self._waiting.remove(entry)
            elif is_ordered or self._may_run(target, is_idle=is_idle):
                self._waiting.remove(entry)
                self._running.add(entry)
                # The cases after a hang do not run, and that of a large request is not reported.
                pending.parked[target].sort(key=partial(_is_large, pending))
                yield pending, target

    def _takes_long(self, entry: tuple[int, str]) -> bool:
        """Return whether parked cases probably take their whole timeout.

        Their API is known to hang, or one of them requests a huge result.
        """
        pending = self._batches.get(entry[0])
        if pending is None:
            return False
        is_large = any(_is_large(pending, index) for index in pending.parked.get(entry[1], ()))
        return is_large or pending.turn.api in self._hanging_apis

    def _may_run(self, target: str, *, is_idle: bool) -> bool:
        """Return whether a target has time for parked cases, and runs none now."""
        elapsed_s = time.monotonic() - self._began
        share_s = _MAX_SHARE * max(self._busy_s.get(target, 0.0), elapsed_s)
        has_time = is_idle or self._parked_s.get(target, 0.0) <= share_s
        return has_time and all(name != target for _, name in self._running)

    def end(self, turn: int, target: str) -> bool:
        """Return whether a result is of a second run, which has ended then."""
        is_retry = (turn, target) in self._running
        self._running.discard((turn, target))
        return is_retry

    def note_time(self, target: str, elapsed_s: float, *, is_retry: bool) -> None:
        """Add the time of a job, in seconds."""
        self._busy_s[target] = self._busy_s.get(target, 0.0) + elapsed_s
        if is_retry:
            self._parked_s[target] = self._parked_s.get(target, 0.0) + elapsed_s

    def note_hang(self, api: str) -> None:
        """Record that a parked case of an API exceeded the full timeout."""
        self._hanging_apis.add(api)

    def forget(self, turn: int) -> None:
        """Ignore the second run of a batch that is complete without it."""
        self._running = {entry for entry in self._running if entry[0] != turn}

    def clear(self) -> int:
        """Give up all parked cases, and return their number; their batches are partial."""
        self._waiting.clear()
        self._running.clear()
        count = 0
        for pending in self._batches:
            pending.is_partial |= bool(pending.parked)
            count += sum(map(len, pending.parked.values()))
            pending.parked.clear()
            self._batches.note_change(pending)
        return count


def _is_large(pending: PendingBatch, index: int) -> bool:
    """Return whether a case of a batch requests a huge result."""
    if pending.batch is None:
        return False
    case = pending.batch.cases[index]
    return judged_level_of(case).is_large_request(case)
