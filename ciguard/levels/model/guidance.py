"""Which model is mutated next, by which rule (LEMON, section 3.2): state, moved by observations.

Both the guided variant and the random one, which the paper compares it with. Nothing here draws
without the generator that it is given: the same observations and the same generator give the same
choices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ciguard.levels.model.rules.contract import RuleName

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ciguard.domain.models import LayerGraph

POOL = 50
"""Models that are mutated at a time, of one seed model, as in LEMON's released material; the seed
among them."""


@dataclass(slots=True, kw_only=True)
class Parent:
    """A model that may be mutated."""

    name: str
    """Unique in the pool."""
    seed: str
    """Name of the seed model that it is, or was made from."""
    graph: LayerGraph
    mutations: tuple[str, ...] = ()
    acc: float | None = None
    """Accumulated inconsistency; None for a seed that has not been run yet."""
    chosen: int = 0

    @property
    def score(self) -> float:
        """Score of formula 6."""
        return 1 / (self.chosen + 1)


@dataclass(slots=True)
class Roulette:
    """The pools of models; each is chosen with a probability by its score (formula 7).

    Every seed model has a pool of its own, and all pools are equally probable, as LEMON mutates one
    seed at a time: where targets disagree on a layer of one seed, all its mutants join, and would
    leave the others hardly a turn.
    """

    pool: dict[str, Parent] = field(default_factory=dict)
    """By name, of all seeds."""
    size: int = POOL
    """Of the pool of one seed."""

    def probabilities(self) -> dict[str, float]:
        """Return how probable each model's choice is."""
        return self._shares({name: parent.score for name, parent in self.pool.items()})

    def _shares(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return the probabilities of models with these scores, as much for each seed."""
        totals: dict[str, float] = {}
        for name, score in scores.items():
            seed = self.pool[name].seed
            totals[seed] = totals.get(seed, 0.0) + score
        return {
            name: score / totals[self.pool[name].seed] / len(totals)
            for name, score in scores.items()
        }

    def choose(self, rng: random.Random, *, is_guided: bool = True) -> Parent:
        """Return a model; nothing is counted yet, see `count`.

        Args:
            rng: draws it.
            is_guided: False to draw uniformly from a seed's pool.
        """
        shares = self.probabilities() if is_guided else self._shares(dict.fromkeys(self.pool, 1.0))
        return self.pool[rng.choices(list(shares), list(shares.values()))[0]]

    def count(self, name: str) -> None:
        """Note that a model was chosen; one that has left the pool needs no count."""
        if name in self.pool:
            self.pool[name].chosen += 1

    def leave(self, name: str) -> None:
        """Take a model out; the last one stays."""
        if len(self.pool) > 1:
            self.pool.pop(name, None)

    def join(self, parent: Parent) -> None:
        """Take a model into its seed's pool; if that is full, the most chosen mutant goes.

        Seeds stay: what is mutated must not drift away from real models for good.
        """
        self.pool[parent.name] = parent
        alike = [p for p in self.pool.values() if p.seed == parent.seed]
        mutants = [p for p in alike if p.mutations and p is not parent]
        if len(alike) > self.size and mutants:
            del self.pool[max(mutants, key=lambda p: p.chosen).name]


@dataclass(slots=True)
class RuleScore:
    """What came of a rule."""

    chosen: int = 0
    amplified: int = 0

    @property
    def ratio(self) -> float:
        """Priority score; 0 for a rule that was never chosen."""
        return self.amplified / self.chosen if self.chosen else 0.0


class RuleChoice(Protocol):
    """Chooses rules, and learns from what came of them."""

    def choose(self, rng: random.Random, current: RuleName | None) -> RuleName:
        """Return the rule after `current`; the first one if that is None."""

    def observe(self, rule: RuleName, *, amplified: bool) -> None:
        """Note what came of a mutant of this rule."""

    @property
    def current(self) -> RuleName | None:
        """The rule that was observed last."""


class MetropolisHastings:
    """Rules ranked by their success, the next one drawn relative to the current one.

    A rule b, proposed uniformly, is accepted with min(1, (1 - p)^(k_b - k_a)), where k are ranks
    and p = 1 / number of rules (formula 8, and LEMON's released material for p).
    """

    def __init__(self, rules: Sequence[RuleName] = tuple(RuleName)) -> None:
        self.scores: dict[RuleName, RuleScore] = {rule: RuleScore() for rule in rules}
        self.p = 1 / len(rules)
        self.current: RuleName | None = None

    def ranking(self, rng: random.Random) -> list[RuleName]:
        """Return the rules by success, the best first; ties are broken at random."""
        ties = {rule: rng.random() for rule in self.scores}
        return sorted(self.scores, key=lambda rule: (-self.scores[rule].ratio, ties[rule]))

    def acceptance(self, before: int, after: int) -> float:
        """Return the probability to go from the rule of one rank to that of another."""
        return min(1.0, float((1 - self.p) ** (after - before)))

    def choose(self, rng: random.Random, current: RuleName | None) -> RuleName:
        """Return the rule after `current`, itself perhaps; the first one is drawn uniformly."""
        ranked = self.ranking(rng)
        if current is None:
            return rng.choice(ranked)
        before = ranked.index(current)
        while True:
            after = rng.randrange(len(ranked))
            if rng.random() < self.acceptance(before, after):
                return ranked[after]

    def observe(self, rule: RuleName, *, amplified: bool) -> None:
        """Note what came of a mutant of this rule."""
        self.scores[rule].chosen += 1
        self.scores[rule].amplified += amplified
        self.current = rule


class UniformChoice:
    """Every rule as often as any other: the baseline that guidance is compared with."""

    def __init__(self, rules: Sequence[RuleName] = tuple(RuleName)) -> None:
        self._rules = tuple(rules)
        self.current: RuleName | None = None

    def choose(self, rng: random.Random, current: RuleName | None) -> RuleName:
        """Return a rule."""
        del current
        return rng.choice(self._rules)

    def observe(self, rule: RuleName, *, amplified: bool) -> None:
        """Learn nothing."""
        del amplified
        self.current = rule


@dataclass(slots=True)
class Guidance:
    """Roulette and rule choice together."""

    roulette: Roulette
    rules: RuleChoice
    is_guided: bool = True
    """Else every mutant joins, and all models of a pool are equally probable: mutation without any
    guidance, which the paper compares with (LEMON_r)."""

    @classmethod
    def begin(cls, seeds: Mapping[str, LayerGraph], *, is_guided: bool = True) -> Guidance:
        """Return the state before anything was observed."""
        pool = {name: Parent(name=name, seed=name, graph=graph) for name, graph in seeds.items()}
        rules: RuleChoice = MetropolisHastings() if is_guided else UniformChoice()
        return cls(Roulette(pool), rules, is_guided)

    def parent(self, rng: random.Random) -> Parent:
        """Choose a model."""
        return self.roulette.choose(rng, is_guided=self.is_guided)

    def measured(self, seed: str, acc: float) -> None:
        """Note the accumulated inconsistency of a seed model."""
        self.roulette.pool[seed].acc = acc

    def observe(
        self, mutant: Parent, *, parent: str, parent_acc: float | None, rule: RuleName
    ) -> bool:
        """Learn from a mutant whose inconsistency is known; return whether it joins the pool.

        Args:
            mutant: with its accumulated inconsistency.
            parent: name of the model that it was made from, which may have left the pool.
            parent_acc: the parent's accumulated inconsistency, if it was known when the mutant was
                made; else what the pool says now. A mutant of a seed that was not measured does
                not join: nothing says that it amplifies.
            rule: the last one that it was made with.
        """
        if parent_acc is None and parent in self.roulette.pool:
            parent_acc = self.roulette.pool[parent].acc
        amplifies = parent_acc is not None and mutant.acc is not None and mutant.acc >= parent_acc
        joins = amplifies if self.is_guided else mutant.acc is not None
        self.roulette.count(parent)
        self.rules.observe(rule, amplified=amplifies)
        if joins:
            self.roulette.join(mutant)
        return joins
