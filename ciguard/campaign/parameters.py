"""A run's settings as JSON: in the journal to resume from, in `run.json` to run again."""

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

_OF_THIS_COMMAND = frozenset({"out", "resume"})


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
                plain[name] = [str(one) for one in value]
            case _:
                plain[name] = value
    return plain


def resumed(config: Config, parameters: Mapping[str, Any]) -> Config:
    """Return the settings of the campaign that is resumed; the output folder is this command's.

    Raises:
        OutputError: if the campaign was started by a version whose settings mean something else.
    """
    if parameters.get("ciguard") != __version__:
        msg = (
            f"{config.out}: started by ciguard {parameters.get('ciguard')}, this is {__version__}. "
            "Resume with the version that started it, or start anew without --resume."
        )
        raise OutputError(msg)
    restored = config
    for setting in SETTINGS.values():
        name = setting.field
        if name in _OF_THIS_COMMAND or name not in parameters:
            continue
        try:
            restored = having_stored(restored, setting, parameters[name])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            msg = (
                f"{config.out}: its journal gives {name} = {parameters[name]!r:.100}, "
                "which no ciguard wrote. Start anew without --resume."
            )
            raise OutputError(msg) from error
    return restored


def having_stored(config: Config, setting: Setting[Any], stored: Any) -> Config:
    """Return settings with one of them as `parameters_of` wrote it.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if it did not write that.
    """
    read = _rules if setting.field == "rules" else _restored
    return config.having(setting, read(stored, config[setting]))


def having_shared(config: Config, campaign: Mapping[str, Any]) -> Config:
    """Return settings with those that parts of one campaign have in common; see `campaign_of`.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if no part holds such values.
    """
    for setting in SETTINGS.values():
        if setting.field in campaign:
            config = having_stored(config, setting, campaign[setting.field])
    return config


def _rules(stored: Any, _current: object) -> Any:
    return SETTINGS["policy"].kind.check([_text(one) for one in stored])


def _restored(stored: Any, current: object) -> Any:
    """Return a setting as `Config` holds it, read from JSON; `current` shows of which type."""
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
    # Not `isinstance`: `True` is an integer to Python, and none to whoever wrote it.
    if type(stored) not in allowed:
        raise TypeError(stored)
    return stored
