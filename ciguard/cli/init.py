"""`ciguard init`: the workflows and the configuration of a repository."""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from ciguard.actions import ActionSource, ScaffoldRecord

_NEXT = {
    "github": "Commit them. Merged into the default branch they establish the baseline at once; "
    "`ciguard doctor` examines the rest, and docs/action.md tells more.",
    "gitlab": "Commit them, include .gitlab/ciguard.gitlab-ci.yml in .gitlab-ci.yml, and make a "
    "schedule and a token as its first lines say. docs/other-ci.md tells more.",
    "jenkins": "Commit them, and make a multibranch pipeline of ci/ciguard.Jenkinsfile with the "
    "credentials that its first lines name. docs/other-ci.md tells more.",
    "cron": "Commit them, and add the lines of ci/ciguard.crontab to a crontab. docs/other-ci.md "
    "tells more.",
}


@click.command(short_help="Write workflows and a configuration for this repository.")
@click.option(
    "--action",
    "action_text",
    metavar="OWNER/NAME@COMMIT",
    default="",
    help="Where the workflows take ciguard from. [default: where this copy is from]",
)
@click.option(
    "--ci",
    type=click.Choice(["github", "gitlab", "jenkins", "cron"]),
    help="CI system that the files are for. [default: that of the last time, else github]",
)
@click.option(
    "--upgrade",
    "upgrades",
    is_flag=True,
    help="Merge what is new into the files that init once wrote; your changes are kept.",
)
@click.option("--force", is_flag=True, help="Replace files that differ.")
def init(action_text: str, *, ci: str | None, upgrades: bool, force: bool) -> None:
    """Look at the repository, write workflows for pull requests, nights and issues, and a config.

    What exists and differs is left alone; a second call changes nothing. What was written is
    recorded in .ciguard-init.json, which is to be committed too: --upgrade needs it.
    """
    from ciguard.actions import (
        CI_SYSTEMS,
        RECORD,
        ScaffoldRecord,
        action_source,
        read_record,
        upgrade,
        write_all,
    )
    from ciguard.domain.text import visible
    from ciguard.project import this_project

    if upgrades and force:
        msg = "--upgrade keeps your changes, --force gives them up: give one of them."
        raise click.UsageError(msg)
    root = Path.cwd()
    source = action_source(action_text, project=this_project())
    record = _forced_record(root) if force else read_record(root)
    if upgrades and record is None:
        msg = (
            f"--upgrade: there is no {RECORD}, so what init once wrote is unknown. Call "
            "`ciguard init`, which leaves files alone that differ, or give --force."
        )
        raise ConfigurationError(msg)
    record = replace(record or ScaffoldRecord(), ci=ci or (record.ci if record else CI_SYSTEMS[0]))
    files = _files(root, source, record)
    if not source.is_pinned:
        click.echo(
            f"{visible(source.ref)} is no commit: whoever moves it decides what your workflows run."
        )
    written = (
        upgrade(files, root, record) if upgrades else write_all(files, root, record, force=force)
    )
    for each in written:
        click.echo(f"{each.path.relative_to(root)}: {each.fate.value}")
    click.echo(_NEXT[record.ci])


def _forced_record(root: Path) -> ScaffoldRecord | None:
    """Return what `--force` keeps of the record: the CI system; a damaged record holds nothing."""
    from ciguard.actions import ScaffoldRecord, read_record

    try:
        record = read_record(root)
    except ConfigurationError as error:
        click.echo(f"{error} It is replaced, and --ci names the CI system.")
        return None
    return record and ScaffoldRecord(ci=record.ci)


def _files(root: Path, source: ActionSource, record: ScaffoldRecord) -> dict[str, str]:
    """Return what is to be written, and say why it is that."""
    from ciguard.actions import CONFIGURATION, contents, look_at
    from ciguard.config import DEFAULT_TARGETS, SourceKind, load_config
    from ciguard.domain.text import visible

    settings = load_config({}, os.environ, folder=root)
    are_chosen = settings.sources["targets"].kind is not SourceKind.DEFAULT
    earlier = tomllib.loads(record.written.get(CONFIGURATION, "targets = []"))
    if "targets" not in earlier:  # They follow the requirements, whatever was put beside that.
        are_chosen = False
    found = look_at(
        root,
        chosen=settings.config.targets if are_chosen else DEFAULT_TARGETS,
        are_chosen=are_chosen,
    )
    files = contents(found, source, record.ci)
    if settings.file is not None and settings.file.name != CONFIGURATION:
        files.pop(CONFIGURATION)
        click.echo(f"The configuration stays in {visible(settings.file.name)}.")
    for reason in found.reasons:
        click.echo(visible(reason))
    return files
