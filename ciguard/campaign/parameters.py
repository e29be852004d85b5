"""Settings of a run as JSON, in the journal for resuming and in `run.json` for repeating it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard import __version__
from ciguard.config import SETTINGS, Config, GitBranch, location_text, parse_location
from ciguard.domain.findings import Severity
from ciguard.domain.shards import Shard, parse_shard
from ciguard.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.config import Setting

_NOT_RESTORED = frozenset({"out", "resume"})


def parameters_of(config: Config) -> dict[str, Any]:
    """Return the settings as plain JSON values."""
    plain: dict[str, Any] = {"ciguard": __version__}
    for setting in SETTINGS.values():
        value, name = config[setting], setting.field
        match value:
            case Path() | GitBranch():
                plain[name] = location_text(value)
            case Shard():
                plain[name] = str(value)
            case Severity():
                plain[name] = value.label
            case tuple():
                plain[name] = [str(item) for item in value]
            case _:
                plain[name] = value
    return plain


def resumed(config: Config, parameters: Mapping[str, Any]) -> Config:
    """Return the settings of the run to resume; only the output folder is that of this command.

    Raises:
        OutputError: if another version of ciguard started the run, or its settings are malformed.
    """
    if parameters.get("ciguard") != __version__:
        msg = (
            f"{config.out}: started by ciguard {parameters.get('ciguard')}, this is {__version__}. "
            "Resume with the version that started it, or start a new run without --resume."
        )
        raise OutputError(msg)
    restored = config
    for setting in SETTINGS.values():
        name = setting.field
        if name in _NOT_RESTORED or name not in parameters:
            continue
        try:
            restored = having_stored(restored, setting, parameters[name])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            msg = (
                f"{config.out}: its journal gives {name} = {parameters[name]!r:.100}, "
                "which is invalid. Start a new run without --resume."
            )
            raise OutputError(msg) from error
    return restored


def having_stored(config: Config, setting: Setting[Any], stored: Any) -> Config:
    """Return the settings with one value replaced, given as `parameters_of` wrote it.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if the value is malformed.
    """
    read = _rules if setting.field == "rules" else _restored
    return config.with_value(setting, read(stored, config[setting]))


def having_shared(config: Config, campaign: Mapping[str, Any]) -> Config:
    """Return the settings with those that all parts of a campaign share; see `campaign_of`.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if a value is malformed.
    """
    for setting in SETTINGS.values():
        if setting.field in campaign:
            config = having_stored(config, setting, campaign[setting.field])
    return config


def _rules(stored: Any, _current: object) -> Any:
    return SETTINGS["policy"].kind.check([_text(item) for item in stored])


def _restored(stored: Any, current: object) -> Any:
    """Return the value of a setting, read from JSON; its type is that of `current`."""
    match current:
        case Path() | GitBranch():
            return parse_location(_of_type(stored, str))
        case Shard():
            return parse_shard(_of_type(stored, str))
        case Severity():
            return Severity[stored.upper()]
        case tuple():
            return tuple(map(_text, stored))
        case bool() | int() | str():
            return _of_type(stored, type(current))
        case float():
            return float(_of_type(stored, type(current), int))
        case _:
            raise TypeError(type(current))


def _text(stored: object) -> str:
    return str(_of_type(stored, str))


def _of_type(stored: Any, *allowed: type) -> Any:
    # Not `isinstance`, to which `True` is an integer.
    if type(stored) not in allowed:
        raise TypeError(stored)
    return stored
