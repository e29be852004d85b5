"""`ciguard app services`: finds service calls, and the branches that depend on answers."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(short_help="Find where an application calls cognitive services.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--provider",
    "descriptions",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="TOML file that describes a further provider. May be given more than once.",
)
@click.option(
    "--labels",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File with the labels that services can return: one label per line, or a CSV file whose "
    "last column is the label.",
)
@click.option(
    "--patches",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for patches of dead conditions; apply them with `git apply` in the folder PATH.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--github", is_flag=True, help="Print in the format of a GitHub Actions log, with annotations."
)
def services(  # noqa: PLR0913 - one parameter for each option
    *,
    path: Path,
    descriptions: tuple[Path, ...],
    labels: Path | None,
    patches: Path | None,
    as_json: bool,
    github: bool,
) -> None:
    """Find where an application calls cognitive services.

    Lists the functions in PATH, a folder or a file, that call Google Cloud Vision, Language or
    Speech, or their AWS or Azure counterparts, directly or through other functions. For each it
    lists the inputs of the calls, and the branches that depend on answers. It warns of
    sub-conditions that no answer can change. Only the source code is read: nothing runs, and
    nothing is sent anywhere.

    Example: ciguard app services src/ --labels labels.txt --patches fixes/
    """
    from ciguard.levels.app.dead_conditions import (
        contradictory_conditions,
        dead_conditions,
        read_vocabulary,
    )
    from ciguard.levels.app.providers.description import read_provider
    from ciguard.levels.app.providers.registered import known_providers
    from ciguard.levels.app.repair import nearest_labels_in, repairs
    from ciguard.levels.app.reports.patches import write_patches
    from ciguard.levels.app.reports.remarks import AppRemarks
    from ciguard.levels.app.reports.services import service_lines, services_to_json
    from ciguard.levels.app.static_analysis import find_service_functions, read_application

    providers = [*known_providers(), *map(read_provider, descriptions)]
    application = read_application(path)
    functions = find_service_functions(application, providers)
    vocabulary = None if labels is None else read_vocabulary(labels)
    nearest_labels = None if vocabulary is None else nearest_labels_in(vocabulary)
    dead = [
        condition
        for function in functions
        for condition in dead_conditions(function, vocabulary, nearest_labels)
    ]
    reported = {(condition.branch, condition.text) for condition in dead}
    contradictions = (
        condition
        for function in functions
        for condition in contradictory_conditions(application, function)
    )
    dead += [
        condition
        for condition in contradictions
        if (condition.branch, condition.text) not in reported
    ]
    suggestions = {} if patches is None else repairs(application, dead)
    patch_lines = (
        () if patches is None else write_patches(application, suggestions.values(), patches)
    )
    if as_json:
        click.echo(json.dumps(services_to_json(application, functions, dead), indent=1))
        for line in patch_lines:
            click.echo(line, err=True)
        return
    lines: Iterator[str] = chain(
        service_lines(application, functions, dead, suggestions), patch_lines
    )
    if github:
        remarks = AppRemarks(application)
        remarks.add_dead_conditions(dead)
        lines = remarks.fenced(lines)
    for line in lines:
        click.echo(line)
