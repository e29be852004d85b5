"""Wilcoxon's signed-rank test for paired samples, exact and one-sided."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def signed_rank_p(differences: Sequence[float]) -> float:
    """Return the probability of a sum of positive ranks this large under symmetry about 0.

    Exact for any number of ties: conditional on the ranks, every choice of signs is equally likely.

    Args:
        differences: one finite difference per pair; zeros are left out.

    Returns:
        A probability in (0, 1]; at least 2 to the power of minus the number of differences.

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
    """Yield twice the rank of each difference by size, so that tied ranks are whole numbers."""
    ordered = sorted((difference for difference in differences if difference), key=abs)
    below = 0
    for _, group in groupby(ordered, key=abs):
        tied = list(group)
        yield from ((2 * below + len(tied) + 1, difference > 0) for difference in tied)
        below += len(tied)
