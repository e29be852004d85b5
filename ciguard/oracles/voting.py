"""Majority vote among targets, for oracles without a reference target."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ResultT = TypeVar("ResultT")


def majority_target(
    results: Mapping[str, ResultT], agrees: Callable[[ResultT, ResultT], bool]
) -> str:
    """Return the target whose result most other targets share; of equals, the first one.

    The LEMON paper (section 3.3) blames the one of three libraries that differs from both others.
    For three targets, the vote leads to the same decision; it also works for more targets.

    Args:
        results: the result of each target, at least one.
        agrees: the function that returns whether two results are the same.
    """
    names = list(results)
    votes = dict.fromkeys(names, 0)
    for index, name in enumerate(names):
        for other in names[index + 1 :]:
            if agrees(results[name], results[other]):
                votes[name] += 1
                votes[other] += 1
    return max(names, key=lambda target: votes[target])
