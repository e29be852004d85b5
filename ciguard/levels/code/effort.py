"""The amount of work that level `code` does for each seed program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Amount of work per seed program."""

    mutations: int = 4
    """Number of mutations of a block (`times_mt` in MoCo), without those with illegal values."""
    breadth: int = 8
    """Maximum number of nodes of a generation that have children."""
    trees: int = 8
    """Minimum number of trees that grow in parallel. Feedback arrives some batches late, and the
    next batch of a tree needs the feedback of the previous one."""
