"""`ciguard explain`: what an API accepts, and who said so."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ciguard.domain import visible


@click.command(short_help="Show what an API accepts, and who said so.")
@click.argument("api")
@click.option(
    "--target",
    metavar="TARGET",
    help="Library and version, e.g. torch==2.13.0. [default: the newest that ciguard brings along]",
)
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File of constraints to look into, as `ciguard extract` writes it.",
)
def explain(api: str, target: str | None, file: Path | None) -> None:
    """Show the parameters of API, what each accepts, and where that comes from.

    Nothing is installed where the constraints of the library's version come with ciguard.
    """
    from ciguard.campaign import knowledge_for  # noqa: PLC0415 - not for `--help`
    from ciguard.reports import explain_in  # noqa: PLC0415

    known, listed = knowledge_for(
        api, target=target, file=file, on_step=lambda step: click.echo(visible(step), err=True)
    )
    origin = f"{known.provenance.library} {visible(known.provenance.version)}"
    explain_in(sys.stdout, known.api(listed), origin=origin)
