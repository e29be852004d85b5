"""Settings and commands of level `app`."""

from __future__ import annotations

from ciguard.config import LevelCommands, LevelSettings, Setting, level_setting
from ciguard.config.kinds import optional_file, string_list

APPLICATIONS: Setting[tuple[str, ...]] = level_setting(
    "applications",
    string_list("PATH"),
    (),
    "Folder or file of your application, relative to the current folder. Level `app` tests the "
    "functions of the application that call cognitive services.",
    flag="--application",
    decides_cases=False,
    is_input=True,
)
LABELS: Setting[str] = level_setting(
    "app-labels",
    optional_file(),
    "",
    "File with the labels that services can return: one label per line, or a CSV file whose last "
    "column is the label.",
    decides_cases=False,
    is_input=True,
)
IMAGES: Setting[str] = level_setting(
    "app-images",
    optional_file(),
    "",
    "Folder with one subfolder per label, which holds images of the label or texts about it. "
    "Applications are tested with these files as inputs.",
    decides_cases=False,
    is_input=True,
)
RECORDING: Setting[str] = level_setting(
    "app-recording",
    optional_file(),
    "",
    "Recording of the services' responses, written by `ciguard app accuracy --record`. Without "
    "a recording, findings about accuracy have low severity.",
    decides_cases=False,
    is_input=True,
)

SETTINGS = LevelSettings(
    summary="your applications that call cognitive services, given by --application",
    settings=(APPLICATIONS, LABELS, IMAGES, RECORDING),
    commands=LevelCommands(
        summary="Test applications that call cognitive services.",
        commands={
            "services": "ciguard.levels.app.commands.services:services",
            "explore": "ciguard.levels.app.commands.explore:explore",
            "accuracy": "ciguard.levels.app.commands.accuracy:accuracy",
            "emulate": "ciguard.levels.app.commands.emulate:emulate",
        },
    ),
)
