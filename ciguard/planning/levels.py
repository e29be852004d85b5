"""Levels that plans can direct at changed files."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ciguard.levels import LEVELS, LevelSpec


@runtime_checkable
class PlannedLevel(LevelSpec, Protocol):
    """A level that tests those of the user's sources that import certain packages."""

    def client_packages(self) -> frozenset[str]:
        """Return the packages, by their top-level names in imports."""


def packages_by_level() -> dict[str, frozenset[str]]:
    """Return the packages of all such levels, by the level's name."""
    return {
        name: level.client_packages()
        for name, level in LEVELS.items().items()
        if isinstance(level, PlannedLevel)
    }
