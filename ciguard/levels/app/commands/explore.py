"""`ciguard app explore`: functions of an application, called with made answers of services."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard import interrupts
from ciguard.errors import ExitCode
from ciguard.levels.app.commands.functions import (
    functions_in,
    of_functions,
    unconfined,
    with_python,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    from ciguard.levels.app.exploration import Surroundings
    from ciguard.levels.app.exploration import explore as explored_in
    from ciguard.levels.app.reports.remarks import AppRemarks
    from ciguard.levels.app.reports.services import explored_lines, unread_lines

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
