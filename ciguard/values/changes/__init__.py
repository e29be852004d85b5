"""Changes of the arguments of a call: all tensors alike, other elements, or one argument at a time.

`mutate_jointly` and `change_contents` draw one change. `alternatives` goes through all of them but
those to `of_further_kinds`, `limits` through those to limits, `numbers_at_limits` through those of
numbers.
"""

from __future__ import annotations

from ciguard.values.changes.alternatives import (
    alternatives,
    numbers_at_limits,
    of_further_kinds,
)
from ciguard.values.changes.contents import change_contents
from ciguard.values.changes.joint import mutate_jointly
from ciguard.values.changes.limits import limits

__all__ = [
    "alternatives",
    "change_contents",
    "limits",
    "mutate_jointly",
    "numbers_at_limits",
    "of_further_kinds",
]
