"""Runs an application again as a patch would make it, before anybody is told of the patch."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.levels.app.accuracy.trials import Trials
from ciguard.levels.app.exploration.calling import FunctionCaller, host_of, routines_of
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis.application import read_application
from ciguard.levels.app.static_analysis.findings import find
from ciguard.programs import run_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.app.exploration.explore import ExploredFunction
    from ciguard.levels.app.exploration.surroundings import Surroundings
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.static_analysis.findings import ServiceFunction
    from ciguard.levels.app.virtualization.chosen import Chosen

_GIT_LIMIT_S = 60.0


def exercised_with(  # noqa: PLR0913 - what is run, on what, and how
    patch: str,
    goal: Goal,
    *,
    application: Application,
    explored: ExploredFunction,
    inputs: Sequence[ServiceInput],
    engines: Chosen,
    python: str,
    surroundings: Surroundings | None,
    deadline: float,
) -> list[bool]:
    """Run a function on inputs as a patch would make it; its files stay as they are.

    Args:
        patch: of one file.
        goal: the sub-condition that it changes.
        application: as read.
        explored: the function.
        inputs: to run it on.
        engines: what answers, the same to the same questions as before.
        python: interpreter that has what the application imports.
        surroundings: what the application has around it.
        deadline: of `time.monotonic`.

    Returns:
        Whether each input exercises the branch; nothing if the patch does not apply, the function
        no longer has the branch where it was, or time is up.
    """
    with tempfile.TemporaryDirectory(prefix="ciguard-patched-") as name:
        folder = Path(name)
        changed = _patched(application, goal.branch.file, patch, folder)
        if changed is None:
            return []
        several = find(read_application(folder), known_providers())
        found = next((one for one in several if one.name == explored.found.name), None)
        twin = _twin(found, goal) if found is not None else None
        if found is None or twin is None:
            return []
        module, routine = routines_of(application)[explored.found.name]
        texts = {goal.branch.file: changed}
        with host_of(
            application, [found], python, texts=texts, surroundings=surroundings, inputs=folder
        ) as host:
            caller = FunctionCaller(host, found, module, routine)
            trials = Trials(caller, found, routine, explored.form, engines)
            took: list[bool] = []
            for tried in inputs:
                if time.monotonic() > deadline:
                    return []
                took.append(trials.run(tried, folder / f"inputs-{len(took)}").exercises(twin))
            return took


def _patched(application: Application, file: str, patch: str, folder: Path) -> str | None:
    """Copy the application's files, apply a patch there, and return the file that it changes."""
    for module in application.modules:
        copy = folder / module.file
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((application.root / module.file).read_bytes())
    git = shutil.which("git")
    if git is None:
        return None
    done = run_program(
        [git, "apply", "--whitespace=nowarn", "-"],
        limit_s=_GIT_LIMIT_S,
        given=patch.encode(),
        folder=folder,
        # Of no repository that the folder may lie in.
        environment={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
    )
    return (folder / file).read_text("utf-8") if done.code == 0 else None


def _twin(found: ServiceFunction, goal: Goal) -> Goal | None:
    """Return the sub-condition that stands where another one stood."""
    where = (goal.branch.file, goal.branch.line, goal.branch.column)
    here = [
        one.goal
        for one in found.goals
        if (one.goal.branch.file, one.goal.branch.line, one.goal.branch.column) == where
    ]
    return next((one for one in here if one.at == goal.at), here[0] if here else None)
