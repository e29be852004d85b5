"""`ciguard function export`: annotated functions as plain Hypothesis tests."""

from __future__ import annotations

from pathlib import Path

import click

from ciguard.cli.options import example


@click.command(
    short_help="Write annotated functions as plain Hypothesis tests.",
    epilog=example("ciguard function export model.py --output tests"),
)
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE...",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--output",
    default=".",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the tests.  [default: the current folder]",
)
def export(*, files: tuple[Path, ...], output: Path) -> None:
    """Write tests of annotated functions; the tests need only pytest and Hypothesis.

    Each FILE is imported in a process of its own. The tests of model.py are written to
    test_model_functions.py, and draw the same inputs as `pytest --ciguard`. An existing file is
    overwritten unless its first line was changed.
    """
    from ciguard.functions.writing import export_tests

    for written in export_tests(files, output):
        click.echo(f"{written.path}: functions written: {written.functions}")
        for line in written.missing:
            click.echo(f"  not written: {line}", err=True)
