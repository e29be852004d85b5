"""From seed, index and what was learned to a batch of mutants."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ciguard.domain.api_calls import CallKind
from ciguard.domain.models import Check, DataSample, GraphOrigin, ModelCase
from ciguard.domain.values import ArrayValue, Explicit, Uniform
from ciguard.levels import Batch, cost_of
from ciguard.levels.model.guidance import Guidance, Parent
from ciguard.levels.model.layers import elements
from ciguard.levels.model.lessons import ModelLesson, MutantLesson
from ciguard.levels.model.mutants import ModelMutant, mutated
from ciguard.levels.model.repertoire import Repertoire
from ciguard.levels.model.universe import Universe, bound, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from ciguard.domain.models import Data, LayerGraph, SampleKind, Shape
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Json

    Amplification: TypeAlias = Callable[[ModelCase, Mapping[str, Outcome]], float | None]

API = "keras.Model"
PER_BATCH = 4
"""Mutants of one model in a batch."""
INPUTS = 8
"""Inputs that a model is fed: ACC is summed over them, and they are the same for all mutants of one
seed, so that their ACC can be compared."""
_TRAINED, _SAVED = 4, 8
"""One case in so many is trained, or saved and loaded."""
_PATIENCE = 16
"""A layer is left out when mutants that brought it in have cost so much, see `cost_of`."""
REPEATS_WHERE_COMPILED = 0.85
"""Where a backend compiles each operation for each shape, a layer that is new to it costs more than
to run two mutants: new layers and new combinations of known ones take turns."""
_INDEX_BITS = 40
_SEED_BITS = 31


class ModelInput(Protocol):
    """What one input of a seed model takes."""

    @property
    def kind(self) -> SampleKind | None:
        """The data that it was written for; None if that is not known."""

    @property
    def shape(self) -> Shape:
        """Without the batch dimension."""

    @property
    def dtype(self) -> str:
        """Of the elements."""

    @property
    def below(self) -> int:
        """Integers are below this; 0 where that is not known."""


class ModelSeed(Protocol):
    """A model that mutation begins with."""

    @property
    def name(self) -> str:
        """Unique among the seeds."""

    @property
    def graph(self) -> LayerGraph:
        """The model."""

    @property
    def data(self) -> Sequence[ModelInput]:
        """In the order of the graph's inputs."""

    @property
    def truth(self) -> Shape:
        """Of the first output."""

    @property
    def classes(self) -> int:
        """How many classes the first output tells apart; 0 for a regression."""


@dataclass(frozen=True, slots=True)
class _Ground:
    """What is the same for all mutants of a seed."""

    data: tuple[Data, ...]
    truth: ArrayValue
    universe: Universe


class ModelLevel:
    """Mutants of seed models, guided towards those that drive targets apart.

    The first batches are the seeds as they are, one each, so that the inconsistency that mutants
    are to amplify is known. It learns: a batch depends on the seed, the index, and what was learned
    before; nothing that `cases` does changes later batches.
    """

    def __init__(  # noqa: PLR0913 - what a run decides
        self,
        apis: Sequence[ApiRecord],
        seed: int,
        *,
        models: Sequence[ModelSeed],
        amplification: Amplification,
        is_guided: bool = True,
        repeats: float = 0.0,
    ) -> None:
        """Make the level.

        Args:
            apis: what the library says of its layers and activations.
            seed: of the run.
            models: the seed models.
            amplification: accumulated inconsistency of a case from what came of it, by target;
                None where fewer than two targets gave outputs.
            is_guided: False for the random variant.
            repeats: how often what is inserted was inserted before, see `REPEATS_WHERE_COMPILED`.

        Raises:
            ValueError: if there is no seed model.
        """
        if not models:
            msg = "level model: no seed model to mutate"
            raise ValueError(msg)
        self._uses: Counter[str] = Counter()
        """Layer, or activation of layers → how often a rule drew it."""
        self._repertoire = Repertoire()
        universe = replace(
            Universe.of(apis), uses=self._uses, repertoire=self._repertoire, repeats=repeats
        )
        self._seed = seed
        self._models = tuple(models)
        self._amplification = amplification
        self._ground = {model.name: self._ground_of(model, universe) for model in models}
        self.guidance = Guidance.begin({m.name: m.graph for m in models}, is_guided=is_guided)
        self._graphs = {model.name: model.graph for model in models}
        self._universes = {name: ground.universe for name, ground in self._ground.items()}
        self._costs: Counter[str] = Counter()
        """Layer → what the deaths of mutants that brought it in have cost."""
        self._made: dict[int, tuple[ModelMutant, ...]] = {}
        """Batches that no lesson was drawn from yet."""

    def api_of(self, index: int) -> str:
        """Return the API of the batch of that index: the same of all."""
        del index
        return API

    def cases(self, index: int) -> Batch:
        """Return the batch of that index."""
        rng = self._rng(index)
        if index < len(self._models):
            model = self._models[index]
            origin, case = GraphOrigin(model=model.name), self._case
            checks = (Check.PREDICT, Check.TRAIN, Check.SAVE)
            made = [case(model.name, model.graph, origin, check, rng) for check in checks]
        else:
            mutants = self._mutants(rng)
            self._made[index] = mutants
            made = [self._of(mutant, self._check(rng), rng) for mutant in mutants]
        return Batch(api=API, kind=CallKind.LAYER, cases=tuple(made))

    def taught(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> Json:
        """Return what a batch teaches, a `ModelLesson`; nothing is learned yet.

        None where it teaches nothing.

        Args:
            index: of the batch.
            batch: as it was run.
            outcomes: of its cases, by target.
        """
        lesson = self._lesson(index, batch, outcomes)
        return lesson.to_json() if lesson else None

    def _lesson(
        self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]
    ) -> ModelLesson | None:
        rows = list(zip(*outcomes.values(), strict=True))
        costs = [max(map(cost_of, row)) for row in rows]
        accs = [
            self._amplification(case, dict(zip(outcomes, row, strict=True)))
            for case, row in zip(batch.cases, rows, strict=False)
            if isinstance(case, ModelCase)
        ]
        if index < len(self._models):
            name = self._models[index].name
            found = list(zip(accs[:1], costs[:1], strict=True))
            return ModelLesson(
                index,
                tuple(
                    MutantLesson(name=name, seed=name, acc=acc, cost=cost)
                    for acc, cost in found
                    if acc is not None or cost
                ),
            )
        mutants = self._made.pop(index, ())
        learned = [
            self._learned(f"{index}.{at}", mutant, acc, cost)
            for at, (mutant, acc, cost) in enumerate(zip(mutants, accs, costs, strict=False))
        ]
        return ModelLesson(index, tuple(learned)) if learned else None

    def _learned(
        self, name: str, mutant: ModelMutant, acc: float | None, cost: int
    ) -> MutantLesson:
        taught = MutantLesson(
            name=name,
            seed=mutant.seed,
            acc=acc,
            parent=mutant.parent,
            parent_acc=mutant.parent_acc,
            rule=mutant.rule,
            mutations=mutant.mutations,
            cost=cost,
            added=mutant.added,
            drawn=mutant.drawn,
            chains=mutant.chains if acc is not None and not cost else (),
        )
        # Graphs are most of a lesson's size, and only those of mutants that may join are needed.
        may_join = taught.may_amplify or (acc is not None and not self.guidance.is_guided)
        return replace(taught, graph=mutant.graph) if may_join else taught

    def guide(self, lesson: Json) -> None:
        """Put a lesson to use in the batches that are made from now on.

        Raises:
            ValueError: if this level did not draw it.
        """
        for one in ModelLesson.from_json(lesson).mutants:
            if one.rule is None:
                if one.acc is not None:
                    self.guidance.measured(one.seed, one.acc)
                if one.cost:
                    self.guidance.roulette.leave(one.seed)
                continue
            self._uses.update(map(canonical, one.drawn))
            for chain in one.chains:
                self._repertoire.learn(chain)
            self._leave_out(one)
            mutant = Parent(
                name=one.name,
                seed=one.seed,
                graph=one.graph or self._graphs[one.seed],
                mutations=one.mutations,
                acc=one.acc if one.graph else None,
            )
            self.guidance.observe(
                mutant, parent=one.parent, parent_acc=one.parent_acc, rule=one.rule
            )

    def _leave_out(self, mutant: MutantLesson) -> None:
        """Draw no more of a layer whose mutants mostly bring processes to their end.

        Each costs a worker, or the whole limit, and says nothing new.
        """
        if not mutant.cost:
            return
        for layer in mutant.added:
            self._costs[layer] += mutant.cost
        deadly = [layer for layer, cost in self._costs.items() if cost >= _PATIENCE]
        self._universes = {
            name: ground.universe.without(deadly) for name, ground in self._ground.items()
        }

    # --- batches --------------------------------------------------------------------------------

    def _rng(self, index: int) -> random.Random:
        return random.Random((self._seed << _INDEX_BITS) + index)  # noqa: S311 - repeatable

    def _mutants(self, rng: random.Random) -> tuple[ModelMutant, ...]:
        """Return mutants of one model, each by the rule after the one before."""
        parent = self.guidance.parent(rng)
        universe = self._universes[parent.seed]
        current = self.guidance.rules.current
        found: list[ModelMutant] = []
        for _ in range(PER_BATCH):
            mutant = mutated(parent, self.guidance, universe, rng, current=current)
            if mutant is not None:
                found.append(mutant)
                current = mutant.rule
        return tuple(found)

    def _check(self, rng: random.Random) -> Check:
        if rng.randrange(_TRAINED) == 0:
            return Check.TRAIN
        return Check.SAVE if rng.randrange(_SAVED) == 0 else Check.PREDICT

    def _of(self, mutant: ModelMutant, check: Check, rng: random.Random) -> ModelCase:
        origin = GraphOrigin(model=mutant.seed, mutations=mutant.mutations)
        return self._case(mutant.seed, mutant.graph, origin, check, rng)

    def _case(
        self, seed: str, graph: LayerGraph, origin: GraphOrigin, check: Check, rng: random.Random
    ) -> ModelCase:
        ground = self._ground[seed]
        # What is random in training differs between backends by right.
        trains = check is Check.TRAIN and not ground.universe.is_random(graph)
        return ModelCase(
            api=API,
            graph=graph,
            data=ground.data,
            truth=ground.truth,
            check=check,
            training=trains,
            seed=rng.getrandbits(_SEED_BITS),
            origin=origin,
        )

    # --- data -----------------------------------------------------------------------------------

    def _ground_of(self, model: ModelSeed, universe: Universe) -> _Ground:
        rng = random.Random(f"{self._seed} {model.name}")  # noqa: S311 - repeatable
        return _Ground(
            data=tuple(_data(feed, rng) for feed in model.data),
            truth=_truth(model, rng),
            universe=universe.within(bound(universe.size(model.graph))),
        )


def _data(feed: ModelInput, rng: random.Random) -> Data:
    shape = (INPUTS, *feed.shape)
    seed = rng.getrandbits(_SEED_BITS)
    if feed.kind is not None:
        return DataSample(feed.kind, seed, shape)
    if feed.dtype.startswith(("int", "uint")):
        numbers = [rng.randrange(feed.below or 2) for _ in range(elements(shape))]
        return ArrayValue(feed.dtype, shape, Explicit(tuple(numbers)))
    return ArrayValue(feed.dtype, shape, Uniform(seed, 0.0, 1.0))


def _truth(model: ModelSeed, rng: random.Random) -> ArrayValue:
    """Draw one-hot labels, or targets of a regression in [0, 1]."""
    shape = (INPUTS, *model.truth)
    if model.classes != model.truth[-1] or not model.classes:
        return ArrayValue("float32", shape, Uniform(rng.getrandbits(_SEED_BITS), 0.0, 1.0))
    rows = elements(shape[:-1])
    labels = [rng.randrange(model.classes) for _ in range(rows)]
    ones = tuple(float(at == label) for label in labels for at in range(model.classes))
    return ArrayValue("float32", shape, Explicit(ones))
