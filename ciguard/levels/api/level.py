"""From seed and index to a batch of calls."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.knowledge import understand
from ciguard.levels.api.calls import CallGenerator
from ciguard.levels.api.mix import FIRST_ROUND, LATER_ROUNDS
from ciguard.levels.contract import Batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain import ApiRecord

_INDEX_BITS = 40


class ApiLevel:
    """Calls of every API in turn: each round meets each API once, in an order of its own."""

    def __init__(self, apis: Sequence[ApiRecord], seed: int, *, cases_per_batch: int = 16) -> None:
        if not apis:
            msg = "level api: no API to call; check the globs of [run] api and exclude"
            raise ValueError(msg)
        self._records = tuple(apis)
        self._seed = seed
        self._cases_per_batch = cases_per_batch
        self._generators: dict[int, CallGenerator] = {}
        self._order = lru_cache(maxsize=4)(self._order_of_round)

    def cases(self, index: int) -> Batch:
        """Return the batch of that index."""
        round_number, place = divmod(index, len(self._records))
        chosen = self._order(round_number)[place]
        generator = self._generator(chosen)
        rng = random.Random((self._seed << _INDEX_BITS) + index)  # noqa: S311 - repeatable
        mix = FIRST_ROUND if round_number == 0 else LATER_ROUNDS
        record = self._records[chosen]
        return Batch(
            api=record.api,
            kind=record.kind,
            cases=tuple([generator.call(rng, mix) for _ in range(self._cases_per_batch)]),
        )

    def _order_of_round(self, round_number: int) -> tuple[int, ...]:
        order = list(range(len(self._records)))
        random.Random(f"{self._seed} {round_number}").shuffle(order)  # noqa: S311 - repeatable
        return tuple(order)

    def _generator(self, chosen: int) -> CallGenerator:
        found = self._generators.get(chosen)
        if found is None:
            found = CallGenerator(understand(self._records[chosen]))
            self._generators[chosen] = found
        return found
