"""Settings of level `graph`."""

from __future__ import annotations

from ciguard.config import LevelSettings, Setting, level_setting
from ciguard.config.kinds import whole

CALLS: Setting[int] = level_setting(
    "graph-calls", whole(2, 20), 8, "Maximum number of calls of one graph, at level `graph`."
)
UNIT: Setting[int] = level_setting(
    "graph-unit",
    whole(1, 16),
    12,
    "Number of graphs that are compiled together, at level `graph`. Compiling one by one takes "
    "several times as long.",
)

SETTINGS = LevelSettings(
    summary="graphs of several calls, on targets of torch, tensorflow and jax that compile",
    settings=(CALLS, UNIT),
)
"""Description of the level."""
