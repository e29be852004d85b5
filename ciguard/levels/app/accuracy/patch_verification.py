"""Verification of patches: run the patched application before a patch is suggested."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.levels.app.accuracy.trials import Trials
from ciguard.levels.app.exploration.function_caller import FunctionCaller, host_of, routines_of
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis.application import read_application
from ciguard.levels.app.static_analysis.findings import find_service_functions
from ciguard.programs import run_program
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.app.exploration.explore import ExploredFunction
    from ciguard.levels.app.exploration.process_environment import ProcessEnvironment
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.static_analysis.findings import ServiceFunction
    from ciguard.levels.app.virtualization.engine_chain import EngineChain

_GIT_LIMIT_S = 60.0


def run_patched(  # noqa: PLR0913 - the patch, the application and its inputs
    patch: str,
    goal: Goal,
    *,
    application: Application,
    explored: ExploredFunction,
    inputs: Sequence[ServiceInput],
    engines: EngineChain,
    python: str,
    process_environment: ProcessEnvironment | None,
    deadline: float,
) -> list[bool]:
    """Run a function on inputs in a patched copy of the application.

    Args:
        patch: the patch of one file.
        goal: the sub-condition that the patch changes.
        application: the parsed application.
        explored: the result of the function's exploration before the patch.
        inputs: the inputs.
        engines: the engines that answer in place of the service, as in the unpatched run.
        python: an interpreter that has the application's libraries.
        process_environment: the environment of the application's process; None: the default.
        deadline: the end of the time budget, by `time.monotonic`.

    Returns:
        For each input, whether it exercises the branch. Empty if the patch does not apply, the
        branch has moved, or the deadline has passed.
    """
    with tempfile.TemporaryDirectory(prefix=scratch_prefix("patched")) as name:
        folder = Path(name)
        patched_text = _patched_text(application, goal.branch.file, patch, folder)
        if patched_text is None:
            return []
        functions = find_service_functions(read_application(folder), known_providers())
        function = next((item for item in functions if item.name == explored.function.name), None)
        counterpart = _counterpart(function, goal) if function is not None else None
        if function is None or counterpart is None:
            return []
        module, routine = routines_of(application)[explored.function.name]
        texts = {goal.branch.file: patched_text}
        with host_of(
            application,
            [function],
            python,
            texts=texts,
            process_environment=process_environment,
            inputs=folder,
        ) as host:
            caller = FunctionCaller(host, function, module, routine)
            trials = Trials(caller, function, routine, explored.form, engines)
            exercised: list[bool] = []
            for service_input in inputs:
                if time.monotonic() > deadline:
                    return []
                exercised.append(
                    trials.run(service_input, folder / f"inputs-{len(exercised)}").exercises(
                        counterpart
                    )
                )
            return exercised


def _patched_text(application: Application, file: str, patch: str, folder: Path) -> str | None:
    """Apply a patch to a copy of the application; return the file's text, or None on failure."""
    for module in application.modules:
        copy = folder / module.file
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((application.root / module.file).read_bytes())
    git = shutil.which("git")
    if git is None:
        return None
    git_result = run_program(
        [git, "apply", "--whitespace=nowarn", "-"],
        limit_s=_GIT_LIMIT_S,
        given=patch.encode(),
        folder=folder,
        # Git must ignore a repository that contains the temporary folder.
        environment={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
    )
    return (folder / file).read_text("utf-8") if git_result.code == 0 else None


def _position(goal: Goal) -> tuple[str, int, int]:
    return goal.branch.file, goal.branch.line, goal.branch.column


def _counterpart(function: ServiceFunction, goal: Goal) -> Goal | None:
    """Return the patched sub-condition at a goal's position; None if there is none."""
    position = _position(goal)
    goals = [
        condition.goal for condition in function.goals if _position(condition.goal) == position
    ]
    return next(
        (other for other in goals if other.index == goal.index), goals[0] if goals else None
    )
