"""Level `model`: batches of mutants, derived from seed models, the batch's index and feedback."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ciguard.domain.api_calls import CallKind
from ciguard.domain.models import Check, DataSample, GraphOrigin, ModelCase
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import ArrayValue, Explicit, Uniform
from ciguard.levels import Batch, cost_of
from ciguard.levels.model.feedback import ModelFeedback, MutantFeedback
from ciguard.levels.model.layers import elements
from ciguard.levels.model.mutants import ModelMutant, mutate
from ciguard.levels.model.pools import ModelPools, Parent
from ciguard.levels.model.repertoire import Repertoire
from ciguard.levels.model.universe import Universe, canonical_name, max_mutant_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.models import Data, LayerGraph, SampleKind, Shape
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Json

API = "keras.Model"
"""API of cases that run whole models."""
MUTANTS_PER_BATCH = 4
"""Number of mutants of one model per batch."""
_BATTERY_PERIOD = 4
"""Number of batches of which all but one belong to the battery, until all of its runs were made."""
SAMPLE_COUNT = 8
"""Number of inputs per run."""
_TRAIN_PERIOD, _SAVE_PERIOD = 4, 8
"""Average numbers of cases of which one trains the model, and of which one saves and loads it."""
_MAX_LAYER_COST = 16
"""Total cost at which a layer is excluded: that of the mutants that introduced it, by `cost_of`."""
REPEATS_WHERE_COMPILED = 0.85
"""Probability that an inserted chain is a known one, on backends that compile each operation for
each shape. There a new layer costs more than two mutants with known layers."""
_MIN_TARGETS = 2
"""Number of targets that must run a mutant, so that it may be mutated further."""
_INDEX_BITS = 40
"""Number of bits for a batch's index in the seed of the batch's random numbers."""
_SEED_BITS = 31
"""Size of a case's random seed, in bits."""


class ModelInput(Protocol):
    """Description of one input of a seed model."""

    @property
    def kind(self) -> SampleKind | None:
        """Kind of data for which the model was written; None if unknown."""

    @property
    def shape(self) -> Shape:
        """Shape without the batch dimension."""

    @property
    def dtype(self) -> str:
        """Type of the elements."""

    @property
    def below(self) -> int:
        """Exclusive upper bound of integer elements; 0 if unknown."""


class ModelSeed(Protocol):
    """A model from which mutants are derived."""

    @property
    def name(self) -> str:
        """Name of the model, unique among the seeds."""

    @property
    def graph(self) -> LayerGraph:
        """Layer graph of the model."""

    @property
    def data(self) -> Sequence[ModelInput]:
        """Inputs of the model, in the order of the graph's inputs."""

    @property
    def label_shape(self) -> Shape:
        """Shape of the first output, and of its expected value, without the batch dimension."""

    @property
    def classes(self) -> int:
        """Number of classes of the first output; 0 for a regression."""


@dataclass(frozen=True, slots=True)
class _SeedContext:
    """The data and limits that all mutants of a seed share."""

    data: tuple[Data, ...]
    """Inputs of all runs."""
    truth: ArrayValue
    """Expected first output of all runs."""
    universe: Universe
    """Layers that mutation may insert, within the size limit of the seed."""


class ModelLevel:
    """Level of mutants of seed models.

    The first batches run one unchanged seed each. Batches of the battery and of mutants follow. A
    batch depends on the seed, the index, and the feedback so far. Calling `cases` does not change
    later batches.
    """

    def __init__(
        self,
        apis: Sequence[ApiRecord],
        seed: int,
        *,
        models: Sequence[ModelSeed],
        battery: Sequence[ModelCase] = (),
        repeat_probability: float = 0.0,
    ) -> None:
        """Create the level.

        Args:
            apis: the records of the library's layers and activations.
            seed: the seed of the run.
            models: the seed models.
            battery: further runs, in batches of their own between those of mutants.
            repeat_probability: the probability that an inserted chain is a known one, see
                `REPEATS_WHERE_COMPILED`.

        Raises:
            ValueError: if there is no seed model.
        """
        if not models:
            msg = "level `model`: there is no seed model to mutate"
            raise ValueError(msg)
        self._draw_counts: Counter[str] = Counter()
        """Number of times that rules drew a layer or activation, by name."""
        self._repertoire = Repertoire()
        universe = replace(
            Universe.of(apis),
            draw_counts=self._draw_counts,
            repertoire=self._repertoire,
            repeat_probability=repeat_probability,
        )
        self._seed = seed
        self._models = tuple(models)
        self._battery = tuple(battery)
        self._contexts = {model.name: self._context_of(model, universe) for model in models}
        self.pools = ModelPools({model.name: model.graph for model in models})
        """Models that may be mutated."""
        self._universes = {name: context.universe for name, context in self._contexts.items()}
        self._costs: Counter[str] = Counter()
        """Total cost of the mutants that introduced a layer, by layer."""
        self._pending: dict[int, tuple[ModelMutant, ...]] = {}
        """Mutants of batches whose feedback is pending."""

    def api_of(self, index: int) -> str:
        """Return the API of the batch of an index, which is the same for all batches."""
        del index
        return API

    def cases(self, index: int) -> Batch:
        """Return the batch of an index."""
        rng = self._rng(index)
        if index < len(self._models):
            model = self._models[index]
            origin, case = GraphOrigin(model=model.name), self._case
            checks = (Check.PREDICT, Check.TRAIN, Check.SAVE)
            cases = [case(model.name, model.graph, origin, check, rng) for check in checks]
        elif runs := self._battery_at(index):
            cases = [*runs]
        else:
            mutants = self._mutants(rng)
            self._pending[index] = mutants
            cases = [self._case_of(mutant, self._check(rng), rng) for mutant in mutants]
        return Batch(api=API, kind=CallKind.LAYER, cases=tuple(cases))

    def feedback(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> Json:
        """Return the feedback of a batch without applying it: the JSON form of a `ModelFeedback`.

        Args:
            index: the index of the batch.
            batch: the batch as it was run.
            outcomes: the outcomes of the batch's cases, by target.

        Returns:
            The feedback as JSON; None if there is none.
        """
        del batch  # the mutants of the batch are known by its index
        feedback = self._feedback(index, outcomes)
        return feedback.to_json() if feedback else None

    def _feedback(
        self, index: int, outcomes: Mapping[str, Sequence[Outcome]]
    ) -> ModelFeedback | None:
        if self._battery_at(index):
            return None
        rows = list(zip(*outcomes.values(), strict=True))
        costs = [max(map(cost_of, row)) for row in rows]
        if index < len(self._models):
            name = self._models[index].name
            crashed = (
                [MutantFeedback(name=name, seed=name, cost=costs[0])] if any(costs[:1]) else ()
            )
            return ModelFeedback(index, tuple(crashed))
        mutants = self._pending.pop(index, ())
        feedback = [
            _mutant_feedback(f"{index}.{number}", mutant, row, cost)
            for number, (mutant, row, cost) in enumerate(zip(mutants, rows, costs, strict=False))
        ]
        return ModelFeedback(index, tuple(feedback)) if feedback else None

    def update(self, encoded: Json) -> None:
        """Apply feedback to the batches that are made after this call.

        Raises:
            ValueError: if the feedback does not have the form that `feedback` returns.
        """
        for feedback in ModelFeedback.from_json(encoded).mutants:
            if not feedback.mutations:
                if feedback.cost:
                    self.pools.leave(feedback.seed)
                continue
            self._draw_counts.update(map(canonical_name, feedback.drawn))
            for chain in feedback.chains:
                self._repertoire.learn(chain)
            self._exclude_crashing_layers(feedback)
            if feedback.graph is not None:
                self.pools.join(
                    Parent(
                        name=feedback.name,
                        seed=feedback.seed,
                        graph=feedback.graph,
                        mutations=feedback.mutations,
                    )
                )

    def _exclude_crashing_layers(self, mutant: MutantFeedback) -> None:
        """Exclude the layers that a crashed or hung mutant introduced, if they have cost too much.

        Each such mutant costs a worker or the whole timeout, and finds nothing new.
        """
        if not mutant.cost:
            return
        for layer in mutant.added:
            self._costs[layer] += mutant.cost
        excluded = [layer for layer, cost in self._costs.items() if cost >= _MAX_LAYER_COST]
        self._universes = {
            name: context.universe.with_exclusions(excluded)
            for name, context in self._contexts.items()
        }

    def _battery_at(self, index: int) -> tuple[ModelCase, ...]:
        """Return the runs of the battery in a batch; none for batches of seeds and mutants."""
        if index < len(self._models):
            return ()
        period, place = divmod(index - len(self._models), _BATTERY_PERIOD)
        first = (period * (_BATTERY_PERIOD - 1) + place) * MUTANTS_PER_BATCH
        is_of_mutants = place == _BATTERY_PERIOD - 1
        return () if is_of_mutants else self._battery[first : first + MUTANTS_PER_BATCH]

    # --- batches --------------------------------------------------------------------------------

    def _rng(self, index: int) -> random.Random:
        return random.Random((self._seed << _INDEX_BITS) + index)  # noqa: S311 - a seeded generator is repeatable

    def _mutants(self, rng: random.Random) -> tuple[ModelMutant, ...]:
        """Return mutants of one model."""
        parent = self.pools.choose(rng)
        universe = self._universes[parent.seed]
        mutants = [mutate(parent, universe, rng) for _ in range(MUTANTS_PER_BATCH)]
        return tuple([mutant for mutant in mutants if mutant is not None])

    def _check(self, rng: random.Random) -> Check:
        if rng.randrange(_TRAIN_PERIOD) == 0:
            return Check.TRAIN
        return Check.SAVE if rng.randrange(_SAVE_PERIOD) == 0 else Check.PREDICT

    def _case_of(self, mutant: ModelMutant, check: Check, rng: random.Random) -> ModelCase:
        origin = GraphOrigin(model=mutant.seed, mutations=mutant.mutations)
        return self._case(mutant.seed, mutant.graph, origin, check, rng)

    def _case(
        self, seed: str, graph: LayerGraph, origin: GraphOrigin, check: Check, rng: random.Random
    ) -> ModelCase:
        context = self._contexts[seed]
        # Random layers may differ between backends in training.
        may_train = check is Check.TRAIN and not context.universe.is_random(graph)
        return ModelCase(
            api=API,
            graph=graph,
            data=context.data,
            truth=context.truth,
            check=check,
            training=may_train,
            seed=rng.getrandbits(_SEED_BITS),
            origin=origin,
        )

    # --- data -----------------------------------------------------------------------------------

    def _context_of(self, model: ModelSeed, universe: Universe) -> _SeedContext:
        rng = random.Random(f"{self._seed} {model.name}")  # noqa: S311 - a seeded generator is repeatable
        return _SeedContext(
            data=tuple(_data(model_input, rng) for model_input in model.data),
            truth=_expected_output(model, rng),
            universe=universe.with_size_limit(max_mutant_size(universe.size(model.graph))),
        )


def _mutant_feedback(
    name: str, mutant: ModelMutant, row: Sequence[Outcome], cost: int
) -> MutantFeedback:
    """Return the feedback of a mutant from its outcomes on all targets."""
    has_run = sum(isinstance(outcome, Passed) for outcome in row) >= _MIN_TARGETS and not cost
    return MutantFeedback(
        name=name,
        seed=mutant.seed,
        mutations=mutant.mutations,
        # Graphs are most of the feedback's size, and only mutants that join a pool need them.
        graph=mutant.graph if has_run else None,
        cost=cost,
        added=mutant.added,
        drawn=mutant.drawn,
        chains=mutant.chains if has_run else (),
    )


def _data(model_input: ModelInput, rng: random.Random) -> Data:
    """Draw data for an input of a model."""
    shape = (SAMPLE_COUNT, *model_input.shape)
    seed = rng.getrandbits(_SEED_BITS)
    if model_input.kind is not None:
        return DataSample(model_input.kind, seed, shape)
    if model_input.dtype.startswith(("int", "uint")):
        numbers = [rng.randrange(model_input.below or 2) for _ in range(elements(shape))]
        return ArrayValue(model_input.dtype, shape, Explicit(tuple(numbers)))
    return ArrayValue(model_input.dtype, shape, Uniform(seed, 0.0, 1.0))


def _expected_output(model: ModelSeed, rng: random.Random) -> ArrayValue:
    """Draw one-hot labels, or the expected values of a regression in [0, 1]."""
    shape = (SAMPLE_COUNT, *model.label_shape)
    if model.classes != model.label_shape[-1] or not model.classes:
        return ArrayValue("float32", shape, Uniform(rng.getrandbits(_SEED_BITS), 0.0, 1.0))
    rows = elements(shape[:-1])
    labels = [rng.randrange(model.classes) for _ in range(rows)]
    ones = tuple(float(index == label) for label in labels for index in range(model.classes))
    return ArrayValue("float32", shape, Explicit(ones))
