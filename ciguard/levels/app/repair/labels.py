"""Additional labels for a branch that too few of its inputs take (Keeper, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.app.repair.measures import (
    ALPHA,
    BranchCounts,
    Change,
    held_out_indices,
    measured,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ciguard.levels.app.repair.relatedness import Relatedness

Matches: TypeAlias = Callable[[frozenset[str], tuple[str, ...]], bool]
"""Returns whether a comparison with labels is true for recognised labels. It is true for several
labels if it is true for one of them."""

_SPELLINGS: tuple[Callable[[str], str], ...] = (
    str,
    str.lower,
    str.upper,
    str.title,
    str.capitalize,
)
"""Spellings of a label that an application may need; the service's own spelling comes first."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The labels that a service recognised in one input."""

    recognised: tuple[str, ...]
    """Labels that the application compares, in the order of the answer."""
    is_expected: bool
    """True if the input should take the branch."""


@dataclass(frozen=True, slots=True)
class Extension:
    """Labels to add to a branch, with the measures of the change."""

    added: tuple[str, ...]
    """Added labels, in the order of their selection."""
    before: BranchCounts
    """Counts of all inputs without the labels."""
    after: BranchCounts
    """Counts of all inputs with the labels."""
    held_out: Change | None = None
    """Change on the held-out inputs; None if there are too few inputs."""


def is_one(labels: frozenset[str], recognised: tuple[str, ...]) -> bool:
    """Return whether a recognised label equals one of the labels."""
    return not labels.isdisjoint(recognised)


def is_within(labels: frozenset[str], recognised: tuple[str, ...]) -> bool:
    """Return whether a recognised text contains one of the labels."""
    return any(label in text for label in labels for text in recognised)


def lowered(matches: Matches) -> Matches:
    """Return a match that converts recognised labels to lower case first."""
    return lambda labels, recognised: matches(labels, tuple(label.lower() for label in recognised))


def extended(
    labels: Collection[str],
    observations: Sequence[Observation],
    matches: Matches,
    *,
    related: Relatedness,
    alpha: float = ALPHA,
) -> Extension | None:
    """Return the labels to add to a branch; None if no label helps.

    Candidates are labels of missed inputs that are related to a label of the branch. They are added
    greedily: each step takes the largest gain in recall that does not lower the F1 score, until the
    recall reaches `alpha`. With enough inputs, every third one is held out; the labels must not
    lower the F1 score of these.

    Args:
        labels: the labels that the branch compares with.
        observations: the recognised labels of each input.
        matches: the comparison of the application.
        related: the relatedness of labels.
        alpha: the minimum recall that is no failure.

    Source: Keeper, section 4.2.
    """
    held_out = held_out_indices([item.is_expected for item in observations])
    fitted = [item for index, item in enumerate(observations) if index not in held_out]
    fit = _LabelFit(frozenset(labels), fitted, matches)
    added = fit.greedily(set(fit.candidates(related)), alpha)
    if not added:
        return None
    all_labels = frozenset((*labels, *added))

    def change(observations: Sequence[Observation]) -> Change:
        kinds = [item.is_expected for item in observations]
        before, after = (
            measured(
                zip(
                    kinds,
                    (matches(compared, item.recognised) for item in observations),
                    strict=True,
                )
            )
            for compared in (fit.labels, all_labels)
        )
        return Change(before, after)

    changes = [change(observations)]
    if held_out:
        changes.append(change([observations[index] for index in sorted(held_out)]))
    if any(item.after.f1 < item.before.f1 for item in changes):
        return None
    return Extension(added, *changes[0], held_out=changes[1] if held_out else None)


@dataclass(frozen=True, slots=True)
class _LabelFit:
    """Greedy fit of labels to inputs; sets of inputs are bit masks."""

    labels: frozenset[str]
    observations: Sequence[Observation]
    matches: Matches

    def candidates(self, related: Relatedness) -> Iterator[tuple[int, str]]:
        """Yield candidate labels, each with the index of its spelling."""
        taken = self._taken_by(self.labels)
        for index, observation in enumerate(self.observations):
            if not observation.is_expected or taken >> index & 1:
                continue
            for label in dict.fromkeys(observation.recognised):
                if any(related.related(label, known) for known in self.labels):
                    for spelling_index, spelling in enumerate(_SPELLINGS):
                        if self.matches(frozenset({spelling(label)}), observation.recognised):
                            yield spelling_index, spelling(label)

    def greedily(self, candidates: set[tuple[int, str]], alpha: float) -> tuple[str, ...]:
        """Return the candidates to add; ties go to the one with the fewest wrong inputs."""
        expected = sum(
            1 << index for index, item in enumerate(self.observations) if item.is_expected
        )
        takes = {
            candidate: self._taken_by(frozenset({candidate[1]})) for candidate in sorted(candidates)
        }
        taken, added = self._taken_by(self.labels), list[str]()
        now = _measured(expected, taken)
        while now.recall < alpha:
            better = [
                (-counts.right, counts.took, candidate)
                for candidate, takes_of_label in takes.items()
                if (counts := _measured(expected, taken | takes_of_label)).right > now.right
                and counts.f1 >= now.f1
            ]
            if not better:
                break
            *_, best = min(better)
            taken |= takes[best]
            now = _measured(expected, taken)
            added.append(best[1])
        return tuple(added)

    def _taken_by(self, labels: frozenset[str]) -> int:
        return sum(
            1 << index
            for index, observation in enumerate(self.observations)
            if self.matches(labels, observation.recognised)
        )


def _measured(expected: int, taken: int) -> BranchCounts:
    return BranchCounts(expected.bit_count(), taken.bit_count(), (expected & taken).bit_count())
