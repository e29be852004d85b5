"""Settings of level `function`."""

from __future__ import annotations

from ciguard.config import LevelSettings, Setting, level_setting
from ciguard.config.kinds import optional_file, string_list

FUNCTIONS: Setting[tuple[str, ...]] = level_setting(
    "functions",
    string_list("FILE"),
    (),
    "Python file with your annotated functions for level `function`, or a pattern such as "
    "'src/**/*.py'. NAME.annotations.py in the same folder may contain the annotations. "
    "Paths are relative to the current folder.",
    is_input=True,
)
PATH: Setting[tuple[str, ...]] = level_setting(
    "function-path",
    string_list("FOLDER"),
    (),
    "Folder that the programs of --functions import from, before the packages of the target, as "
    "with PYTHONPATH.",
    decides_cases=False,
)
HOME: Setting[str] = level_setting(
    "function-home",
    optional_file(),
    "",
    "Folder whose entries the programs of --functions find in their home folder, such as data in "
    "~/data. Hidden entries of your own home are left out.",
    decides_cases=False,
)

SETTINGS = LevelSettings(
    summary="your annotated functions, with --functions", settings=(FUNCTIONS, PATH, HOME)
)
