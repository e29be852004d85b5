"""`ciguard api explain`: the constraints of an API, and the evidence for each."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ciguard.cli.options import example
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError


@click.command(
    short_help="Show the constraints of an API, and the evidence for each.",
    epilog=example("ciguard api explain torch.nn.functional.fold --target torch==2.13.0"),
)
@click.argument("api")
@click.option(
    "--target",
    metavar="TARGET",
    help="Target to inspect, e.g. torch==2.13.0; the target is installed if needed. [default: "
    "none; shows ciguard's own constraints for the newest version that ciguard knows]",
)
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File of constraints to read, written by `ciguard api extract`.",
)
@click.option(
    "--learned",
    is_flag=True,
    help="Also show the constraints that campaigns on the target learned from observed calls.",
)
def explain(api: str, target: str | None, file: Path | None, *, learned: bool) -> None:
    """Show the parameters of API, the constraints of each, and the evidence for them.

    Without --target, nothing is installed, and sentences of the documentation are only referenced.
    With --target, these sentences are shown.
    """
    from ciguard.campaign import knowledge_for, learned_constraints
    from ciguard.reports import write_explanation

    def show_step(step: str) -> None:
        click.echo(visible(step), err=True)

    if learned and target is None:
        msg = (
            "--learned needs the target of the campaigns. Add --target, e.g. --target "
            "torch==2.13.0."
        )
        raise ConfigurationError(msg)
    knowledge, api_name = knowledge_for(api, target=target, file=file, on_step=show_step)
    origin = f"{knowledge.provenance.library} {visible(knowledge.provenance.version)}"
    api_knowledge = knowledge.api(api_name)
    refinements = (
        learned_constraints(api_knowledge.record, target, on_step=show_step)
        if learned and target
        else None
    )
    write_explanation(sys.stdout, api_knowledge, origin=origin, learned=refinements)
