"""Wilcoxon's signed-rank test for paired samples, exact and one-sided."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def signed_rank_p(differences: Sequence[float]) -> float:
    """Return the p-value of the test: is the sum of positive ranks larger than chance explains?

    Under the null hypothesis, the differences are symmetric about 0. Given the ranks, all choices
    of signs are then equally likely, so that the p-value is exact even if ranks are tied.

    Args:
        differences: the finite difference of each pair; zeros are ignored.

    Returns:
        A probability in (0, 1], at least 2**-n for n differences.

    Source: F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1 (1945).
    """
    ranks = list(_doubled_ranks(differences))
    observed_sum = sum(rank for rank, is_positive in ranks if is_positive)
    sign_choices = [1] + [0] * sum(rank for rank, _ in ranks)
    # Number of choices of signs, by their sum of positive ranks.
    for rank, _ in ranks:
        for total in range(len(sign_choices) - 1, rank - 1, -1):
            sign_choices[total] += sign_choices[total - rank]
    return sum(sign_choices[observed_sum:]) / (1 << len(ranks))


def _doubled_ranks(differences: Sequence[float]) -> Iterator[tuple[int, bool]]:
    """Yield twice the rank of each difference by magnitude, and whether the difference is positive.

    Twice the rank is an integer even for tied differences.
    """
    ordered = sorted((difference for difference in differences if difference), key=abs)
    rank_offset = 0
    for _, group in groupby(ordered, key=abs):
        tied = list(group)
        yield from ((2 * rank_offset + len(tied) + 1, difference > 0) for difference in tied)
        rank_offset += len(tied)
