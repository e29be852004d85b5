"""Guidance: which model is mutated next, by which rule (LEMON, section 3.2).

It implements the guided variant and the random one that the paper compares it with. All randomness
comes from the given generator: the same observations and the same generator give the same choices.
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
"""Maximum number of models per seed model that are mutated, including the seed, as in LEMON's
released material."""


@dataclass(slots=True, kw_only=True)
class Parent:
    """A model that may be mutated."""

    name: str
    """Name, unique in the pool."""
    seed: str
    """Name of the seed model that it is or derives from."""
    graph: LayerGraph
    mutations: tuple[str, ...] = ()
    acc: float | None = None
    """Accumulated inconsistency; None for a seed that has not run yet."""
    chosen: int = 0
    """Number of times that the model was chosen."""

    @property
    def score(self) -> float:
        """Score of formula 6."""
        return 1 / (self.chosen + 1)


@dataclass(slots=True)
class Roulette:
    """Pools of models, from which one is chosen with probability by its score (formula 7).

    Every seed model has its own pool, and all pools are equally probable, as LEMON mutates one seed
    at a time. Otherwise, if targets disagree on a layer of one seed, all its mutants would join and
    displace the other seeds.
    """

    pool: dict[str, Parent] = field(default_factory=dict)
    """Models of all seeds, by name."""
    size: int = POOL
    """Maximum size of the pool of one seed."""

    def probabilities(self) -> dict[str, float]:
        """Return the probability of each model's choice."""
        return self._shares({name: parent.score for name, parent in self.pool.items()})

    def _shares(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return the probabilities of models with these scores, equal in sum for each seed."""
        totals: dict[str, float] = {}
        for name, score in scores.items():
            seed = self.pool[name].seed
            totals[seed] = totals.get(seed, 0.0) + score
        return {
            name: score / totals[self.pool[name].seed] / len(totals)
            for name, score in scores.items()
        }

    def choose(self, rng: random.Random, *, is_guided: bool = True) -> Parent:
        """Choose a model. The choice is not counted; call `count` for that.

        Args:
            rng: the source of randomness.
            is_guided: False to draw a seed, then a model from the seed's pool, both uniformly.
        """
        shares = self.probabilities() if is_guided else self._shares(dict.fromkeys(self.pool, 1.0))
        return self.pool[rng.choices(list(shares), list(shares.values()))[0]]

    def count(self, name: str) -> None:
        """Count the choice of a model, unless it has left the pool."""
        if name in self.pool:
            self.pool[name].chosen += 1

    def leave(self, name: str) -> None:
        """Remove a model, unless it is the last one."""
        if len(self.pool) > 1:
            self.pool.pop(name, None)

    def join(self, parent: Parent) -> None:
        """Add a model to its seed's pool; if that is full, remove the most chosen mutant.

        Seeds stay, so that mutants do not drift away from real models.
        """
        self.pool[parent.name] = parent
        pool = [p for p in self.pool.values() if p.seed == parent.seed]
        mutants = [p for p in pool if p.mutations and p is not parent]
        if len(pool) > self.size and mutants:
            del self.pool[max(mutants, key=lambda p: p.chosen).name]


@dataclass(slots=True)
class RuleScore:
    """Success of a rule."""

    chosen: int = 0
    """Number of mutants by the rule."""
    amplified: int = 0
    """Number of mutants that amplified inconsistency."""

    @property
    def ratio(self) -> float:
        """Priority score; 0 for a rule that was never chosen."""
        return self.amplified / self.chosen if self.chosen else 0.0


class RuleChoice(Protocol):
    """Chooses rules by their results."""

    def choose(self, rng: random.Random, current: RuleName | None) -> RuleName:
        """Return the rule after `current`; the first rule if that is None."""

    def observe(self, rule: RuleName, *, amplified: bool) -> None:
        """Record the result of a mutant by this rule."""

    @property
    def current(self) -> RuleName | None:
        """Rule that was observed last."""


class MetropolisHastings:
    """Ranks rules by success and draws the next one relative to the current one.

    A rule b, proposed uniformly, is accepted with probability min(1, (1 - p)^(k_b - k_a)). Here k
    are ranks and p = 1 / number of rules (formula 8, and LEMON's released material for p).
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
        """Return the probability of a step from one rank to another."""
        return min(1.0, float((1 - self.p) ** (after - before)))

    def choose(self, rng: random.Random, current: RuleName | None) -> RuleName:
        """Return the rule after `current`, perhaps the same; the first one is drawn uniformly."""
        ranked = self.ranking(rng)
        if current is None:
            return rng.choice(ranked)
        before = ranked.index(current)
        while True:
            after = rng.randrange(len(ranked))
            if rng.random() < self.acceptance(before, after):
                return ranked[after]

    def observe(self, rule: RuleName, *, amplified: bool) -> None:
        """Record the result of a mutant by this rule."""
        self.scores[rule].chosen += 1
        self.scores[rule].amplified += amplified
        self.current = rule


class UniformChoice:
    """Chooses all rules equally often: the baseline for guidance."""

    def __init__(self, rules: Sequence[RuleName] = tuple(RuleName)) -> None:
        self._rules = tuple(rules)
        self.current: RuleName | None = None

    def choose(self, rng: random.Random, current: RuleName | None) -> RuleName:
        """Return a rule."""
        del current
        return rng.choice(self._rules)

    def observe(self, rule: RuleName, *, amplified: bool) -> None:
        """Record only the rule."""
        del amplified
        self.current = rule


@dataclass(slots=True)
class Guidance:
    """The roulette and the choice of rules together."""

    roulette: Roulette
    rules: RuleChoice
    is_guided: bool = True
    """True for guidance. If False, every mutant joins and all models of a pool are equally
    probable: random mutation, which the paper compares with (LEMON_r)."""

    @classmethod
    def begin(cls, seeds: Mapping[str, LayerGraph], *, is_guided: bool = True) -> Guidance:
        """Return the initial state."""
        pool = {name: Parent(name=name, seed=name, graph=graph) for name, graph in seeds.items()}
        rules: RuleChoice = MetropolisHastings() if is_guided else UniformChoice()
        return cls(Roulette(pool), rules, is_guided)

    def parent(self, rng: random.Random) -> Parent:
        """Choose a model."""
        return self.roulette.choose(rng, is_guided=self.is_guided)

    def measured(self, seed: str, acc: float) -> None:
        """Record the accumulated inconsistency of a seed model."""
        self.roulette.pool[seed].acc = acc

    def observe(
        self, mutant: Parent, *, parent: str, parent_acc: float | None, rule: RuleName
    ) -> bool:
        """Update the state with a mutant's inconsistency; return whether the mutant joins the pool.

        Args:
            mutant: the mutant, with its accumulated inconsistency.
            parent: the name of its parent, which may have left the pool.
            parent_acc: the parent's accumulated inconsistency if it was known when the mutant was
                made; otherwise it is read from the pool. A mutant of an unmeasured seed does not
                join, as it may not amplify.
            rule: the last rule applied to the mutant.
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
