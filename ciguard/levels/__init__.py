"""Levels: each turns knowledge and seeds into cases, deterministically from seed and index.

One package per level. `select` decides which APIs of a catalogue take part. No I/O.
"""

from ciguard.levels.api import ApiLevel
from ciguard.levels.contract import (
    LEVELS,
    Batch,
    IndexedLevel,
    LearningLevel,
    Level,
    LevelFactory,
)
from ciguard.levels.focus import focused, unmatched
from ciguard.levels.selection import LEFT_OUT, select

LEVELS.register("api", ApiLevel)

__all__ = [
    "LEFT_OUT",
    "LEVELS",
    "ApiLevel",
    "Batch",
    "IndexedLevel",
    "LearningLevel",
    "Level",
    "LevelFactory",
    "focused",
    "select",
    "unmatched",
]
