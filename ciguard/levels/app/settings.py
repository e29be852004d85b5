"""The settings and the commands of level `app`."""

from __future__ import annotations

from ciguard.config import LevelCommands, LevelSettings, Setting, level_setting
from ciguard.config.kinds import path_or_nothing, texts

APPLICATIONS: Setting[tuple[str, ...]] = level_setting(
    "applications",
    texts("PATH"),
    (),
    "Folder or file of an application of yours whose calls of cognitive services level app "
    "answers. Paths begin at the current folder.",
    flag="--application",
    decides_cases=False,
    is_input=True,
)
LABELS: Setting[str] = level_setting(
    "app-labels",
    path_or_nothing(),
    "",
    "Labels that the services of applications can answer: one in each line, or last in the "
    "lines of a CSV file.",
    decides_cases=False,
    is_input=True,
)
IMAGES: Setting[str] = level_setting(
    "app-images",
    path_or_nothing(),
    "",
    "Folder with images, or texts of a topic, in a folder for each label: inputs that "
    "applications are tried on.",
    decides_cases=False,
    is_input=True,
)
RECORDING: Setting[str] = level_setting(
    "app-recording",
    path_or_nothing(),
    "",
    "Recording of what services have answered, from `ciguard app accuracy --record`: what "
    "applications make of their inputs counts only with one.",
    decides_cases=False,
    is_input=True,
)

SETTINGS = LevelSettings(
    summary="applications of yours that ask cognitive services, with --application",
    settings=(APPLICATIONS, LABELS, IMAGES, RECORDING),
    commands=LevelCommands(
        summary="Applications of cognitive services.",
        commands={
            "services": "ciguard.levels.app.commands.services:services",
            "explore": "ciguard.levels.app.commands.explore:explore",
            "accuracy": "ciguard.levels.app.commands.accuracy:accuracy",
            "emulate": "ciguard.levels.app.commands.emulate:emulate",
        },
    ),
)
