"""Settings of level `api`, available before the level is loaded."""

from __future__ import annotations

from ciguard.config import LevelSettings

SETTINGS = LevelSettings(summary="calls")
