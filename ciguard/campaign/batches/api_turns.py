"""Turns of one group of APIs: in rounds, or by the time that each API took."""

from __future__ import annotations

import heapq
import random
from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.levels import ApiShare


class ApiTurns:
    """A group of APIs with its share of the turns."""

    def __init__(self, share: ApiShare, seed: int) -> None:
        """Begin with the first turn of each API.

        Args:
            share: APIs of the group, with its share of the turns.
            seed: seed of the run, for the order.
        """
        self.weight = share.weight
        """Share of the group."""
        self.apis = share.apis
        """APIs of the group."""
        self.taken = 0
        """Number of turns that the group had."""
        self._seed = seed
        self._order = lru_cache(maxsize=4)(self._order_of_round)
        self._unvisited = deque(self._order(0))
        self._heap: list[tuple[float, int, str]] = []
        """Used share, position in the queue and name of each API that can run."""
        self._pushed = 0

    def _order_of_round(self, number: int) -> tuple[str, ...]:
        order = list(self.apis)
        random.Random(f"{self._seed} {number}").shuffle(order)  # noqa: S311 - repeatable
        return tuple(order)

    def in_rounds(self) -> str:
        """Return the next API of the fixed order."""
        number, position = divmod(self.taken, len(self.apis))
        self.taken += 1
        return self._order(number)[position]

    @property
    def has_next(self) -> bool:
        """True if an API can run."""
        return bool(self._unvisited or self._heap)

    @property
    def has_unvisited(self) -> bool:
        """True if an API has not had a turn yet."""
        return bool(self._unvisited)

    def pop(self) -> str:
        """Return an API that was not visited yet, or that which used the least of its share."""
        return self._unvisited.popleft() if self._unvisited else heapq.heappop(self._heap)[2]

    def push(self, api: str, used_share: float) -> None:
        """Let an API run again, after those that used less of their share of the time."""
        self._pushed += 1
        heapq.heappush(self._heap, (used_share, self._pushed, api))

    def reorder(self, used_share: Callable[[str], float]) -> None:
        """Order the APIs again, as their shares have changed."""
        self._heap = [(used_share(api), position, api) for _, position, api in self._heap]
        heapq.heapify(self._heap)

    def resume(self, visits: Mapping[str, int], used_share: Callable[[str], float]) -> None:
        """Continue an interrupted run."""
        self._unvisited = deque(api for api in self._order(0) if not visits[api])
        for api in self._order(0):
            if visits[api]:
                self.push(api, used_share(api))

    def retain(self, is_kept: Callable[[str], bool]) -> None:
        """Remove the APIs that have no more turns."""
        self._unvisited = deque(filter(is_kept, self._unvisited))
        self._heap = [entry for entry in self._heap if is_kept(entry[2])]
        heapq.heapify(self._heap)
