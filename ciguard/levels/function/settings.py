"""Settings of level `function`."""

from __future__ import annotations

from ciguard.config import LevelSettings, Setting, level_setting
from ciguard.config.kinds import string_list

FUNCTIONS: Setting[tuple[str, ...]] = level_setting(
    "functions",
    string_list("FILE"),
    (),
    "Python file with your annotated functions for level `function`, or a pattern such as "
    "'src/**/*.py'. NAME.annotations.py in the same folder may contain the annotations. "
    "Paths are relative to the current folder.",
    is_input=True,
)

SETTINGS = LevelSettings(
    summary="your annotated functions, with --functions", settings=(FUNCTIONS,)
)
