"""`ciguard app explore`: calls functions of an application with stub responses of services."""

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


@click.command(short_help="Call functions with stub responses of cognitive services.")
@click.argument("path", type=click.Path(path_type=Path))
@of_functions
@with_python
@unconfined
@click.option(
    "--seconds",
    type=click.FloatRange(min=1.0),
    default=60.0,
    show_default=True,
    help="Time limit of one function, in seconds.",
)
@click.option("--github", is_flag=True, help="Print as the log of a GitHub step, with annotations.")
def explore(  # noqa: PLR0913 - one for each option
    *,
    path: Path,
    globs: tuple[str, ...],
    python: str,
    unconfined: bool,
    seconds: float,
    github: bool,
) -> None:
    """Call an application's functions with stub responses of cognitive services.

    Runs each function in PATH that calls Google Cloud Vision, Language or Speech, AWS Rekognition
    or Comprehend, or their Azure counterparts. The stub responses are made from the values that its
    conditions compare with, and include empty and long results. No service is called. Reports the
    outcomes of sub-conditions that were reached, and the responses that make a function fail.

    The application's code runs confined: it can read its own folder and its interpreter's, and
    write to a temporary folder. It can start no processes and open no connections, unless
    --unconfined is given. Exit code 1 if a response makes a function fail.

    Example: ciguard app explore src/ --function 'shop.*'
    """
    from ciguard.levels.app.exploration import ProcessEnvironment
    from ciguard.levels.app.exploration import explore as explore_functions
    from ciguard.levels.app.reports.remarks import AppRemarks
    from ciguard.levels.app.reports.services import explored_lines, unread_lines

    application, functions = functions_in(path, globs)
    remarks = AppRemarks(application)
    failed = []

    def lines() -> Iterator[str]:
        process_environment = ProcessEnvironment(is_confined=not unconfined)
        for explored in explore_functions(
            application,
            functions,
            python=python,
            budget_s=seconds,
            process_environment=process_environment,
        ):
            remarks.note_explored(explored)
            if explored.crashes or explored.hangs:
                failed.append(explored)
            yield from explored_lines(explored)
        yield from unread_lines(application)

    with interrupts.raised():
        for line in remarks.fenced(lines()) if github else lines():
            click.echo(line)
    sys.exit(ExitCode.FINDINGS if failed else ExitCode.CLEAN)
