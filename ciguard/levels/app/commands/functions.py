"""Shared options of commands that call functions of an application."""

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
    help="Glob of qualified names of functions to call. May be given more than once.",
)
with_python = click.option(
    "--python",
    default=sys.executable,
    help="Interpreter with the packages that the application imports. [default: ciguard's own]",
)
unconfined = click.option(
    "--unconfined",
    is_flag=True,
    help="Run the application without confinement, with your own permissions.",
)


def functions_in(path: Path, globs: Sequence[str]) -> tuple[Application, list[ServiceFunction]]:
    """Read an application, and return its functions that call a service and match a glob.

    Raises:
        ConfigurationError: if there is none.
    """
    from ciguard.levels.app.providers.registered import known_providers
    from ciguard.levels.app.static_analysis import find_service_functions, read_application

    application = read_application(path)
    functions = [
        function
        for function in find_service_functions(application, known_providers())
        if any(fnmatch.fnmatchcase(function.name, glob) for glob in globs)
    ]
    if not functions:
        wanted = " or ".join(globs)
        msg = f"{path}: no function {wanted} calls a service. `ciguard app services` lists all."
        raise ConfigurationError(msg)
    return application, functions
