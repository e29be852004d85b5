"""Guided calls without feedback: by the documentation alone, whatever the outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.api.level import ApiLevel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.records import ApiRecord
    from ciguard.levels import Batch


class DocumentedLevel:
    """`ApiLevel`, taught nothing."""

    def __init__(self, apis: Sequence[ApiRecord], seed: int, *, cases_per_batch: int = 16) -> None:
        self._level = ApiLevel(apis, seed, sizes=(cases_per_batch,))

    def cases(self, index: int) -> Batch:
        """Return the batch of that index."""
        return self._level.cases(index)
