"""The batches of a stream that run, and their outcomes so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.batches import Turn
    from ciguard.domain.outcomes import Outcome
    from ciguard.levels import Batch


@dataclass(slots=True)
class PendingBatch:
    """A batch that is not judged yet."""

    turn: Turn
    """Turn of the batch."""
    batch: Batch | None
    """Batch as it runs; None if it is skipped."""
    targets: list[str]
    """Names of the targets that run it."""
    outcomes: dict[str, list[Outcome | None]] = field(default_factory=dict)
    """Outcome of each case by target; None if a case was parked or skipped."""
    parked: dict[str, list[int]] = field(default_factory=dict)
    """Indices of the cases that are parked or run again, by target."""
    cost_s: float = 0.0
    """Time of the workers, in seconds."""
    is_partial: bool = False
    """True if parked cases of the batch were given up."""

    def is_complete(self, running: set[str]) -> bool:
        """Return whether all running targets have returned their outcomes."""
        return not any(
            name in running and (name not in self.outcomes or name in self.parked)
            for name in self.targets
        )

    @property
    def has_returned(self) -> bool:
        """True if the first run has returned on all targets."""
        return len(self.outcomes) == len(self.targets)

    @property
    def outcomes_in_order(self) -> dict[str, list[Outcome | None]]:
        """Outcomes in the order of the targets; those of failed targets may be missing."""
        return {name: self.outcomes[name] for name in self.targets if name in self.outcomes}

    @property
    def known_indices(self) -> list[int]:
        """Indices of the cases that have an outcome on every target."""
        rows = self.outcomes_in_order.values()
        columns = zip(*rows, strict=True)
        return [index for index, outcomes in enumerate(columns) if None not in outcomes]


class RunningBatches:
    """Batches that are not judged yet; only those that changed are checked for completeness."""

    def __init__(self) -> None:
        self._by_number: dict[int, PendingBatch] = {}
        """Batches by number of their turn."""
        self._unreturned: set[int] = set()
        """Numbers of the batches whose first run has not returned on all targets."""
        self._changed: set[int] = set()
        """Numbers of the batches that may have become complete."""
        self._running: set[str] = set()
        """Targets that could run cases when completeness was last checked."""

    def __len__(self) -> int:
        return len(self._by_number)

    def __iter__(self) -> Iterator[PendingBatch]:
        return iter(self._by_number.values())

    @property
    def unreturned(self) -> int:
        """Number of batches whose first run has not returned on all targets."""
        return len(self._unreturned)

    def get(self, number: int) -> PendingBatch | None:
        """Return the batch of a turn; None if it is judged or never started."""
        return self._by_number.get(number)

    def add(self, pending: PendingBatch) -> None:
        """Add a batch that starts."""
        number = pending.turn.number
        self._by_number[number] = pending
        self._changed.add(number)
        if not pending.has_returned:
            self._unreturned.add(number)

    def note_change(self, pending: PendingBatch) -> None:
        """Record that the outcomes of a batch or its parked cases have changed."""
        self._changed.add(pending.turn.number)
        if pending.has_returned:
            self._unreturned.discard(pending.turn.number)

    def remove(self, pending: PendingBatch) -> None:
        """Remove a batch that is judged."""
        number = pending.turn.number
        del self._by_number[number]
        self._unreturned.discard(number)
        self._changed.discard(number)

    def complete(self, running: set[str]) -> list[PendingBatch]:
        """Return the complete batches, by number.

        Args:
            running: targets that can run cases; the outcomes of others are not awaited.
        """
        if running != self._running:
            self._running = running
            self._changed.update(self._by_number)
        complete = {n for n in self._changed if self._by_number[n].is_complete(running)}
        self._changed = complete
        return [self._by_number[number] for number in sorted(complete)]

    @property
    def first_incomplete(self) -> int | None:
        """Smallest number of a batch that was not complete when last checked; None without one."""
        return min(self._by_number.keys() - self._changed, default=None)
