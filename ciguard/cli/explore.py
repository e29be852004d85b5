"""`ciguard app explore`: functions of an application, called with made answers of services."""

from __future__ import annotations

import fnmatch
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard import interrupts
from ciguard.errors import ConfigurationError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.applications.finding import Application, ServiceFunction


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


@click.command(short_help="Call functions with made answers of cognitive services.")
@click.argument("path", type=click.Path(path_type=Path))
@of_functions
@with_python
@unconfined
@click.option(
    "--seconds",
    type=click.FloatRange(min=1.0),
    default=60.0,
    show_default=True,
    help="Time for one function.",
)
@click.option("--github", is_flag=True, help="As the log of a GitHub step, with annotations.")
def explore(  # noqa: PLR0913 - one for each option
    *,
    path: Path,
    globs: tuple[str, ...],
    python: str,
    unconfined: bool,
    seconds: float,
    github: bool,
) -> None:
    """Call an application's functions with made answers of cognitive services.

    Each function in PATH that asks Google Cloud Vision, Language or Speech, AWS Rekognition or
    Comprehend, or their Azure counterparts, is run with answers that are made from what its
    conditions compare with, beside empty and many results; no service is asked. Tells which
    outcomes of its sub-conditions were met, and which answers make it fail.

    The application's code runs confined: it reads its own folder and its interpreter's, writes a
    folder of its own, starts no processes and connects to nobody, unless --unconfined allows it.
    Exit code 1 if an answer makes a function fail.
    """
    from ciguard.applications.exploring import Surroundings
    from ciguard.applications.exploring import explore as explored_in
    from ciguard.reports import AppRemarks, explored_lines, unread_lines

    application, found = functions_in(path, globs)
    remarks = AppRemarks(application)
    failed = []

    def lines() -> Iterator[str]:
        around = Surroundings(is_confined=not unconfined)
        for one in explored_in(
            application, found, python=python, budget_s=seconds, surroundings=around
        ):
            remarks.note_explored(one)
            if one.crashes or one.hangs:
                failed.append(one)
            yield from explored_lines(one)
        yield from unread_lines(application)

    with interrupts.raised():
        for line in remarks.fenced(lines()) if github else lines():
            click.echo(line)
    sys.exit(ExitCode.FINDINGS if failed else ExitCode.CLEAN)


def functions_in(path: Path, globs: Sequence[str]) -> tuple[Application, list[ServiceFunction]]:
    """Read an application, and return its functions that ask a service and are wanted.

    Raises:
        ConfigurationError: if there is none.
    """
    from ciguard.applications import known_providers
    from ciguard.applications.finding import (
        find,
        read_application,
    )

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
