"""Level `api`: batches of calls, derived from the seed and the index of the batch."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.api_calls import as_call
from ciguard.levels import Batch
from ciguard.levels.api.call_mix import TO_CRASH, RoundMixes
from ciguard.levels.api.guided import MAX_OBSERVED_CALLS, GuidedGenerator
from ciguard.levels.api.observed import ObservedOperators, is_operator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Json
    from ciguard.knowledge import Experience

_INDEX_BITS = 40
_OBSERVED_CALLS = 8
"""Number of calls of each API whose operators are observed, and of these with another option."""
BATCH_SIZES = (4, 16, 64)
"""Numbers of calls in the first batches of an API; all further ones have the last. The first batch
is small, so that every API is called soon; large ones cost less time per call."""


class ApiLevel:
    """Calls of each API; a batch depends on the seed, the number of its visit, and feedback.

    `cases` visits all APIs in rounds, each in an order of its own.
    """

    examples_conform: ClassVar[bool] = False
    """True if calls resemble only conforming calls that passed, even if no such call has passed."""

    def __init__(
        self,
        apis: Sequence[ApiRecord],
        seed: int,
        *,
        sizes: Sequence[int] = BATCH_SIZES,
        mixes: RoundMixes = TO_CRASH,
    ) -> None:
        """Create the level.

        Args:
            apis: the records of the APIs to call.
            seed: the seed of the run.
            sizes: the numbers of calls in the first batches of each API; all further ones have the
                last.
            mixes: the shares of conforming and mutated calls.

        Raises:
            ValueError: if there is no API.
        """
        if not apis:
            msg = "level `api`: no API to call. Check the globs `api` and `exclude` in [run]."
            raise ValueError(msg)
        self._records = tuple(apis)
        self._seed = seed
        self._sizes = tuple(sizes)
        self._mixes = mixes
        self._generators: dict[int, GuidedGenerator] = {}
        self._positions = {record.api: position for position, record in enumerate(self._records)}
        self._observed: Counter[str] = Counter()
        self._earlier_experience: dict[str, Experience] = {}
        self._order = lru_cache(maxsize=4)(self._order_of_round)
        self._ranks = {position: rank for rank, position in enumerate(self._order(0))}

    @property
    def apis(self) -> Sequence[str]:
        """Names of all APIs."""
        return tuple(self._positions)

    @property
    def batch_sizes(self) -> Sequence[int]:
        """Numbers of calls in the first batches of an API; all further ones have the last."""
        return self._sizes

    def cases(self, index: int) -> Batch:
        """Return the batch of an index: the round, times the number of APIs, plus the position."""
        number, position = divmod(index, len(self._records))
        return self.visit(self._records[self._order(number)[position]].api, number)

    def visit(self, api: str, number: int) -> Batch:
        """Return the batch of an API that follows `number` earlier ones."""
        return self.drawn(api, number, drawn_before=number)

    def drawn(self, api: str, number: int, *, drawn_before: int) -> Batch:
        """Return a batch of drawn calls of an API.

        Args:
            api: name of the API.
            number: number of earlier batches of the API.
            drawn_before: number of these whose calls were drawn, which determines the size.
        """
        generator = self.generator(api)
        rng = self.random_generator(api, number)
        mix = self._mixes.later if number else self._mixes.first
        size = self._sizes[min(drawn_before, len(self._sizes) - 1)]
        return Batch(
            api=api,
            kind=self.record(api).kind,
            cases=tuple([generator.call(rng, mix) for _ in range(size)]),
        )

    def record(self, api: str) -> ApiRecord:
        """Return the record of an API."""
        return self._records[self._positions[api]]

    def generator(self, api: str) -> GuidedGenerator:
        """Return the generator of an API's calls."""
        return self._generator(self._positions[api])

    def random_generator(self, api: str, number: int) -> random.Random:
        """Return the source of randomness of the batch of an API after `number` earlier ones."""
        batch_seed = number * len(self._records) + self._ranks[self._positions[api]]
        return random.Random((self._seed << _INDEX_BITS) + batch_seed)  # noqa: S311 - repeatable

    def recall(self, learned: Mapping[str, Experience]) -> None:
        """Use the experience of earlier campaigns, by API, from the first batch on."""
        for api, experience in learned.items():
            if api in self._positions:
                self._earlier_experience[api] = experience
                used = (
                    experience.with_conforming_examples() if self.examples_conform else experience
                )
                self._observed[api] += used.noted

    def feedback(self, batch: Batch, outcomes: Sequence[Outcome]) -> Experience | None:
        """Return the feedback from a batch without applying it; None if the API needs no more."""
        if self._observed[batch.api] >= MAX_OBSERVED_CALLS:
            return None
        calls = [*map(as_call, batch.cases)]
        feedback = self.generator(batch.api).feedback(calls, outcomes)
        self._observed[batch.api] += feedback.noted
        return feedback

    def learn(self, api: str, feedback: Experience) -> None:
        """Apply feedback to all batches of the API that are made later."""
        self.generator(api).learn(feedback)

    def replay(self, api: str, feedback: Experience) -> None:
        """Count feedback that was stored before this process started; `learn` applies it."""
        self._observed[api] += feedback.noted

    def learned(self) -> dict[str, Experience]:
        """Return all experience, with that of earlier campaigns, by API."""
        learned = {
            self._records[position].api: generator.experience
            for position, generator in self._generators.items()
            if generator.experience.noted
        }
        return {**self._earlier_experience, **learned}

    @property
    def observable(self) -> Sequence[str]:
        """Names of the APIs that are undocumented operators."""
        return [record.api for record in self._records if is_operator(record)]

    def calls_to_observe(self, learned: Mapping[str, Experience]) -> Iterator[tuple[ApiCall, ...]]:
        """Yield calls of each API in which operators can be observed; see `ObservingLevel`."""
        for record in self._records:
            generator = self.generator(record.api)
            rng = random.Random(f"{self._seed} {record.api}")  # noqa: S311 - repeatable
            experience = learned.get(record.api)
            calls = [*generator.passed_calls(experience, rng)] if experience is not None else []
            drawn = [generator.conforming_call(rng) for _ in range(_OBSERVED_CALLS - len(calls))]
            calls += drawn
            options = [generator.with_option(call, n, rng) for n, call in enumerate(calls)]
            yield (*calls, *filter(None, options))

    def observed(self, calls: Iterable[Sequence[Json]]) -> dict[str, Experience]:
        """Return the experience from observed operators; see `ObservingLevel`."""
        operators = ObservedOperators(self._records)
        operators.note(calls)
        return operators.experience

    def argument_kinds(self, case: Case) -> Iterator[tuple[str, str]]:
        """Yield the kinds of each argument's parameter and value; see `TabulatedLevel`."""
        return self.generator(case.api).argument_kinds(as_call(case))

    def _order_of_round(self, round_number: int) -> tuple[int, ...]:
        order = list(range(len(self._records)))
        random.Random(f"{self._seed} {round_number}").shuffle(order)  # noqa: S311 - a batch must be repeatable
        return tuple(order)

    def _generator(self, position: int) -> GuidedGenerator:
        generator = self._generators.get(position)
        if generator is None:
            record = self._records[position]
            generator = GuidedGenerator(
                record,
                self._earlier_experience.get(record.api),
                examples_conform=self.examples_conform,
            )
            self._generators[position] = generator
        return generator
