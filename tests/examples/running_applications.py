"""Applications that are written for a test, explored, and tried on inputs."""

from __future__ import annotations

import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from ciguard.levels.app.accuracy import AccuracyOptions, Assessment, assess, settings_for
from ciguard.levels.app.exploration import ExploredFunction, explore
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, text: str) -> Path:
    """Write an application of one file, and return its folder."""
    folder.mkdir(exist_ok=True)
    (folder / "app.py").write_text(dedent(text))
    return folder


def explored(folder: Path, budget_s: float = 60.0) -> dict[str, ExploredFunction]:
    """Return what came of its functions, by their names in the file."""
    application = read_application(folder)
    found = find_service_functions(application, known_providers())
    results = explore(application, found, python=sys.executable, budget_s=budget_s)
    return {one.function.name.removeprefix("app."): one for one in results}


def assessed(folder: Path, **trying: Any) -> dict[str, Assessment]:
    """Return likewise what came of trying them."""
    application = read_application(folder)
    found = find_service_functions(application, known_providers())
    results = explore(application, found, python=sys.executable, budget_s=30.0)
    settings = settings_for(AccuracyOptions(**{"budget_s": 30.0, "inputs": 40, **trying}))
    several = assess(application, found, results, settings, python=sys.executable)
    return {one.explored.function.name.removeprefix("app."): one for one in several}


def never(results: dict[str, ExploredFunction]) -> set[tuple[str, str, bool]]:
    """Return the outcomes of sub-conditions that were not met."""
    return {
        (name, goal.text, value)
        for name, one in results.items()
        for goal, values in one.answers_by_outcome.items()
        for value in {True, False} - values.keys()
    }


def failures(results: dict[str, ExploredFunction]) -> dict[str, set[str]]:
    """Return the types of the exceptions that answers bring about."""
    return {
        name: {crash.error.partition(":")[0] for crash in one.crashes}
        for name, one in results.items()
        if one.crashes
    }
