"""Levels: each turns knowledge and seeds into cases, deterministically from seed and index.

Here is what all of them have in common: the contracts, which APIs take part, focus. Each level is a
package below, which registers a `LevelSpec`; nothing outside of it knows it by name.
"""

from ciguard.levels.contract import (
    LEVELS,
    Batch,
    GuidedLevel,
    IndexedLevel,
    LearningLevel,
    Level,
    LevelSpec,
    cost_of,
)
from ciguard.levels.focus import focused, unmatched
from ciguard.levels.selection import LEFT_OUT, select, select_layers

__all__ = [
    "LEFT_OUT",
    "LEVELS",
    "Batch",
    "GuidedLevel",
    "IndexedLevel",
    "LearningLevel",
    "Level",
    "LevelSpec",
    "cost_of",
    "focused",
    "select",
    "select_layers",
    "unmatched",
]
