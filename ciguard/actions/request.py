"""What one call of the action is asked for: its inputs and its event, understood once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.actions.event import WorkflowEvent
from ciguard.actions.inputs import INPUTS, InputError, given_inputs, variable_of
from ciguard.config import SETTINGS, SourceKind, load_config
from ciguard.domain.plan import PlanMode
from ciguard.domain.text import visible
from ciguard.files import read_text, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.config import Config

DEFAULT_BASELINE = "git+origin#ciguard-baseline"
"""A folder would not outlive the job."""
TOKEN_INPUT = "github-token"  # noqa: S105 - a name
SECURITY_TOKEN_INPUT = "security-token"  # noqa: S105 - likewise
INDEX_INPUT = "index-url"
_CONFIGURATION_FILES = ("ciguard.toml", "pyproject.toml")
_MAX_BYTES = 1024 * 1024


class ActionTask(StrEnum):
    """Which part of the work one call of the action does. The value is the input's."""

    GUARD = "guard"
    """All of it in one job."""
    PLAN = "plan"
    SHARD = "shard"
    MERGE = "merge"
    FILE = "file"
    """The privileged half: files issues from the results of another workflow's run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRequest:
    """What is to be done."""

    task: ActionTask
    mode: PlanMode
    folder: Path
    """Where commands run: the folder of the configuration."""
    config: Config
    """The settings in force."""
    inputs: Mapping[str, str]
    """Those that were given, by name; never a secret."""
    event: WorkflowEvent = field(default_factory=WorkflowEvent)
    attempt: str = "1"
    """Of the workflow run: artifacts of one run never have the same name."""

    def is_on(self, name: str) -> bool:
        """Return whether a switch is on."""
        return self.inputs.get(name) == "true"

    def path_of(self, name: str, default: str = "") -> Path:
        """Return the path that an input names; it starts where commands run."""
        return (self.folder / self.inputs.get(name, default)).absolute()

    @property
    def out(self) -> Path:
        """The folder for results."""
        return (self.folder / self.config.out).absolute()

    @property
    def files_issues(self) -> bool:
        """Whether issues are filed on GitHub."""
        return self.writes and self.is_on("file-issues")

    @property
    def writes(self) -> bool:
        """Whether this call writes the baseline and issues.

        Only for the default branch, and in a matrix only after all rows have ended, in a job of
        its own: no job that fuzzes needs a permission to write.
        """
        return self._is_trusted and self.task in {ActionTask.GUARD, ActionTask.FILE}

    @property
    def leaves_writing(self) -> bool:
        """Whether another job writes the baseline from what this call leaves."""
        return self._is_trusted and not self.writes

    @property
    def saves_cache(self) -> bool:
        """Whether environments are kept for later runs, which pull requests read too."""
        return self._is_trusted and self.is_on("cache")

    @property
    def _is_trusted(self) -> bool:
        return self.mode is PlanMode.BATCH and self.event.is_default_branch

    @property
    def artifact(self) -> str:
        """The name of the artifact with all results; empty for none."""
        name = self.inputs.get("artifact", "")
        return f"{name}-{self.attempt}" if name else ""


def request_of(environment: Mapping[str, str], *, workspace: Path) -> ActionRequest:
    """Return what the inputs in `environment` ask for.

    Raises:
        InputError: if they cannot be right; names the input.
        ConfigurationError: if the configuration file cannot be.
    """
    inputs = given_inputs(environment)
    for secret in (TOKEN_INPUT, SECURITY_TOKEN_INPUT, INDEX_INPUT):
        inputs.pop(secret, None)
    event = WorkflowEvent.of(environment)
    task = ActionTask(inputs.get("task", ActionTask.GUARD))
    _require(task, inputs)
    folder = _folder(inputs, workspace)
    own = {n: value for n, value in environment.items() if n.startswith("CIGUARD_")}
    if load_config({}, own, folder=folder).sources["baseline"].kind is SourceKind.DEFAULT:
        inputs.setdefault("baseline", DEFAULT_BASELINE)
    asked = inputs.get("mode", "auto")
    return ActionRequest(
        task=task,
        mode=event.mode if asked == "auto" else PlanMode(asked),
        folder=folder,
        config=load_config({}, own | settings_of(inputs), folder=folder).config,
        inputs=inputs,
        event=event,
        attempt=environment.get("GITHUB_RUN_ATTEMPT", "1"),
    )


def settings_of(inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that inputs ask for, as variables of ciguard's commands."""
    return {
        SETTINGS[INPUTS[name].setting].variable: value
        for name, value in inputs.items()
        if INPUTS[name].setting
    }


def _folder(inputs: Mapping[str, str], workspace: Path) -> Path:
    given = inputs.get("config", "")
    path = workspace / given
    if path.is_file() and path.name in _CONFIGURATION_FILES:
        return path.parent
    if path.is_dir():
        return path
    msg = (
        f"input 'config' = {visible(given, limit=80)!r}: no such file or folder. Write the path of "
        f"{' or '.join(_CONFIGURATION_FILES)}, or of the folder that it is in."
    )
    raise InputError(msg)


_NEEDED = {
    ActionTask.SHARD: (
        ("plan", "the path of the plan that the task 'plan' made"),
        ("job", "the name of a job of the plan"),
    ),
    ActionTask.MERGE: (("results", "the folder that holds the results of the shards"),),
    ActionTask.FILE: (("results", "the folder that the artifact was downloaded to"),),
}


def _require(task: ActionTask, inputs: Mapping[str, str]) -> None:
    if "base-wheel" in inputs and "wheel" not in inputs:
        msg = "input 'wheel' is missing: 'base-wheel' is what it is held against. Name the build."
        raise InputError(msg)
    for name, example in _NEEDED.get(task, ()):
        if name not in inputs:
            msg = f"input {name!r} is missing: the task {task.value!r} needs it. Write {example}."
            raise InputError(msg)


def write_request(request: ActionRequest, path: Path) -> None:
    """Keep the inputs for the steps that follow."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps(dict(request.inputs)) + "\n")


def read_request(path: Path, environment: Mapping[str, str], *, workspace: Path) -> ActionRequest:
    """Return what an earlier step understood.

    Raises:
        InputError: if there is no such file, or something else is in it.
    """
    try:
        kept = json.loads(read_text(path, most=_MAX_BYTES))
        inputs = {variable_of(name): str(kept[name]) for name in INPUTS if name in kept}
    except (OSError, ValueError, TypeError, RecursionError) as error:
        msg = f"{path}: not what the first step of the action wrote: {error}"
        raise InputError(msg) from error
    others = {name: value for name, value in environment.items() if not name.startswith("INPUT_")}
    return request_of({**others, **inputs}, workspace=workspace)
