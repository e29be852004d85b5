"""The settings of level `function`."""

from __future__ import annotations

from ciguard.config import LevelSettings, Setting, level_setting
from ciguard.config.kinds import texts

FUNCTIONS: Setting[tuple[str, ...]] = level_setting(
    "functions",
    texts("FILE"),
    (),
    "Python file of yours whose annotated functions level function calls, or a glob over "
    "files such as 'src/**/*.py'. Annotations may stand in a NAME.annotations.py beside "
    "it. Paths begin at the current folder.",
    is_input=True,
)

SETTINGS = LevelSettings(
    summary="annotated functions of yours, with --functions", settings=(FUNCTIONS,)
)
