"""Guidance of mutation: the choice of models and rules (LEMON, section 3.2).

Both variants of the paper are implemented: guided and random mutation. The same observations and an
equal random generator give the same choices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ciguard.levels.model.rules.contract import RuleName

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ciguard.domain.models import LayerGraph

MAX_POOL_SIZE = 50
"""Maximum number of models in the pool of a seed, including the seed (LEMON's published code)."""


@dataclass(slots=True, kw_only=True)
class Parent:
    """A model that may be mutated."""

    name: str
    """Name of the model, unique in all pools."""
    seed: str
    """Name of the seed model; for a mutant, of the one from which it derives."""
    graph: LayerGraph
    """Layer graph of the model."""
    mutations: tuple[str, ...] = ()
    """Descriptions of all mutations since the seed model; empty for a seed."""
    acc: float | None = None
    """Accumulated inconsistency; None for a seed that has not run yet."""
    choice_count: int = 0
    """Number of times that the model was chosen."""

    @property
    def score(self) -> float:
        """Score of the model, formula 6 of LEMON: the lower, the more often it was chosen."""
        return 1 / (self.choice_count + 1)


@dataclass(slots=True)
class Roulette:
    """Pools of models, from which one is chosen with a probability by its score (formula 7).

    Each seed model has its own pool, and all pools are equally probable, since LEMON mutates one
    seed at a time. With a single pool, the mutants of a seed with an inconsistent layer would all
    join and displace the other seeds.
    """

    pool: dict[str, Parent] = field(default_factory=dict)
    """Models of all pools, by name."""
    size: int = MAX_POOL_SIZE
    """Maximum number of models in the pool of one seed."""

    def probabilities(self) -> dict[str, float]:
        """Return the probability with which each model is chosen, by name."""
        return self._shares({name: parent.score for name, parent in self.pool.items()})

    def _shares(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return the probabilities of models by their scores; their sum is equal for all seeds."""
        totals: dict[str, float] = {}
        for name, score in scores.items():
            seed = self.pool[name].seed
            totals[seed] = totals.get(seed, 0.0) + score
        return {
            name: score / totals[self.pool[name].seed] / len(totals)
            for name, score in scores.items()
        }

    def choose(self, rng: random.Random, *, is_guided: bool = True) -> Parent:
        """Choose a model; `count` must be called to count the choice.

        Args:
            rng: the source of randomness.
            is_guided: False to draw a seed, then a model from the seed's pool, both uniformly.
        """
        shares = self.probabilities() if is_guided else self._shares(dict.fromkeys(self.pool, 1.0))
        return self.pool[rng.choices(list(shares), list(shares.values()))[0]]

    def count(self, name: str) -> None:
        """Count the choice of a model, unless it has left the pool."""
        if name in self.pool:
            self.pool[name].choice_count += 1

    def leave(self, name: str) -> None:
        """Remove a model, unless it is the last one."""
        if len(self.pool) > 1:
            self.pool.pop(name, None)

    def join(self, parent: Parent) -> None:
        """Add a model to its seed's pool; if the pool is full, remove the mutant chosen most often.

        Seed models are never removed, so that mutants do not drift away from real models.
        """
        self.pool[parent.name] = parent
        pool = [p for p in self.pool.values() if p.seed == parent.seed]
        mutants = [p for p in pool if p.mutations and p is not parent]
        if len(pool) > self.size and mutants:
            del self.pool[max(mutants, key=lambda p: p.choice_count).name]


@dataclass(slots=True)
class RuleScore:
    """Success of a mutation rule."""

    mutant_count: int = 0
    """Number of mutants that the rule made."""
    amplifying_count: int = 0
    """Number of these mutants that amplified inconsistency."""

    @property
    def ratio(self) -> float:
        """Share of mutants that amplified inconsistency; 0 for a rule without mutants."""
        return self.amplifying_count / self.mutant_count if self.mutant_count else 0.0


class RuleChoice(Protocol):
    """Choice of mutation rules by their results."""

    def choose(self, rng: random.Random, current: RuleName | None) -> RuleName:
        """Draw the rule after `current`; None stands for the start."""

    def observe(self, rule: RuleName, *, amplified: bool) -> None:
        """Record whether a mutant by a rule amplified inconsistency."""

    @property
    def current(self) -> RuleName | None:
        """Rule of the mutant that was recorded last; None before the first."""


class MetropolisHastings:
    """Choice of rules by success, as a Metropolis-Hastings walk over the ranked rules.

    A rule b is proposed uniformly. After a rule a, it is accepted with the probability
    min(1, (1 - p)^(k_b - k_a)), where k_a and k_b are the ranks of the rules (formula 8). In
    LEMON's published code, p is 1 divided by the number of rules.
    """

    def __init__(self, rules: Sequence[RuleName] = tuple(RuleName)) -> None:
        self.scores: dict[RuleName, RuleScore] = {rule: RuleScore() for rule in rules}
        self.p = 1 / len(rules)
        self.current: RuleName | None = None

    def ranking(self, rng: random.Random) -> list[RuleName]:
        """Return the rules by success, the most successful first; ties are broken at random."""
        ties = {rule: rng.random() for rule in self.scores}
        return sorted(self.scores, key=lambda rule: (-self.scores[rule].ratio, ties[rule]))

    def acceptance(self, before: int, after: int) -> float:
        """Return the probability with which a step from one rank to another is accepted."""
        return min(1.0, float((1 - self.p) ** (after - before)))

    def choose(self, rng: random.Random, current: RuleName | None) -> RuleName:
        """Draw the rule after `current`, perhaps the same rule; the first rule uniformly."""
        ranked = self.ranking(rng)
        if current is None:
            return rng.choice(ranked)
        before = ranked.index(current)
        while True:
            after = rng.randrange(len(ranked))
            if rng.random() < self.acceptance(before, after):
                return ranked[after]

    def observe(self, rule: RuleName, *, amplified: bool) -> None:
        """Record whether a mutant by a rule amplified inconsistency."""
        self.scores[rule].mutant_count += 1
        self.scores[rule].amplifying_count += amplified
        self.current = rule


class UniformChoice:
    """Choice of all rules with equal probability, to which guidance is compared."""

    def __init__(self, rules: Sequence[RuleName] = tuple(RuleName)) -> None:
        self._rules = tuple(rules)
        self.current: RuleName | None = None

    def choose(self, rng: random.Random, current: RuleName | None) -> RuleName:
        """Draw a rule, whatever the current rule."""
        del current
        return rng.choice(self._rules)

    def observe(self, rule: RuleName, *, amplified: bool) -> None:
        """Record the rule only."""
        del amplified
        self.current = rule


@dataclass(slots=True)
class Guidance:
    """State of guidance: the pools of models, and the success of rules."""

    roulette: Roulette
    """Pools of models, for the choice of a model."""
    rules: RuleChoice
    """Choice of rules."""
    is_guided: bool = True
    """True for guided mutation. False for random mutation (LEMON_r in the paper): every mutant that
    returns outputs joins its pool, and all models of a pool are equally probable."""

    @classmethod
    def begin(cls, seeds: Mapping[str, LayerGraph], *, is_guided: bool = True) -> Guidance:
        """Return the initial state for seed models, given as graphs by name."""
        pool = {name: Parent(name=name, seed=name, graph=graph) for name, graph in seeds.items()}
        rules: RuleChoice = MetropolisHastings() if is_guided else UniformChoice()
        return cls(Roulette(pool), rules, is_guided)

    def parent(self, rng: random.Random) -> Parent:
        """Choose the model to mutate."""
        return self.roulette.choose(rng, is_guided=self.is_guided)

    def record_seed(self, seed: str, acc: float) -> None:
        """Record the accumulated inconsistency of a seed model."""
        self.roulette.pool[seed].acc = acc

    def observe(
        self, mutant: Parent, *, parent: str, parent_acc: float | None, rule: RuleName
    ) -> bool:
        """Record a mutant's inconsistency; return whether the mutant joins the pool of its seed.

        Args:
            mutant: the mutant, with its accumulated inconsistency.
            parent: the name of its parent, which may have left the pool.
            parent_acc: the parent's accumulated inconsistency; None if it was unknown when the
                mutant was made. Then it is read from the pool, and if it is unknown there too, a
                guided mutant does not join.
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
