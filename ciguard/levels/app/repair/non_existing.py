"""Labels that no service knows, and those that may be meant (Keeper, sections 4.1.1 and 4.1.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
    from ciguard.levels.app.repair.relatedness import Relatedness

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
