"""`ciguard services`: where an application calls cognitive services, and what answers decide."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command(short_help="Find where an application calls cognitive services.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--provider",
    "descriptions",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="Description of a further provider, TOML. May be given more than once.",
)
@click.option(
    "--labels",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Labels that services can answer: one in each line, or last in the lines of a CSV file.",
)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--github", is_flag=True, help="As the log of a GitHub step, with annotations.")
def services(
    *,
    path: Path,
    descriptions: tuple[Path, ...],
    labels: Path | None,
    as_json: bool,
    github: bool,
) -> None:
    """Find where an application calls cognitive services.

    Lists the functions in PATH, a folder or a file, that call Google Cloud Vision, Language or
    Speech, their AWS or Azure counterparts, themselves or through others; what they are asked
    about; the branches that their answers decide; and sub-conditions that are the same whatever the
    answer is. Reads the text only: nothing of it is run, nothing is sent anywhere.
    """
    from ciguard.applications import (  # noqa: PLC0415 - not for `--help`
        contradictory_conditions,
        dead_conditions,
        find,
        known_providers,
        read_application,
        read_provider,
        read_vocabulary,
    )
    from ciguard.reports import AppRemarks, services_lines, services_to_json  # noqa: PLC0415

    providers = [*known_providers(), *map(read_provider, descriptions)]
    application = read_application(path)
    found = find(application, providers)
    vocabulary = None if labels is None else read_vocabulary(labels)
    dead = [dead for one in found for dead in dead_conditions(one, vocabulary)]
    told = {(one.branch, one.text) for one in dead}
    proved = (dead for one in found for dead in contradictory_conditions(application, one))
    dead += [one for one in proved if (one.branch, one.text) not in told]
    if as_json:
        click.echo(json.dumps(services_to_json(application, found, dead), indent=1))
        return
    lines = services_lines(application, found, dead)
    if github:
        remarks = AppRemarks(application)
        remarks.note_dead(dead)
        lines = remarks.fenced(lines)
    for line in lines:
        click.echo(line)
