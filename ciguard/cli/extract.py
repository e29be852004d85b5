"""`ciguard api extract`: write the constraints of a library, or of documentation in a file."""

from __future__ import annotations

from pathlib import Path

import click

from ciguard.cli.options import example
from ciguard.domain.text import visible

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(
    short_help="Extract constraints from a library or from documentation.",
    epilog=example("ciguard api extract --target torch==2.13.0"),
)
@click.option(
    "--target", metavar="TARGET", help="Target to extract the constraints from, e.g. torch==2.13.0."
)
@click.option(
    "--docs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with documentation, in JSON Lines with one object per parameter. With this "
    "option, no target is imported.",
)
@click.option(
    "--rules",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with rules from `ciguard api learn`, for --docs. "
    "[default: the rules that ciguard ships]",
)
@click.option(
    "--out",
    type=_FILE,
    help="File to write the constraints to, in JSON Lines. [default: LIBRARY-VERSION.jsonl]",
)
@click.option(
    "--documentation",
    type=_FILE,
    help="File to write defects of the library's documentation to, in JSON Lines.",
)
def extract(
    *,
    target: str | None,
    docs: Path | None,
    rules: Path | None,
    out: Path | None,
    documentation: Path | None,
) -> None:
    """Write the constraints of a library's APIs, or of documentation in a file, to a file.

    With --target, the file has one line per API: its parameters, their constraints and the
    evidence. A summary shows how much is known, and what was skipped and why. With --docs, the file
    has one line per parameter. docs/knowledge.md describes the formats.
    """
    if (target is None) == (docs is None):
        msg = "give either --target or --docs, e.g. --target torch==2.13.0"
        raise click.UsageError(msg)
    if target is not None:
        _from_target(target, out, documentation)
    if docs is not None:
        _from_documentation(docs, out, rules)


def _from_target(target: str, out: Path | None, documentation: Path | None) -> None:
    from ciguard.campaign import extract as extract_from
    from ciguard.knowledge import constraint_lines
    from ciguard.oracles import documentation_findings
    from ciguard.reports import (
        documentation_text,
        extraction_lines,
        write_atomically,
    )

    knowledge = extract_from(
        target, refresh=True, on_step=lambda step: click.echo(visible(step), err=True)
    ).known
    origin = knowledge.provenance
    path = out or Path(f"{origin.library}-{origin.version}.jsonl")
    write_atomically(path, "".join(constraint_lines(knowledge)))
    findings = documentation_findings([*knowledge.records.values()], origin.library)
    for line in extraction_lines(knowledge, findings):
        click.echo(line)
    click.echo(f"  written: {path} ({path.stat().st_size / 1e6:.1f} MB)")
    if documentation is not None:
        write_atomically(documentation, documentation_text(findings))
        click.echo(f"  written: {documentation} ({len(findings)} findings)")


def _from_documentation(docs: Path, out: Path | None, rules: Path | None) -> None:
    from ciguard.knowledge import extract_from_file

    if out is None:
        msg = "--docs needs --out: name the file to write the constraints to"
        raise click.UsageError(msg)
    parameters, constrained = extract_from_file(docs, out, rules=rules)
    click.echo(f"{out}: {parameters} parameters, {constrained} with a constraint")
