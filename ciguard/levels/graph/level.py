"""Level `graph`: batches of samples, of probes, and of graphs that are compiled.

The first batches call each API alone, eagerly, to get samples. A few of these calls are the first
graphs. A probe composes graphs of samples and runs them eagerly, step by step: steps that fail, or
whose results are random or not finite, are left out. Some batches later, what is left of these
graphs runs compiled, several graphs in one unit, since compiling takes most of the time.

A batch depends on the seed, the index, and the feedback so far.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, TypeVar

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.graphs import GraphCase, step_from_json, step_to_json
from ciguard.knowledge import understand
from ciguard.levels import Batch
from ciguard.levels.api import CallGenerator, CallMix
from ciguard.levels.graph.composing import compose
from ciguard.levels.graph.hard_values import has_special_numbers, with_hard_values
from ciguard.levels.graph.probing import pairs_of, probed
from ciguard.levels.graph.refusals import unit_feedback
from ciguard.levels.graph.reshaping import (
    changes_in_place,
    joined,
    unused_steps,
)
from ciguard.levels.graph.samples import sample_from_json, singles
from ciguard.levels.graph.schedule import RETRY_LAG, UNIT_LAGS, BatchKind, Schedule
from ciguard.levels.graph.store import SampleStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.graphs import Step
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Json
    from ciguard.libraries import Subscripts

T = TypeVar("T")

_INDEX_BITS = 40
_SEED_BITS = 31
_APIS_PER_BATCH = 16
"""Number of APIs that are sampled in one batch."""
_CALLS_PER_API = 8
_SLOW_APIS_PER_BATCH = 8
_SLOW_CALLS_PER_API = 4
"""The same for a library that compiles each call: its calls take most of the time."""
_SLOW_RESIZING_SHARE = 0.1
"""Share of the uses of a result whose sample gets other sizes there: it is compiled again for them,
but not for sizes that it had."""
_UNITS_PER_BATCH = 4
"""Number of units of graphs in one batch, the number of cases that run in a mode."""
_PROBES_PER_GRAPH = 1.5
"""Number of graphs that are probed for each one that is compiled: some have too few steps left."""
_MAX_KEPT = 16
"""Number of probes whose graphs are kept."""
_NEW_CALLS = 16
"""Number of calls in a unit with APIs that were not compiled before: a compiler refuses many."""
_OPEN_SHARE = 0.5
"""Share of the units that return all results, which shows at once which call is wrong."""
_SINGLES_PER_GRAPH = 4
"""Number of single calls that are compiled in the place of one graph."""
_SINGLES = 2
"""Number of samples of one API that are compiled alone."""
_MAX_OUTPUTS = 60
"""Maximum number of outputs of a unit; workers return 64 items of a result."""
_LOW_PRECISION = "bfloat16"
"""Type in which calls compute with autocast: the one that a CPU prefers, and GPUs have, too."""
_CONFORMING = CallMix(violating=0.0, boundary=0.0, two_boundaries=0.0, many_boundaries=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSizes:
    """Sizes of graphs and units."""

    calls: int
    """Maximum number of calls of a graph."""
    least: int = 2
    """Minimum number of calls of a graph."""
    unit: int
    """Number of graphs in one unit."""
    is_slow: bool = False
    """True if eager calls are slow, since the library compiles each: batches are smaller then."""
    gradient_share: float = 0.0
    """Share of the units whose gradients are computed."""
    growing_share: float = 0.0
    """Share of the batches whose graphs run a second time, with larger tensors."""
    mapped_share: float = 0.0
    """Share of the batches whose graphs run for two examples, which a compiler computes at once."""
    autocast_share: float = 0.0
    """Share of the batches whose graphs run with autocast."""
    layout_share: float = 0.0
    """Share of the batches whose tensors lie in memory in one of `layouts`."""
    layouts: tuple[str, ...] = ()
    """Layouts that the library's adapter knows."""
    copy_share: float = 0.0
    """Share of the units that return copies of their results."""
    option_share: float = 0.0
    """Share of the units that are compiled with one of `options`."""
    options: tuple[str, ...] = ()
    """Names of options of the compiler."""
    overlapping: frozenset[str] = frozenset()
    """Layouts in which elements share memory: what a call in place does then is undefined."""
    hard_share: float = 0.0
    """Share of the batches of probes that are single calls with hard values."""
    keeps_special: bool = False
    """True if NaN and infinities must have the same effect as in eager execution."""
    subscripts: Subscripts | None = None
    """The library's methods for indexing; None if graphs do not index."""


class GraphLevel:
    """Generator of graphs; see the module's documentation."""

    def __init__(self, records: Sequence[ApiRecord], seed: int, sizes: GraphSizes) -> None:
        """Create the level.

        Args:
            records: the APIs that graphs may call.
            seed: the seed of the run.
            sizes: sizes of graphs and units.

        Raises:
            ValueError: if there is no API.
        """
        if not records:
            msg = "level `graph`: no API to call"
            raise ValueError(msg)
        self._seed = seed
        self._sizes = sizes
        self._records = list(records)
        random.Random(f"order {seed}").shuffle(self._records)  # noqa: S311 - repeatable
        per_batch = _SLOW_APIS_PER_BATCH if sizes.is_slow else _APIS_PER_BATCH
        self._samples_per_batch = per_batch
        self._calls_per_api = _SLOW_CALLS_PER_API if sizes.is_slow else _CALLS_PER_API
        batches = -(-len(records) // per_batch)
        self.schedule = Schedule(batches, samples_per_probe=1 if sizes.is_slow else 2)
        self._generators: dict[str, CallGenerator] = {}
        resizing = {"resizing": _SLOW_RESIZING_SHARE} if sizes.is_slow else {}
        self._store = SampleStore(**resizing)
        self._probed: dict[int, list[tuple[Step, ...]]] = {}
        """Graphs that are left of the probes, by index of the batch."""
        self._conditions: dict[int, Json] = {}
        """How the graphs of batches of probes run, by index of the batch: members of `GraphCase`;
        `is_special` if the graphs have NaN and infinities."""
        self._retried: dict[int, list[tuple[Step, ...]]] = {}
        """Units without the graph that the compiler does not support, by index of their batch."""

    def cases(self, index: int) -> Batch:
        """Return the batch of an index."""
        rng = random.Random((self._seed << _INDEX_BITS) + index)  # noqa: S311 - repeatable
        kind = self.schedule.kind(index)
        cases: list[GraphCase] = []
        if kind is BatchKind.UNITS:
            cases = list(self._units(index, rng))
        elif kind is BatchKind.MISSING:
            cases = list(self._samples_of(self._missing(rng), rng))
        elif kind is BatchKind.PROBE:
            cases = list(self._varied_probes(rng))
        if not cases and kind is not BatchKind.SAMPLES:
            cases = list(self._probes(self._probes_at(index), rng))
        cases = cases or list(self._samples(self.schedule.sampling_number(index), rng))
        return Batch(
            api=cases[0].api,
            kind=CallKind.FUNCTION,
            cases=tuple(cases),
            is_eager=cases[0].is_probe,
        )

    def _samples(self, number: int, rng: random.Random) -> Iterator[GraphCase]:
        """Yield the calls of the APIs whose turn it is."""
        start = number * self._samples_per_batch
        yield from self._samples_of(self._records[start : start + self._samples_per_batch], rng)

    def _missing(self, rng: random.Random) -> list[ApiRecord]:
        """Return some of the APIs without a sample."""
        known = set(self._store.apis)
        missing = [record for record in self._records if record.api not in known]
        return rng.sample(missing, min(len(missing), self._samples_per_batch))

    def _samples_of(self, records: Sequence[ApiRecord], rng: random.Random) -> Iterator[GraphCase]:
        """Yield graphs of a single call."""
        for record in records:
            for _ in range(self._calls_per_api):
                call = self._generator(record).call(rng, _CONFORMING)
                yield _probe((call,), rng)

    def _generator(self, record: ApiRecord) -> CallGenerator:
        generator = self._generators.get(record.api)
        if generator is None:
            generator = self._generators[record.api] = CallGenerator(understand(record))
        return generator

    def _probes_at(self, index: int) -> int:
        """Return the number of probes in a batch: for one unit, until every API was sampled."""
        units = 1 if self.schedule.is_sampling(index) else self._units_per_batch
        return round(_PROBES_PER_GRAPH * self._sizes.unit * units)

    def _varied_probes(self, rng: random.Random) -> Iterator[GraphCase]:
        """Yield single calls with hard values, of APIs that the compiler supports.

        Most batches of probes are not of this kind; they have none.
        """
        if rng.random() >= self._sizes.hard_share:
            return
        is_special = self._sizes.keeps_special
        for sample in self._store.samples_to_vary(rng, _SINGLES_PER_GRAPH * self._sizes.unit):
            call = with_hard_values(sample.call, rng, keeps_special=is_special)
            if call is not None:
                yield replace(_probe((call,), rng), is_special=is_special)

    def _probes(self, count: int, rng: random.Random) -> Iterator[GraphCase]:
        conditions = self._drawn_conditions(rng)
        grows = "grows" in conditions
        # What a call in place does to a larger tensor would not be compared.
        is_constant = grows or conditions.get("layout") in self._sizes.overlapping
        for _ in range(count):
            calls = rng.randint(self._sizes.least, self._sizes.calls)
            subscripts = self._sizes.subscripts
            steps = compose(rng, self._store, calls=calls, grows=grows, subscripts=subscripts)
            if steps and not (is_constant and any(map(changes_in_place, steps))):
                yield replace(_probe(steps, rng), **conditions)

    def _drawn_conditions(self, rng: random.Random) -> Json:
        """Return how the graphs of a batch run, besides as usual: at most one condition."""
        sizes = self._sizes
        drawn = rng.random()
        if drawn < sizes.growing_share:
            return {"grows": True}
        drawn -= sizes.growing_share
        if drawn < sizes.mapped_share:
            return {"is_mapped": True}
        drawn -= sizes.mapped_share
        if drawn < sizes.autocast_share:
            return {"autocast": _LOW_PRECISION}
        if drawn - sizes.autocast_share < sizes.layout_share and sizes.layouts:
            return {"layout": rng.choice(sizes.layouts)}
        return {}

    @property
    def _units_per_batch(self) -> int:
        return 1 if self._sizes.is_slow else _UNITS_PER_BATCH

    def _unit_of(self, graphs: Sequence[tuple[Step, ...]]) -> int:
        """Return the number of graphs in one unit: more of them if all are single calls."""
        are_single = all(len(_calls_in(steps)) == 1 for steps in graphs)
        return self._sizes.unit * (_SINGLES_PER_GRAPH if are_single else 1)

    def _units(self, index: int, rng: random.Random) -> Iterator[GraphCase]:
        """Yield the units of the graphs that are left of a probe, and of units to retry."""
        sources = [index - lag for lag in UNIT_LAGS if index - lag in self._probed]
        graphs = [graph for source in sources for graph in self._probed[source]]
        found = [self._conditions.get(source, {}) for source in sources]
        is_special = any("is_special" in conditions for conditions in found)
        same = found[0] if found and not is_special and found.count(found[0]) == len(found) else {}
        retried = self._retried.get(index - RETRY_LAG, [])
        new = [steps for steps in graphs if not self._store.are_compiled(_apis_of(steps))]
        known = [steps for steps in graphs if steps not in new]
        units = _alternating(_of_calls(new), _joined(known, self._unit_of(known)))
        for steps in islice((*retried, *units), self._units_per_batch):
            outputs = unused_steps(steps)
            if rng.random() < _OPEN_SHARE:
                outputs = (*outputs, *(n for n in _calls_in(steps) if n not in outputs))
            case = _case(steps, tuple(sorted(outputs[:_MAX_OUTPUTS])), rng)
            case = replace(case, copies=rng.random() < self._sizes.copy_share)
            if self._sizes.options and rng.random() < self._sizes.option_share:
                case = replace(case, options=rng.choice(self._sizes.options))
            is_drawn = rng.random() < self._sizes.gradient_share
            if same and steps not in retried:
                yield replace(case, **same)
            else:
                has_special = has_special_numbers(steps)
                # A tensor that records gradients cannot be changed in place. Some functions have no
                # gradient at hard numbers, and libraries choose one.
                is_free = not (is_special or has_special or any(map(changes_in_place, steps)))
                has_gradients = is_drawn and is_free
                yield replace(case, is_special=has_special, has_gradients=has_gradients)

    # --- feedback -------------------------------------------------------------------------------

    def feedback(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> Json:
        """Return the feedback of a batch without applying it.

        Args:
            index: the index of the batch.
            batch: the batch as it was run.
            outcomes: the outcomes of the batch's cases, by target.

        Returns:
            The feedback as JSON: of probes, the samples and the graphs that are left; of units, the
            APIs that a compiler does not support.
        """
        cases = [case for case in batch.cases if isinstance(case, GraphCase)]
        rows = list(zip(*outcomes.values(), strict=True))
        if cases and not cases[0].is_probe:
            return unit_feedback(index, cases, rows)
        results = [probed(case, row[0]) for case, row in zip(cases, rows, strict=False)]
        left = [result for result in results if result is not None]
        samples = [sample for result in left for sample in result.samples]
        least = self._sizes.least
        graphs = [result.steps for result in left if len(_calls_in(result.steps)) >= least]
        if cases and cases[0].is_special:
            graphs, samples = [result.steps for result in left if result.samples], []
        elif cases and cases[0].autocast:
            samples = []  # without autocast, their results have other types
        elif all(len(case.calls) == 1 for case in cases):
            graphs = singles(samples, _SINGLES)
        are_single = all(len(case.calls) == 1 for case in cases)
        is_varied = are_single and self.schedule.kind(index) is BatchKind.PROBE
        return {
            "index": index,
            "varied": sorted({case.api for case in cases}) if is_varied else [],
            "samples": [sample.to_json() for sample in samples],
            "graphs": [[step_to_json(step) for step in steps] for steps in graphs],
            "conditions": _conditions_of(cases[0]) if cases else {},
        }

    def update(self, feedback: Json) -> None:
        """Apply feedback to the batches that are made after this call.

        Raises:
            ValueError: if the feedback does not have the form that `feedback` returns.
        """
        try:
            self._store.learn(feedback)
            self._store.note_varied(map(str, feedback.get("varied", ())))
            retried = [tuple(map(step_from_json, steps)) for steps in feedback.get("retried", ())]
            for encoded in feedback.get("samples", ()):
                self._store.add(sample_from_json(encoded))
            graphs = [tuple(map(step_from_json, steps)) for steps in feedback.get("graphs", ())]
        except (AttributeError, KeyError, TypeError) as error:
            msg = f"malformed feedback: {error!r}"
            raise ValueError(msg) from error
        for steps in graphs:
            self._store.note(sorted(_apis_of(steps)), pairs_of(steps))
        for kept, new in ((self._probed, graphs), (self._retried, retried)):
            if new:
                kept[int(feedback["index"])] = new
            while len(kept) > _MAX_KEPT:
                del kept[min(kept)]
        if feedback.get("conditions"):
            self._conditions[int(feedback["index"])] = dict(feedback["conditions"])


def _apis_of(steps: Sequence[Step]) -> set[str]:
    return {step.api for step in steps if isinstance(step, ApiCall)}


def _conditions_of(case: GraphCase) -> Json:
    """Return the members of a case that say how it runs, without those that say nothing."""
    names = ("grows", "is_mapped", "autocast", "layout", "is_special")
    return {name: value for name in names if (value := getattr(case, name))}


def _joined(graphs: Sequence[tuple[Step, ...]], size: int) -> list[tuple[Step, ...]]:
    """Return units of at most this number of graphs."""
    return [joined(graphs[start : start + size]) for start in range(0, len(graphs), size)]


def _of_calls(graphs: Sequence[tuple[Step, ...]]) -> list[tuple[Step, ...]]:
    """Return units of about `_NEW_CALLS` calls, and as many graphs in each."""
    calls = sum(len(_calls_in(steps)) for steps in graphs)
    count = max(1, round(calls / _NEW_CALLS))
    return [joined(graphs[start::count]) for start in range(min(count, len(graphs)))]


def _alternating(*lists: Sequence[T]) -> list[T]:
    """Return the items of several lists in turn."""
    turns = zip_longest(*lists)
    return [item for turn in turns for item in turn if item is not None]


def _calls_in(steps: Sequence[Step]) -> list[int]:
    return [number for number, step in enumerate(steps) if isinstance(step, ApiCall)]


def _probe(steps: tuple[Step, ...], rng: random.Random) -> GraphCase:
    first = next(step.api for step in steps if isinstance(step, ApiCall))
    return GraphCase(
        api=first, steps=steps, outputs=(), seed=rng.getrandbits(_SEED_BITS), is_probe=True
    )


def _case(steps: tuple[Step, ...], outputs: tuple[int, ...], rng: random.Random) -> GraphCase:
    first = next(step.api for step in steps if isinstance(step, ApiCall))
    return GraphCase(api=first, steps=steps, outputs=outputs, seed=rng.getrandbits(_SEED_BITS))
