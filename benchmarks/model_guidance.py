"""What an exploration of mutants comes to, and guided ones held against random ones.

Counted as LEMON counts (sections 4.1 and 4.4): of each seed model, input and pair of targets the
largest D_MAD over all mutants; it is an inconsistency above 0.4. The amplification of a seed model
is the largest D_MAD of its mutants over the largest of its own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ciguard.levels.model.amplification import first_outputs, truth_of
from ciguard.levels.model.inconsistency import d_mad
from ciguard.oracles.signed_rank import signed_rank_p

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_rig import Rig

    from ciguard.domain.models import ModelCase
    from ciguard.domain.outcomes import Outcome

THRESHOLD = 0.4
_NO_END = 1 << 30
LEAST = 1e-9
"""Stands for a D_MAD of 0, below any rounding of float32."""


@dataclass
class Exploration:
    """Of each seed model what its mutants, and itself, came to."""

    mutants: dict[str, dict[tuple[str, str, int], float]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(float))
    )
    """By seed model; two targets and an input → the largest D_MAD."""
    seeds: dict[str, float] = field(default_factory=dict)
    """The largest D_MAD of each seed model as it is."""
    count: int = 0
    """Mutants that were run."""

    def note(self, case: ModelCase, outcomes: dict[str, Outcome]) -> None:
        """Take the run of a seed model or a mutant."""
        truth, outputs = truth_of(case), first_outputs(case, outcomes)
        model = case.origin.model
        self.count += bool(case.origin.mutations)
        for one, other in combinations(outputs, 2):
            found = d_mad(truth, outputs[one], outputs[other])
            if not case.origin.mutations:
                self.seeds[model] = max(self.seeds.get(model, 0.0), float(found.max()))
                continue
            largest = self.mutants[model]
            for at, value in enumerate(found):
                largest[one, other, at] = max(largest[one, other, at], float(value))

    def inconsistencies(self, model: str) -> int:
        """Return how many inputs and pairs are inconsistent on some mutant of a model."""
        return sum(value > THRESHOLD for value in self.mutants[model].values())

    def amplification(self, model: str) -> float:
        """Return how many times the seed model's largest D_MAD the largest of a mutant is."""
        most = max(self.mutants[model].values(), default=0.0)
        return max(most, LEAST) / max(self.seeds.get(model, 0.0), LEAST)


@dataclass(frozen=True)
class Compared:
    """One measure of guided and random explorations."""

    name: str
    guided: float
    random: float
    p: float
    """That guided is no better, by Wilcoxon's test over pairs of one seed and one model."""


def explored(rig: Rig, seed: int, *, is_guided: bool, cpu_s: float) -> Exploration:
    """Run the seed models and mutants on targets just started, for some CPU seconds in all."""
    exploration = Exploration()
    level = rig.predicting(seed, is_guided=is_guided)
    began = rig.cpu_s
    for ran in rig.run(level, batches=_NO_END):
        for case, outcomes in ran.rows():
            exploration.note(case, outcomes)
        if rig.cpu_s - began >= cpu_s:
            break
    return exploration


def compared(guided: Sequence[Exploration], random: Sequence[Exploration]) -> Iterator[Compared]:
    """Yield the measures; explorations of one place have the same seed."""
    models = list(guided[0].seeds)
    pairs = [(g, r, m) for g, r in zip(guided, random, strict=True) for m in models]
    counts = [(g.inconsistencies(m), r.inconsistencies(m)) for g, r, m in pairs]
    times = [(g.amplification(m), r.amplification(m)) for g, r, m in pairs]
    logs = [(math.log10(g), math.log10(r)) for g, r in times]
    sums = [
        (float(sum(g.mutants[m].values())), float(sum(r.mutants[m].values()))) for g, r, m in pairs
    ]
    runs = len(guided)
    yield _compared(
        "mutants per run", [(g.count, r.count) for g, r in zip(guided, random, strict=True)], 1
    )
    yield _compared("inconsistencies per run", counts, len(models))
    yield _compared("mean amplification", times, 1)
    yield _compared("mean log10 of amplification", logs, 1)
    yield _compared(f"largest D_MAD, summed ({runs} runs)", sums, len(models) * runs)


def _compared(name: str, pairs: Sequence[tuple[float, float]], times: int) -> Compared:
    means = np.mean(np.array(pairs, dtype=np.float64), axis=0) * times
    p = signed_rank_p([one - other for one, other in pairs])
    return Compared(name, float(means[0]), float(means[1]), p)
