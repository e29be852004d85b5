"""`ciguard extract`: constraints from documentation."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Extract constraints from documentation.")
@click.option(
    "--docs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="Documentation given as data, JSON Lines: one object per parameter.",
)
@click.option(
    "--rules",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of rules from `ciguard learn`. [default: those that come with ciguard]",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="File for the constraints, JSON Lines.",
)
def extract(*, docs: Path, rules: Path | None, out: Path) -> None:
    """Extract the constraints that documentation states, one line per parameter.

    The form of the files: docs/knowledge.md.
    """
    from ciguard.knowledge import extract_from_file  # noqa: PLC0415 - not for `--help`

    parameters, constrained = extract_from_file(docs, out, rules=rules)
    click.echo(f"{out}: {parameters} parameters, {constrained} with a constraint")
