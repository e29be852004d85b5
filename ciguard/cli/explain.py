"""`ciguard api explain`: what an API accepts, and who said so."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError


@click.command(short_help="Show what an API accepts, and who said so.")
@click.argument("api")
@click.option(
    "--target",
    metavar="TARGET",
    help="Library to ask, e.g. torch==2.13.0; it is installed where it is not yet. "
    "[default: none; what ciguard brings along on the newest version]",
)
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File of constraints to look into, as `ciguard api extract` writes it.",
)
@click.option(
    "--learned",
    is_flag=True,
    help="Show too what campaigns on the target have learned from its answers.",
)
def explain(api: str, target: str | None, file: Path | None, *, learned: bool) -> None:
    """Show the parameters of API, what each accepts, and where that comes from.

    Without --target nothing is installed, and documentation is referred to; with it, its words are
    shown.
    """
    from ciguard.campaign import knowledge_for, learned_of
    from ciguard.reports import explain_in

    def say(step: str) -> None:
        click.echo(visible(step), err=True)

    if learned and target is None:
        msg = "--learned: name the target whose campaigns are meant, e.g. --target torch==2.13.0."
        raise ConfigurationError(msg)
    known, listed = knowledge_for(api, target=target, file=file, on_step=say)
    origin = f"{known.provenance.library} {visible(known.provenance.version)}"
    found = known.api(listed)
    taught = learned_of(found.record, target, on_step=say) if learned and target else None
    explain_in(sys.stdout, found, origin=origin, learned=taught)
