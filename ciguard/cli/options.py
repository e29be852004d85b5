"""Command-line options that are generated from the settings."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import click

from ciguard.cli.session import Session
from ciguard.config import SETTINGS, Setting, load_config

Command: TypeAlias = Callable[..., Any]


def example(command: str) -> str:
    r"""Return an example as the epilog of a command's help; `\b` stops click from wrapping it."""
    return f"\b\nExample:\n  {command}"


def takes_settings(*keys: str) -> Callable[[Command], Command]:
    """Return a decorator that adds an option for each of the named settings to a command.

    The command gets the effective settings as its argument `settings`.

    Args:
        keys: keys of the settings, such as `case-limit`.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_settings(*arguments: object, **options: Any) -> Any:
            flags = {key: options.pop(SETTINGS[key].field) for key in keys}
            settings = load_config(flags, os.environ, folder=Path.cwd())
            click.get_current_context().ensure_object(Session).folder = settings.config.out
            return command(*arguments, settings=settings, **options)

        decorated: Command = with_settings
        for key in reversed(keys):
            decorated = _option(SETTINGS[key])(decorated)
        return decorated

    return decorate


def _option(setting: Setting[Any]) -> Callable[[Command], Command]:
    kind = setting.kind
    if not kind.metavar:
        return click.option(
            setting.flag, setting.field, is_flag=True, default=None, help=setting.help
        )
    if kind.is_list:
        default = " ".join(setting.default)
        usage = "May be given more than once."
    else:
        default = kind.show(setting.default)
        usage = ""
    shown = f"[default: {default}]" if default else ""
    return click.option(
        setting.flag,
        setting.field,
        metavar=kind.metavar,
        multiple=kind.is_list,
        help=" ".join(part for part in (setting.help, usage, shown) if part),
    )
