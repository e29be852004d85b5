"""The inputs of the action: the valid values of each, and the setting that each input sets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from ciguard.config import LEVEL_SETTINGS, OWN_LEVELS, SETTINGS
from ciguard.domain.text import visible
from ciguard.errors import CiguardError, suggestion
from ciguard.targets import DEVICE_PATTERN

if TYPE_CHECKING:
    from collections.abc import Mapping

_BOOLEANS = ("true", "false")


class InputError(CiguardError):
    """An input of the action has an invalid value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionInput:
    """The description of one input."""

    name: str
    setting: str = ""
    """Key of the setting that the input sets; empty if the action itself reads the input."""
    choices: tuple[str, ...] = ()
    """All valid values; empty if `setting` or `pattern` decides which values are valid."""
    pattern: str = ""
    """Regular expression of valid values; empty if any text is valid."""
    remedy: str = ""
    """Description of valid values, as the end of the sentence `Write …`, if there is a pattern."""

    def check(self, text: str) -> str:
        """Return the value without surrounding whitespace.

        Raises:
            InputError: if the value is invalid; the message describes valid values.
        """
        value = text.strip()
        if value and (reason := self._error_reason(value)):
            msg = f"input {self.name!r} = {visible(value, limit=80)!r}: {reason}"
            raise InputError(msg)
        return value

    def _error_reason(self, value: str) -> str:
        """Return why a value is invalid; empty if it is valid."""
        if self.setting:
            return _setting_error(self.setting, value)
        if self.choices and value not in self.choices:
            return f"not a valid choice.{suggestion(value, self.choices)}"
        if self.pattern and not re.fullmatch(self.pattern, value):
            return f"not valid. Write {self.remedy}."
        return ""


def _setting_error(key: str, value: str) -> str:
    kind = SETTINGS[key].kind
    try:
        kind.from_text(value)
    except ValueError as error:
        return f"{str(error).rstrip('.')}. Write {kind.remedy}."
    return ""


def _boolean(name: str) -> ActionInput:
    return ActionInput(name=name, choices=_BOOLEANS)


def _setting(name: str, key: str = "") -> ActionInput:
    return ActionInput(name=name, setting=key or name)


def _level_inputs() -> list[ActionInput]:
    """Return the inputs of the built-in levels; `action.yml` has no inputs of other levels."""
    settings = [setting for name in OWN_LEVELS for setting in LEVEL_SETTINGS.get(name).settings]
    return [_setting(setting.key) for setting in settings if setting.is_input]


_JOB = r"[\w.-]{1,200}"
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*=[^\n]*"
_DEVICES = rf"(?:{DEVICE_PATTERN})(?:[,\s]+(?:{DEVICE_PATTERN}))*,?"
_LABELS = r'[\w.,:+ \n-]+|\[[\w.,:+ "-]+\]'

INPUTS: Mapping[str, ActionInput] = MappingProxyType(
    {
        item.name: item
        for item in (
            ActionInput(name="task", choices=("guard", "plan", "shard", "merge", "file")),
            ActionInput(name="mode", choices=("auto", "pull-request", "batch")),
            _setting("targets"),
            _setting("base"),
            ActionInput(name="wheel"),
            ActionInput(name="base-wheel"),
            _setting("levels"),
            _setting("api"),
            *_level_inputs(),
            _setting("budget"),
            ActionInput(name="config"),
            _setting("baseline"),
            _setting("fail-on"),
            _setting("min-detection"),
            _setting("policy"),
            _setting("seed"),
            _setting("jobs"),
            _setting("memory"),
            _setting("out"),
            _boolean("file-issues"),
            _setting("issue-marker"),
            _setting("issue-labels"),
            _setting("issue-assignees"),
            _setting("issues-per-run"),
            _setting("issues-security"),
            _setting("dry-run"),
            ActionInput(
                name="devices",
                pattern=_DEVICES,
                remedy="cpu, cuda, or GPUs by number such as cuda:0, cuda:1",
            ),
            ActionInput(
                name="runner", pattern=_LABELS, remedy="labels of a runner such as ubuntu-24.04"
            ),
            ActionInput(
                name="gpu-runner", pattern=_LABELS, remedy="labels of a runner such as gpu-t4"
            ),
            ActionInput(name="shards", pattern=r"[1-9]\d{0,2}", remedy="a number from 1 to 256"),
            ActionInput(name="job", pattern=_JOB, remedy="the name of a job of the plan"),
            ActionInput(name="plan"),
            ActionInput(name="results"),
            ActionInput(name="plugins"),
            ActionInput(
                name="environment",
                pattern=rf"{_VARIABLE}(\n\s*{_VARIABLE})*",
                remedy="one variable per line, as NAME=value",
            ),
            ActionInput(name="index-url"),
            _boolean("check"),
            _boolean("comment"),
            _boolean("sarif"),
            _boolean("cache"),
            ActionInput(
                name="artifact",
                pattern=r'[^"/:<>|*?\\\r\n]{1,200}',
                remedy="a name without the characters / and :",
            ),
            ActionInput(name="github-token"),
            ActionInput(name="security-token"),
        )
    }
)
"""All inputs by name. A test checks that `action.yml` declares the same inputs."""


def variable_of(name: str) -> str:
    """Return the environment variable that passes an input to a step."""
    return "INPUT_" + name.upper().replace("-", "_")


def read_inputs(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the values of all inputs that are set, by name.

    Raises:
        InputError: for the first input with an invalid value.
    """
    values = {
        name: known.check(environment.get(variable_of(name), "")) for name, known in INPUTS.items()
    }
    return {name: value for name, value in values.items() if value}
