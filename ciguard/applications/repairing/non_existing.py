"""Labels that no service knows, and those that may be meant (Keeper, sections 4.1.1 and 4.1.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.applications.repairing.patches import replace_label
from ciguard.applications.repairing.suggestions import Suggestion, other_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.applications.finding.conditions import Goal
    from ciguard.applications.judging.vocabulary import Vocabulary
    from ciguard.applications.repairing.relatedness import Relatedness
    from ciguard.applications.repairing.source import Source

_PROPOSED = 4


def meant(label: str, vocabulary: Vocabulary, *closeness: Relatedness) -> tuple[str, ...]:
    """Return a few labels that may be meant by one that does not exist, the likeliest first.

    That is the same in other letters, then those that are related in the order of `closeness`, the
    ones that are spelled alike before others, then those that are only spelled alike.

    Args:
        label: that the vocabulary does not have.
        vocabulary: labels of the service.
        closeness: what relates labels, the nearest relation first.
    """
    alike = vocabulary.nearest(label)
    same = [one for one in alike if one.lower() == label.lower()]
    others = sorted(vocabulary.labels.difference(alike), key=lambda one: (len(one), one))
    near = [one for each in closeness for one in (*alike, *others) if each.related(label, one)]
    return tuple(dict.fromkeys((*same, *near, *alike)))[:_PROPOSED]


def replaced(
    source: Source,
    goal: Goal,
    label: str,
    nearest: tuple[str, ...],
    *,
    written: Callable[[str], str] = str,
) -> Suggestion | None:
    """Suggest a label that exists in the place of one that does not; None if none is near.

    Args:
        source: the file of the sub-condition.
        goal: the sub-condition.
        label: that it compares with.
        nearest: labels that may be meant, as `meant` returns them.
        written: how the application has to write a label to meet it, such as `str.lower`.
    """
    labels = [written(one) for one in nearest]
    if not labels:
        return None
    patch = replace_label(source, goal.place, label, labels[0])
    return other_label(label, labels, goal.line, patch)
