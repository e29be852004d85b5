"""Store of samples of all APIs, by the tensors that they accept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.graph.samples import key_of, resized, size_changes, slots_of_call

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.values import Json, TensorValue
    from ciguard.levels.graph.samples import FormKey, Sample

_MAX_SAMPLES = 10
"""Maximum number of samples of one API."""
_MAX_BLAME = 2
"""Blame because of which no further graph has an API."""
_MAX_WRONG = 3
"""Number of wrong results of an API after which no further graph has it, unless more results were
right: its defect is known by then, and would hide those of others. Results that are wrong now and
then hide little, and rounding may be the reason."""
_CHOICES = 6
"""Number of samples from which the best one is chosen, see `_familiarity`."""


@dataclass(frozen=True, slots=True)
class SampleUse:
    """A sample that accepts a tensor at a position."""

    sample: Sample
    position: int


class SampleStore:
    """Samples by API and by accepted tensors, with counts of what graphs have tested."""

    def __init__(self, *, resizing: float = 0.5) -> None:
        """Create an empty store.

        Args:
            resizing: share of the uses of a tensor whose sample gets changed sizes, although there
                is one with exactly its shape.
        """
        self._resizing = resizing
        self._samples: dict[str, list[Sample]] = {}
        self._known: set[tuple[str, tuple[FormKey, ...]]] = set()
        self._exact: dict[FormKey, list[SampleUse]] = {}
        self._by_rank: dict[tuple[str, int], list[SampleUse]] = {}
        self._uses: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._blame: Counter[str] = Counter()
        self._wrong: Counter[str] = Counter()
        self._right: Counter[str] = Counter()
        self._compiled: set[str] = set()
        self._varied: Counter[str] = Counter()

    @property
    def apis(self) -> list[str]:
        """Names of the APIs with samples, in order of their first sample."""
        return list(self._samples)

    def add(self, sample: Sample) -> None:
        """Add a sample, unless its API has one for the same tensors, or enough of them."""
        api = sample.call.api
        slots = slots_of_call(sample.call)
        form = api, tuple(key_of(tensor) for _, tensor in slots)
        samples = self._samples.setdefault(api, [])
        if form in self._known or len(samples) >= _MAX_SAMPLES:
            return
        self._known.add(form)
        samples.append(sample)
        for position, tensor in slots:
            use = SampleUse(sample, position)
            self._exact.setdefault(key_of(tensor), []).append(use)
            self._by_rank.setdefault((tensor.dtype, len(tensor.shape)), []).append(use)

    def note(self, apis: Iterable[str], pairs: Iterable[tuple[str, str]]) -> None:
        """Count the APIs of a graph, and pairs of an API and another that uses its result."""
        self._uses.update(apis)
        self._pairs.update(pairs)

    def note_varied(self, apis: Iterable[str]) -> None:
        """Count the APIs that were called alone with hard values."""
        self._varied.update(apis)

    def learn(self, feedback: Json) -> None:
        """Apply the feedback of units, see `unit_feedback`."""
        for api in feedback.get("blamed", ()):
            self.blame(str(api), is_certain=True)
        for api in feedback.get("suspected", ()):
            self.blame(str(api), is_certain=False)
        self._wrong.update(map(str, feedback.get("wrong", ())))
        self._right.update(map(str, feedback.get("right", ())))
        for api in feedback.get("compiled", ()):
            self.clear(str(api))

    def blame(self, api: str, *, is_certain: bool) -> None:
        """Record that a graph could not be compiled because of an API, or perhaps because of it."""
        if is_certain:
            self._blame[api] += _MAX_BLAME
        elif api not in self._compiled:
            self._blame[api] += 1

    def clear(self, api: str) -> None:
        """Record that the compiler supports an API."""
        if api not in self._compiled:
            self._compiled.add(api)
            del self._blame[api]

    def are_compiled(self, apis: Iterable[str]) -> bool:
        """Return whether the compiler is known to support some APIs."""
        return self._compiled.issuperset(apis)

    def is_banned(self, api: str) -> bool:
        """Return whether no further graph may have an API."""
        is_wrong = self._wrong[api] >= max(_MAX_WRONG, self._right[api])
        return is_wrong or self._blame[api] >= _MAX_BLAME

    def first(self, rng: random.Random) -> Sample | None:
        """Return a sample of an API that graphs have rarely used; None if there is none.

        The compiler supports the API, unless it supports none of those with samples.
        """
        usable = [api for api in self._samples if not self.is_banned(api)]
        if not usable:
            return None
        usable = [api for api in usable if api in self._compiled] or usable
        least = min(self._uses[api] for api in usable)
        rare = [api for api in usable if self._uses[api] <= least + 1]
        return rng.choice(self._samples[rng.choice(rare)])

    def samples_to_vary(self, rng: random.Random, count: int) -> list[Sample]:
        """Return a sample each of at most `count` APIs that the compiler supports.

        They are those that were called the least with hard values.
        """
        usable = sorted(self._compiled & self._samples.keys())
        usable = [api for api in usable if not self.is_banned(api)]
        rng.shuffle(usable)
        usable.sort(key=lambda api: self._varied[api])
        return [rng.choice(self._samples[api]) for api in usable[:count]]

    def user_of(self, tensor: TensorValue, producer: str, rng: random.Random) -> SampleUse | None:
        """Return a sample that accepts a tensor, perhaps with changed sizes; None if none does.

        Args:
            tensor: the tensor.
            producer: name of the API that returns it; empty for an input.
            rng: source of random numbers.
        """
        exact = self._exact.get(key_of(tensor), ())
        others = self._by_rank.get((tensor.dtype, len(tensor.shape)), ())
        pool = exact if exact and rng.random() >= self._resizing else others
        choices = [rng.choice(pool) for _ in range(_CHOICES)] if pool else []
        choices = [use for use in choices if not self.is_banned(use.sample.call.api)]
        if not choices:
            return None
        return min(choices, key=lambda use: self._familiarity(producer, use.sample.call.api))

    def _familiarity(self, producer: str, api: str) -> tuple[bool, int, int]:
        """Return a key by which the best of several APIs is the first.

        The compiler supports it, few graphs have this pair of APIs, and few have the second one.
        """
        return api not in self._compiled, self._pairs[producer, api], self._uses[api]


def fitted(use: SampleUse, tensor: TensorValue) -> ApiCall | None:
    """Return the call of a sample, with sizes changed so that it accepts a tensor.

    None if its sizes cannot be changed so.
    """
    call = use.sample.call
    slot = dict(slots_of_call(call))[use.position]
    if slot.shape == tensor.shape:
        return call
    sizes = size_changes(slot.shape, tensor.shape)
    return None if sizes is None else resized(call, sizes)
