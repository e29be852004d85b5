"""A vote among targets: which of them is the odd one, where no other oracle knows what is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Ballot = TypeVar("Ballot")


def elected(ballots: Mapping[str, Ballot], agree: Callable[[Ballot, Ballot], bool]) -> str:
    """Return the target that most others agree with; among equals the first.

    LEMON, section 3.3, blames the one library of three that is in both inconsistent pairs. This is
    the same for three targets, and goes on to hold for more.

    Args:
        ballots: by target, at least one.
        agree: whether two answers are the same.
    """
    names = list(ballots)
    votes = dict.fromkeys(names, 0)
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            if agree(ballots[one], ballots[other]):
                votes[one] += 1
                votes[other] += 1
    return max(names, key=lambda name: votes[name])
