"""What commands share that call functions of an application: their options, and the functions."""

from __future__ import annotations

import fnmatch
import sys
from typing import TYPE_CHECKING

import click

from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ciguard.levels.app.static_analysis import Application, ServiceFunction

of_functions = click.option(
    "--function",
    "globs",
    multiple=True,
    default=["*"],
    show_default=True,
    help="Functions, by globs over their qualified names. May be given more than once.",
)
with_python = click.option(
    "--python",
    default=sys.executable,
    help="Interpreter that has what the application imports. [default: ciguard's own]",
)
unconfined = click.option(
    "--unconfined",
    is_flag=True,
    help="Run the application with what you are allowed, as its own tests would.",
)


def functions_in(path: Path, globs: Sequence[str]) -> tuple[Application, list[ServiceFunction]]:
    """Read an application, and return its functions that ask a service and are wanted.

    Raises:
        ConfigurationError: if there is none.
    """
    from ciguard.levels.app.providers.registered import known_providers
    from ciguard.levels.app.static_analysis import find, read_application

    application = read_application(path)
    found = [
        one
        for one in find(application, known_providers())
        if any(fnmatch.fnmatchcase(one.name, glob) for glob in globs)
    ]
    if not found:
        wanted = " or ".join(globs)
        msg = f"{path}: no function {wanted} asks a service. `ciguard app services` lists others."
        raise ConfigurationError(msg)
    return application, found
