"""Levels that plans can direct at changed files."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ciguard.levels import LEVELS, LevelSpec


@runtime_checkable
class PlannedLevel(LevelSpec, Protocol):
    """A level that tests sources of the user, if they import certain packages."""

    def client_packages(self) -> frozenset[str]:
        """Return the top-level names of the packages."""


def packages_by_level() -> dict[str, frozenset[str]]:
    """Return the packages of each `PlannedLevel`, by the level's name."""
    return {
        name: level.client_packages()
        for name, level in LEVELS.items().items()
        if isinstance(level, PlannedLevel)
    }
