"""What the level of another project asks of its users."""

from __future__ import annotations

from ciguard.config import LevelCommands, LevelSettings, Setting, level_setting
from ciguard.config.kinds import whole

LARGEST: Setting[int] = level_setting(
    "steps-largest", whole(0, 1000), 1000, "Largest number that level steps begins at."
)

SETTINGS = LevelSettings(
    summary="numbers a step away from a round one",
    settings=(LARGEST,),
    commands=LevelCommands(
        summary="Numbers a step away from a round one.",
        commands={"starts": "ciguard_planted.commands:starts"},
    ),
)
