"""The amount of work that level `code` spends on each seed program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Amount of work per seed program."""

    times: int = 4
    """Number of mutations of a block by AR or RG (times_mt)."""
    breadth: int = 8
    """Maximum number of nodes of a generation that have children."""
    trees: int = 8
    """Minimum number of trees that grow in parallel. Feedback is applied some batches later, and
    the next batch of the same tree needs it."""
