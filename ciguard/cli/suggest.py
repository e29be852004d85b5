"""`ciguard function suggest`: propose annotations for functions, as a diff to review."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ciguard.cli.options import example
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError


@click.command(
    short_help="Propose annotations for the functions of a program.",
    epilog=example("ciguard function suggest model.py | git apply"),
)
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--function",
    "pattern",
    default="*",
    metavar="GLOB",
    help="Functions to annotate, e.g. 'build_*' or 'Tokenizer.*'. [default: all public functions]",
)
@click.option(
    "--sidecar", is_flag=True, help="Print a sidecar file instead of a diff, for one FILE."
)
def suggest(files: tuple[Path, ...], pattern: str, *, sidecar: bool) -> None:
    """Propose annotations for the functions of programs, inferred from them and their project.

    Prints the reasons for each proposal and the parameters without a proposal, then a diff for
    `git apply` or `patch -p1`. FILE is parsed, never run.
    """
    if sidecar and len(files) > 1:
        msg = "--sidecar prints one file, so name one program."
        raise click.UsageError(msg)
    for file in files:
        _suggest_for(file, pattern, sidecar=sidecar)


def _suggest_for(file: Path, pattern: str, *, sidecar: bool) -> None:
    """Print the proposals for one program."""
    from ciguard.campaign import shipped_knowledge
    from ciguard.files import read_text
    from ciguard.suggesting import (
        MAX_BYTES,
        as_diff,
        as_sidecar,
        explanation_lines,
        module_of,
        other_modules_of,
        suggestions,
    )

    path = file.resolve()
    shown = Path(os.path.relpath(path)).as_posix()
    try:
        source = read_text(path, most=MAX_BYTES)
        module = module_of(source, path, path.name)
    except (OSError, ValueError) as error:
        msg = f"{visible(str(file))} cannot be read: {error}. Name a Python file in UTF-8."
        raise ConfigurationError(msg) from error
    proposals = suggestions(module, other_modules_of(path), shipped_knowledge, pattern)
    reasons = [visible(line) for line in explanation_lines(proposals)]
    if not any(item.written for item in proposals):
        click.echo(_nothing_text(visible(shown), len(proposals), pattern), err=True)
    if sidecar:
        click.echo("".join(f"{line}\n" for line in reasons), nl=False, err=True)
        click.echo(as_sidecar(path.name, proposals), nl=False)
        return
    diff = as_diff(source, path.name if shown.startswith("..") else shown, proposals)
    click.echo("".join(f"{line}\n" for line in reasons), nl=False)
    click.echo(diff, nl=False)


def _nothing_text(file: str, functions: int, pattern: str) -> str:
    """Return the sentence for a program without proposals."""
    if not functions:
        kind = "no public function" if pattern == "*" else f"no function {pattern!r}"
        return f"{file}: nothing is proposed, as it has {kind}."
    counted = "its function is" if functions == 1 else f"its {functions} functions are"
    return f"{file}: nothing is proposed, as {counted} annotated or left out."
