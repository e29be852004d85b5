"""`ciguard init`: the workflows and the configuration of a repository."""

from __future__ import annotations

import os
from pathlib import Path

import click


@click.command(short_help="Write workflows and a configuration for this repository.")
@click.option(
    "--action",
    "action_text",
    metavar="OWNER/NAME@COMMIT",
    default="",
    help="Where the workflows take ciguard from. [default: where this copy is from]",
)
@click.option("--force", is_flag=True, help="Replace files that say something else.")
def init(action_text: str, *, force: bool) -> None:
    """Look at the repository, write workflows for pull requests, nights and issues, and a config.

    What exists and says something else is left alone; a second call changes nothing.
    """
    from ciguard.actions import (  # noqa: PLC0415 - `--help` needs none of these
        action_source,
        contents,
        look_at,
        write_all,
    )
    from ciguard.config import SourceKind, load_config  # noqa: PLC0415
    from ciguard.domain import visible  # noqa: PLC0415
    from ciguard.project import this_project  # noqa: PLC0415

    root = Path.cwd()
    source = action_source(action_text, project=this_project())
    settings = load_config({}, os.environ, folder=root)
    found = look_at(
        root,
        chosen=settings.config.targets,
        are_chosen=settings.sources["targets"].kind is not SourceKind.DEFAULT,
    )
    files = contents(found, source)
    if settings.file is not None and settings.file.name != "ciguard.toml":
        files.pop("ciguard.toml")
        click.echo(f"The configuration stays in {visible(settings.file.name)}.")
    for reason in found.reasons:
        click.echo(visible(reason))
    if not source.is_pinned:
        click.echo(
            f"{visible(source.ref)} is no commit: whoever moves it decides what your workflows run."
        )
    for written in write_all(files, root, force=force):
        click.echo(f"{written.path.relative_to(root)}: {written.fate.value}")
    click.echo("Commit them. The first night establishes the baseline; docs/action.md tells more.")
