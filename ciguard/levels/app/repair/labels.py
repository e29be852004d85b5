"""More labels for a branch that too few of its inputs take (Keeper, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.app.repair.measures import ALPHA, BranchCounts, Change, kept_back, measured

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ciguard.levels.app.repair.relatedness import Relatedness

Matches: TypeAlias = Callable[[frozenset[str], tuple[str, ...]], bool]
"""Tells whether an application that compares with these labels takes its branch for what was
recognised. Of several labels it holds where it holds of one of them."""

_FORMS: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper, str.title, str.capitalize)
"""In which an application may have to write a label to meet it; as the service writes it first."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a service recognised in one input."""

    recognised: tuple[str, ...]
    """The labels that the application looks at, in the order of the answer."""
    is_expected: bool
    """Whether the input is made for the branch."""


@dataclass(frozen=True, slots=True)
class Extension:
    """Labels that a branch should compare with as well."""

    added: tuple[str, ...]
    """In the order in which they were chosen."""
    before: BranchCounts
    """Of all inputs."""
    after: BranchCounts
    held_out: Change | None = None
    """Of the inputs that the labels were not fitted to; None if there are too few inputs."""


def is_one(labels: frozenset[str], recognised: tuple[str, ...]) -> bool:
    """Match as `one == label` and `one in labels` do."""
    return not labels.isdisjoint(recognised)


def is_within(labels: frozenset[str], recognised: tuple[str, ...]) -> bool:
    """Match as `label in one` does of a text."""
    return any(label in one for label in labels for one in recognised)


def lowered(matches: Matches) -> Matches:
    """Return how an application matches that makes what is recognised lower-case before."""
    return lambda labels, recognised: matches(labels, tuple(one.lower() for one in recognised))


def extended(
    labels: Collection[str],
    observations: Sequence[Observation],
    matches: Matches,
    *,
    related: Relatedness,
    alpha: float = ALPHA,
) -> Extension | None:
    """Return the labels that a branch should compare with as well; None if none would help.

    Candidates are what was recognised in inputs that should take the branch and do not, if they are
    related to a label of it. One after the other is added: that with the largest gain in recall
    that does not lower the F1 score, until the recall is `alpha` or none is left. With enough
    inputs every third one is not fitted to, and labels that lower the F1 score of those are none
    that help.

    Args:
        labels: that the branch compares with.
        observations: one for each input.
        matches: how the application compares.
        related: which labels mean something alike.
        alpha: least recall that is no failure.

    Source: Keeper, section 4.2.
    """
    held = kept_back([one.is_expected for one in observations])
    fitted = [one for at, one in enumerate(observations) if at not in held]
    fit = _LabelFit(frozenset(labels), fitted, matches)
    added = fit.greedily(set(fit.candidates(related)), alpha)
    if not added:
        return None
    more = frozenset((*labels, *added))

    def change(several: Sequence[Observation]) -> Change:
        kinds = [one.is_expected for one in several]
        before, after = (
            measured(zip(kinds, (matches(those, one.recognised) for one in several), strict=True))
            for those in (fit.labels, more)
        )
        return Change(before, after)

    judged = [change(observations)]
    if held:
        judged.append(change([observations[at] for at in sorted(held)]))
    if any(one.after.f1 < one.before.f1 for one in judged):
        return None
    return Extension(added, *judged[0], held_out=judged[1] if held else None)


@dataclass(frozen=True, slots=True)
class _LabelFit:
    """The inputs that labels are fitted to; sets of them are numbers, a bit for each."""

    labels: frozenset[str]
    observations: Sequence[Observation]
    matches: Matches

    def candidates(self, related: Relatedness) -> Iterator[tuple[int, str]]:
        """Yield labels that may be added, each with the place of its form."""
        taken = self._taking(self.labels)
        for at, one in enumerate(self.observations):
            if not one.is_expected or taken >> at & 1:
                continue
            for label in dict.fromkeys(one.recognised):
                if any(related.related(label, known) for known in self.labels):
                    for place, form in enumerate(_FORMS):
                        if self.matches(frozenset({form(label)}), one.recognised):
                            yield place, form(label)

    def greedily(self, candidates: set[tuple[int, str]], alpha: float) -> tuple[str, ...]:
        """Return what of the candidates to add; the fewest wrong inputs decide between equals."""
        expected = sum(1 << at for at, one in enumerate(self.observations) if one.is_expected)
        takes = {one: self._taking(frozenset({one[1]})) for one in sorted(candidates)}
        taken, added = self._taking(self.labels), list[str]()
        now = _measured(expected, taken)
        while now.recall < alpha:
            better = [
                (-then.right, then.took, one)
                for one, its in takes.items()
                if (then := _measured(expected, taken | its)).right > now.right
                and then.f1 >= now.f1
            ]
            if not better:
                break
            *_, one = min(better)
            taken |= takes[one]
            now = _measured(expected, taken)
            added.append(one[1])
        return tuple(added)

    def _taking(self, labels: frozenset[str]) -> int:
        return sum(
            1 << at
            for at, one in enumerate(self.observations)
            if self.matches(labels, one.recognised)
        )


def _measured(expected: int, taken: int) -> BranchCounts:
    return BranchCounts(expected.bit_count(), taken.bit_count(), (expected & taken).bit_count())
