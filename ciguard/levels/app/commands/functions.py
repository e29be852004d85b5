"""Options shared by the commands that call an application's functions."""

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

function_option = click.option(
    "--function",
    "globs",
    multiple=True,
    default=["*"],
    show_default=True,
    help="Glob of the functions to call, by qualified name. May be given more than once.",
)
python_option = click.option(
    "--python",
    default=sys.executable,
    help="Path of a Python interpreter with the packages that the application imports. [default: "
    "the Python that runs ciguard]",
)
unconfined_option = click.option(
    "--unconfined",
    is_flag=True,
    help="Run the application without confinement, with your own permissions.",
)

stub_option = click.option(
    "--stub",
    "stubs",
    multiple=True,
    metavar="PACKAGE",
    help="Package in place of which a stub is imported, such as one that needs a network or a "
    "database. May be given more than once. Packages that are not installed are stubbed anyway.",
)


def functions_in(path: Path, globs: Sequence[str]) -> tuple[Application, list[ServiceFunction]]:
    """Read an application, and return its functions that call a service and match a glob.

    Raises:
        ConfigurationError: if there is no such function, or the application cannot be read.
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
        raise ConfigurationError(_nothing_to_call(path, globs, application))
    return application, functions


def _nothing_to_call(path: Path, globs: Sequence[str], application: Application) -> str:
    """Return why there is no function to call: no file could be read, or none calls a service."""
    unread = [f"{one.file}: {one.reason}" for one in application.unreadable_files]
    if unread and not application.modules:
        return f"{path}: no file could be read. {'; '.join(unread)}"
    skipped = f" These files could not be read: {'; '.join(unread)}." if unread else ""
    return (
        f"{path}: no function that matches {' or '.join(globs)} calls a service.{skipped} "
        f"`ciguard app services {path}` lists all functions that do."
    )
