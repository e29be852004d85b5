"""Level `api` before it is loaded."""

from __future__ import annotations

from ciguard.config import LevelSettings

SETTINGS = LevelSettings(summary="calls")
