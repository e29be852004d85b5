"""What a plan asks of a level."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ciguard.levels import LEVELS, LevelSpec


@runtime_checkable
class PlannedLevel(LevelSpec, Protocol):
    """A level that tests the user's own sources wherever these import certain packages."""

    def client_packages(self) -> frozenset[str]:
        """Return the packages, by the names that stand first in imports."""


def packages_by_level() -> dict[str, frozenset[str]]:
    """Return the packages of all levels that have some, by the level's name."""
    return {
        name: level.client_packages()
        for name, level in LEVELS.items().items()
        if isinstance(level, PlannedLevel)
    }
