"""From seed and index to a batch of calls."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import as_call
from ciguard.levels import Batch
from ciguard.levels.api.guided import MAX_NOTED, GuidedGenerator
from ciguard.levels.api.mix import FIRST_ROUND, LATER_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge import Experience

_INDEX_BITS = 40


class ApiLevel:
    """Calls of every API in turn: each round meets each API once, in an order of its own.

    It learns: the batch of an index depends on the seed, the index, and what was learned before.
    """

    def __init__(self, apis: Sequence[ApiRecord], seed: int, *, cases_per_batch: int = 16) -> None:
        if not apis:
            msg = "level api: no API to call; check the globs of [run] api and exclude"
            raise ValueError(msg)
        self._records = tuple(apis)
        self._seed = seed
        self._cases_per_batch = cases_per_batch
        self._generators: dict[int, GuidedGenerator] = {}
        self._places = {record.api: place for place, record in enumerate(self._records)}
        self._taught: Counter[str] = Counter()
        self._recalled: dict[str, Experience] = {}
        self._order = lru_cache(maxsize=4)(self._order_of_round)

    def api_of(self, index: int) -> str:
        """Return the API of the batch of that index."""
        return self._records[self._chosen(index)].api

    def _chosen(self, index: int) -> int:
        round_number, place = divmod(index, len(self._records))
        return self._order(round_number)[place]

    def cases(self, index: int) -> Batch:
        """Return the batch of that index."""
        chosen = self._chosen(index)
        generator = self._generator(chosen)
        rng = random.Random((self._seed << _INDEX_BITS) + index)  # noqa: S311 - repeatable
        mix = FIRST_ROUND if index < len(self._records) else LATER_ROUNDS
        record = self._records[chosen]
        return Batch(
            api=record.api,
            kind=record.kind,
            cases=tuple([generator.call(rng, mix) for _ in range(self._cases_per_batch)]),
        )

    def recall(self, learned: Mapping[str, Experience]) -> None:
        """Begin with what earlier campaigns learned, by API."""
        for api, experience in learned.items():
            if api in self._places:
                self._recalled[api] = experience
                self._taught[api] += experience.noted

    def lesson(self, batch: Batch, outcomes: Sequence[Outcome]) -> Experience | None:
        """Return what the outcomes of a batch teach; nothing where enough was learned."""
        if self._taught[batch.api] >= MAX_NOTED:
            return None
        calls = [*map(as_call, batch.cases)]
        found = self._generator(self._places[batch.api]).lesson(calls, outcomes)
        self._taught[batch.api] += found.noted
        return found

    def learn(self, api: str, lesson: Experience) -> None:
        """Put a lesson to use in the batches that are made from now on."""
        self._generator(self._places[api]).learn(lesson)

    def relearn(self, api: str, lesson: Experience) -> None:
        """Note that a lesson was drawn before this process began; it is yet to be put to use."""
        self._taught[api] += lesson.noted

    def learned(self) -> dict[str, Experience]:
        """Return what is known from outcomes by now, by API."""
        found = {self._records[at].api: g.experience for at, g in self._generators.items()}
        return {**self._recalled, **{a: e for a, e in found.items() if e.noted}}

    def _order_of_round(self, round_number: int) -> tuple[int, ...]:
        order = list(range(len(self._records)))
        random.Random(f"{self._seed} {round_number}").shuffle(order)  # noqa: S311 - repeatable
        return tuple(order)

    def _generator(self, chosen: int) -> GuidedGenerator:
        found = self._generators.get(chosen)
        if found is None:
            record = self._records[chosen]
            found = GuidedGenerator(record, self._recalled.get(record.api))
            self._generators[chosen] = found
        return found
