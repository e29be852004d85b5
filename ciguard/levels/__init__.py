"""Levels: each derives cases from knowledge and seeds, as a function of seed and index.

This package holds what all levels share: the protocols, the selection of APIs, and focus. Each
level is a subpackage that registers a `LevelSpec`; no other package depends on a level's name.
"""

from ciguard.levels.contract import (
    LEVELS,
    Batch,
    GuidedLevel,
    IndexedLevel,
    Level,
    LevelSpec,
    ObservingLevel,
    TabulatedLevel,
    VisitedLevel,
    cost_of,
)
from ciguard.levels.focus import (
    ApiShare,
    focus_shares,
    focused_level,
    globs_without_match,
    ranked,
)
from ciguard.levels.selection import (
    EXCLUDED_TAGS,
    excluded_by_tag,
    select,
    select_layers,
)

__all__ = [
    "EXCLUDED_TAGS",
    "LEVELS",
    "ApiShare",
    "Batch",
    "GuidedLevel",
    "IndexedLevel",
    "Level",
    "LevelSpec",
    "ObservingLevel",
    "TabulatedLevel",
    "VisitedLevel",
    "cost_of",
    "excluded_by_tag",
    "focus_shares",
    "focused_level",
    "globs_without_match",
    "ranked",
    "select",
    "select_layers",
]
