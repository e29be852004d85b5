"""Settings of level `function`."""

from __future__ import annotations

from ciguard.config import LevelSettings, Setting, level_setting
from ciguard.config.kinds import texts

FUNCTIONS: Setting[tuple[str, ...]] = level_setting(
    "functions",
    texts("FILE"),
    (),
    "Python file of yours with annotated functions for level function, or a glob such as "
    "'src/**/*.py'. Annotations may stand in a NAME.annotations.py beside it. "
    "Paths are relative to the current folder.",
    is_input=True,
)

SETTINGS = LevelSettings(
    summary="annotated functions of yours, with --functions", settings=(FUNCTIONS,)
)
