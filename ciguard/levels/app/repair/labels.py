"""Additional labels for a branch that too few of its inputs take (Keeper paper, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.app.repair.measures import (
    ALPHA,
    BranchCounts,
    Change,
    count_inputs,
    held_out_indices,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ciguard.levels.app.repair.relatedness import Relatedness

Matches: TypeAlias = Callable[[frozenset[str], tuple[str, ...]], bool]
"""Function of compared labels and recognised labels: whether the application's comparison is true.

It is true for several compared labels if it is true for one of them."""

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
    """Recognised labels, in the order of the answer."""
    is_expected: bool
    """True if the input should take the branch."""


@dataclass(frozen=True, slots=True)
class Extension:
    """Labels to add to a branch, with the counts of its inputs before and after."""

    added: tuple[str, ...]
    """Added labels, in the order of their selection."""
    before: BranchCounts
    """Counts of all inputs without the labels."""
    after: BranchCounts
    """Counts of all inputs with the labels."""
    held_out: Change | None = None
    """Change on the held-out inputs; None if there are too few inputs."""


def equals_label(labels: frozenset[str], recognised: tuple[str, ...]) -> bool:
    """Return whether a recognised label equals one of the labels."""
    return not labels.isdisjoint(recognised)


def contains_label(labels: frozenset[str], recognised: tuple[str, ...]) -> bool:
    """Return whether a recognised text contains one of the labels."""
    return any(label in text for label in labels for text in recognised)


def lower_case_match(matches: Matches) -> Matches:
    """Return a comparison like `matches` that first converts recognised labels to lower case."""
    return lambda labels, recognised: matches(labels, tuple(label.lower() for label in recognised))


def extend_labels(
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
    recall reaches `alpha`. With enough inputs, every third one is held out. The added labels must
    not lower the F1 score of the held-out inputs.

    Args:
        labels: the labels that the branch compares with.
        observations: the recognised labels of each input.
        matches: the application's comparison.
        related: the relatedness of labels.
        alpha: the recall at which no more labels are added.

    Source: Keeper paper, section 4.2.
    """
    held_out = held_out_indices([item.is_expected for item in observations])
    fitted = [item for index, item in enumerate(observations) if index not in held_out]
    fit = _LabelFit(frozenset(labels), fitted, matches)
    added = fit.greedy_selection(set(fit.candidates(related)), alpha)
    if not added:
        return None
    all_labels = frozenset((*labels, *added))

    def change(observations: Sequence[Observation]) -> Change:
        kinds = [item.is_expected for item in observations]
        before, after = (
            count_inputs(
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
    """Greedy selection of labels for inputs; an integer is a set of inputs, as a bit mask."""

    labels: frozenset[str]
    observations: Sequence[Observation]
    matches: Matches

    def candidates(self, related: Relatedness) -> Iterator[tuple[int, str]]:
        """Yield candidates: pairs of the index in `_SPELLINGS` and the label in that spelling."""
        taken = self._inputs_taken_with(self.labels)
        for index, observation in enumerate(self.observations):
            if not observation.is_expected or taken >> index & 1:
                continue
            for label in dict.fromkeys(observation.recognised):
                if any(related.related(label, compared) for compared in self.labels):
                    for spelling_index, spelling in enumerate(_SPELLINGS):
                        if self.matches(frozenset({spelling(label)}), observation.recognised):
                            yield spelling_index, spelling(label)

    def greedy_selection(self, candidates: set[tuple[int, str]], alpha: float) -> tuple[str, ...]:
        """Return the labels to add; of equal gains, the one with the fewest wrong inputs wins."""
        expected = sum(
            1 << index for index, item in enumerate(self.observations) if item.is_expected
        )
        inputs_by_candidate = {
            candidate: self._inputs_taken_with(frozenset({candidate[1]}))
            for candidate in sorted(candidates)
        }
        taken, added = self._inputs_taken_with(self.labels), list[str]()
        current = _counts_of(expected, taken)
        while current.recall < alpha:
            better = [
                (-counts.correct, counts.taken, candidate)
                for candidate, inputs_of_candidate in inputs_by_candidate.items()
                if (counts := _counts_of(expected, taken | inputs_of_candidate)).correct
                > current.correct
                and counts.f1 >= current.f1
            ]
            if not better:
                break
            *_, best = min(better)
            taken |= inputs_by_candidate[best]
            current = _counts_of(expected, taken)
            added.append(best[1])
        return tuple(added)

    def _inputs_taken_with(self, labels: frozenset[str]) -> int:
        return sum(
            1 << index
            for index, observation in enumerate(self.observations)
            if self.matches(labels, observation.recognised)
        )


def _counts_of(expected: int, taken: int) -> BranchCounts:
    return BranchCounts(expected.bit_count(), taken.bit_count(), (expected & taken).bit_count())
