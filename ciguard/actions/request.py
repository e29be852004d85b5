"""The request of one call of the action: its checked inputs and its event."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.actions.event import WorkflowEvent
from ciguard.actions.inputs import INPUTS, InputError, read_inputs, variable_of
from ciguard.config import SETTINGS, SourceKind, load_config
from ciguard.domain.plan import PlanMode
from ciguard.domain.text import visible
from ciguard.files import read_text, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.config import Config

DEFAULT_BASELINE = "git+origin#ciguard-baseline"
"""Default location of the baseline in the action. A folder would be lost at the end of the job."""
TOKEN_INPUT = "github-token"  # noqa: S105 - the name of an input, not a secret
SECURITY_TOKEN_INPUT = "security-token"  # noqa: S105 - the name of an input, not a secret
INDEX_INPUT = "index-url"
_CONFIGURATION_FILES = ("ciguard.toml", "pyproject.toml")
_MAX_BYTES = 1024 * 1024


class ActionTask(StrEnum):
    """The part of the work that one call of the action does: the values of the input `task`."""

    GUARD = "guard"
    """All parts in one job."""
    PLAN = "plan"
    SHARD = "shard"
    MERGE = "merge"
    FILE_ISSUES = "file"
    """The privileged part: writes the baseline and files issues for another workflow run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRequest:
    """The request of one call of the action."""

    task: ActionTask
    mode: PlanMode
    folder: Path
    """Working folder of all commands: the folder of the configuration file."""
    config: Config
    """Effective settings."""
    inputs: Mapping[str, str]
    """Inputs that are set, by name, without secrets."""
    event: WorkflowEvent = field(default_factory=WorkflowEvent)
    attempt: str = "1"
    """Number of the attempt of the workflow run, which makes names of artifacts unique."""

    def is_on(self, name: str) -> bool:
        """Return whether a boolean input is true."""
        return self.inputs.get(name) == "true"

    def path_of(self, name: str, default: str = "") -> Path:
        """Return the path in an input, relative to the working folder of commands."""
        return (self.folder / self.inputs.get(name, default)).absolute()

    @property
    def out(self) -> Path:
        """Folder for the results."""
        return (self.folder / self.config.out).absolute()

    @property
    def files_issues(self) -> bool:
        """True if issues are filed on GitHub."""
        return self.writes and self.is_on("file-issues")

    @property
    def writes(self) -> bool:
        """True if this call writes the baseline and issues.

        Only runs of the default branch write. In a matrix, a separate job writes after all rows,
        so that fuzzing jobs do not need write permissions.
        """
        return self._is_trusted and self.task in {ActionTask.GUARD, ActionTask.FILE_ISSUES}

    @property
    def leaves_writing(self) -> bool:
        """True if another job writes the baseline from this call's results."""
        return self._is_trusted and not self.writes

    @property
    def saves_cache(self) -> bool:
        """True if environments are cached for later runs, including those of pull requests."""
        return self._is_trusted and self.is_on("cache")

    @property
    def _is_trusted(self) -> bool:
        return self.mode is PlanMode.BATCH and self.event.is_default_branch

    @property
    def artifact(self) -> str:
        """Name of the artifact with all results; empty for no artifact."""
        name = self.inputs.get("artifact", "")
        return f"{name}-{self.attempt}" if name else ""


def request_of(environment: Mapping[str, str], *, workspace: Path) -> ActionRequest:
    """Return the request of a call of the action.

    Args:
        environment: the environment variables of the step, which include the inputs.
        workspace: the root of the checkout.

    Raises:
        InputError: if an input is invalid; the message names the input.
        ConfigurationError: if the configuration file is invalid.
    """
    inputs = read_inputs(environment)
    for secret in (TOKEN_INPUT, SECURITY_TOKEN_INPUT, INDEX_INPUT):
        inputs.pop(secret, None)
    event = WorkflowEvent.of(environment)
    task = ActionTask(inputs.get("task", ActionTask.GUARD))
    _require(task, inputs)
    folder = _folder(inputs, workspace)
    variables = {n: value for n, value in environment.items() if n.startswith("CIGUARD_")}
    if load_config({}, variables, folder=folder).sources["baseline"].kind is SourceKind.DEFAULT:
        inputs.setdefault("baseline", DEFAULT_BASELINE)
    mode = inputs.get("mode", "auto")
    return ActionRequest(
        task=task,
        mode=event.mode if mode == "auto" else PlanMode(mode),
        folder=folder,
        config=load_config({}, variables | settings_of(inputs), folder=folder).config,
        inputs=inputs,
        event=event,
        attempt=environment.get("GITHUB_RUN_ATTEMPT", "1"),
    )


def settings_of(inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables by which ciguard's commands get settings from inputs."""
    return {
        SETTINGS[INPUTS[name].setting].variable: value
        for name, value in inputs.items()
        if INPUTS[name].setting
    }


def _folder(inputs: Mapping[str, str], workspace: Path) -> Path:
    config = inputs.get("config", "")
    path = workspace / config
    if path.is_file() and path.name in _CONFIGURATION_FILES:
        return path.parent
    if path.is_dir():
        return path
    msg = (
        f"input 'config' = {visible(config, limit=80)!r}: no such file or folder. Write the path "
        f"of {' or '.join(_CONFIGURATION_FILES)}, or of its folder."
    )
    raise InputError(msg)


_REQUIRED_INPUTS = {
    ActionTask.SHARD: (
        ("plan", "the path of the plan that the task 'plan' wrote"),
        ("job", "the name of a job of the plan"),
    ),
    ActionTask.MERGE: (("results", "the folder with the results of the shards"),),
    ActionTask.FILE_ISSUES: (("results", "the folder to which the artifact was downloaded"),),
}
"""Required inputs and a description of each, by task."""


def _require(task: ActionTask, inputs: Mapping[str, str]) -> None:
    if "base-wheel" in inputs and "wheel" not in inputs:
        msg = (
            "input 'wheel' is missing, but the input 'base-wheel' is set. Name the wheel "
            "to compare with the base's wheel."
        )
        raise InputError(msg)
    for name, description in _REQUIRED_INPUTS.get(task, ()):
        if name not in inputs:
            msg = (
                f"input {name!r} is missing, but the task {task.value!r} needs this "
                f"input. Write {description}."
            )
            raise InputError(msg)


def write_request(request: ActionRequest, path: Path) -> None:
    """Write the inputs to a file for the steps that follow."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps(dict(request.inputs)) + "\n")


def read_request(path: Path, environment: Mapping[str, str], *, workspace: Path) -> ActionRequest:
    """Return the request whose inputs the step `prepare` wrote to `path`.

    Raises:
        InputError: if the file is missing or invalid.
    """
    try:
        stored = json.loads(read_text(path, most=_MAX_BYTES))
        inputs = {variable_of(name): str(stored[name]) for name in INPUTS if name in stored}
    except (OSError, ValueError, TypeError, RecursionError) as error:
        msg = (
            f"{path} is not a valid request file: {error}. The first step of the action "
            "writes this file; see its log."
        )
        raise InputError(msg) from error
    others = {name: value for name, value in environment.items() if not name.startswith("INPUT_")}
    return request_of({**others, **inputs}, workspace=workspace)
