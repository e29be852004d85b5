"""A majority vote among targets, for oracles that have no other reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ResultT = TypeVar("ResultT")


def majority_target(
    results: Mapping[str, ResultT], agrees: Callable[[ResultT, ResultT], bool]
) -> str:
    """Return the target that most other targets agree with; the first of several with equal votes.

    LEMON, section 3.3, blames the one library of three that is in both inconsistent pairs. This
    vote blames the same one of three targets and works for more.

    Args:
        results: results by target, at least one.
        agrees: the predicate that is true if two results are the same.
    """
    names = list(results)
    votes = dict.fromkeys(names, 0)
    for index, name in enumerate(names):
        for other in names[index + 1 :]:
            if agrees(results[name], results[other]):
                votes[name] += 1
                votes[other] += 1
    return max(names, key=lambda target: votes[target])
