"""`ciguard app explore`: calls an application's functions with stub responses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard import interrupts
from ciguard.errors import ExitCode
from ciguard.levels.app.commands.functions import (
    function_option,
    functions_in,
    python_option,
    stub_option,
    unconfined_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(short_help="Call functions with stub responses of cognitive services.")
@click.argument("path", type=click.Path(path_type=Path))
@function_option
@python_option
@unconfined_option
@stub_option
@click.option(
    "--seconds",
    type=click.FloatRange(min=1.0),
    default=60.0,
    show_default=True,
    help="Time budget for each function, in seconds.",
)
@click.option(
    "--github", is_flag=True, help="Print in the format of a GitHub Actions log, with annotations."
)
def explore(  # noqa: PLR0913 - one parameter for each option
    *,
    path: Path,
    globs: tuple[str, ...],
    python: str,
    unconfined: bool,
    stubs: tuple[str, ...],
    seconds: float,
    github: bool,
) -> None:
    """Call an application's functions with stub responses of cognitive services.

    Calls each function in PATH that uses Google Cloud Vision, Language or Speech, AWS Rekognition
    or Comprehend, or their Azure counterparts. The stub responses are made from the values that the
    function's conditions compare with, and include empty and long results. No service is called.
    The report shows the outcomes of sub-conditions that were reached, and the responses that make a
    function fail.

    The application's code runs confined: it can read its own folder and its interpreter's, and
    write to a temporary folder. It can start no processes and open no connections, unless
    --unconfined is given. Exit code 1 if a response makes a function fail.

    Example: ciguard app explore src/ --function 'shop.*'
    """
    from ciguard.levels.app.exploration import ProcessEnvironment
    from ciguard.levels.app.exploration import explore as explore_functions
    from ciguard.levels.app.reports.remarks import AppRemarks
    from ciguard.levels.app.reports.services import exploration_lines, unreadable_file_lines

    application, functions = functions_in(path, globs)
    remarks = AppRemarks(application)
    failing = []

    def lines() -> Iterator[str]:
        process_environment = ProcessEnvironment(
            is_confined=not unconfined, stubs=stubs, is_lenient=True
        )
        for explored in explore_functions(
            application,
            functions,
            python=python,
            budget_s=seconds,
            process_environment=process_environment,
        ):
            remarks.add_exploration(explored)
            if explored.crashes or explored.hangs:
                failing.append(explored)
            yield from exploration_lines(explored)
        yield from unreadable_file_lines(application)

    with interrupts.raised():
        for line in remarks.fenced(lines()) if github else lines():
            click.echo(line)
    sys.exit(ExitCode.FINDINGS if failing else ExitCode.CLEAN)
