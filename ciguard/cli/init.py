"""`ciguard init`: write the workflows and the configuration of a repository."""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard.cli.options import example
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from ciguard.actions import ActionSource, ScaffoldRecord

_NEXT = {
    "github": (
        "Commit these files, and merge them into the default branch, whose first run "
        "establishes the baseline. `ciguard doctor` checks the rest. See docs/action.md."
    ),
    "gitlab": (
        "Commit these files. Include .gitlab/ciguard.gitlab-ci.yml in .gitlab-ci.yml, and "
        "create the schedule and the token that its first lines describe. See "
        "docs/other-ci.md."
    ),
    "jenkins": (
        "Commit these files, and create a multibranch pipeline from ci/ciguard.Jenkinsfile "
        "with the credentials that its first lines name. See docs/other-ci.md."
    ),
    "cron": (
        "Commit these files, and add the lines of ci/ciguard.crontab to a crontab. See "
        "docs/other-ci.md."
    ),
}
"""Next step for the user, by CI system."""


@click.command(
    short_help="Write workflows and a configuration for this repository.",
    epilog=example("ciguard init --ci gitlab"),
)
@click.option(
    "--action",
    "action_text",
    metavar="OWNER/NAME@COMMIT",
    default="",
    help="Repository and commit of ciguard that the workflows use. [default: those of the "
    "installed ciguard]",
)
@click.option(
    "--ci",
    type=click.Choice(["github", "gitlab", "jenkins", "cron"]),
    help="CI system to write files for. [default: the CI system of the last `ciguard init`, "
    "else github]",
)
@click.option(
    "--upgrade",
    "upgrades",
    is_flag=True,
    help="Merge newer templates into the files that `ciguard init` wrote; your changes are kept.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def init(action_text: str, *, ci: str | None, upgrades: bool, force: bool) -> None:
    """Write a configuration and workflows for pull requests, nightly runs and issues.

    The files are adapted to the repository. Existing files with other content are not changed, and
    a second call changes nothing. .ciguard-init.json records what was written; commit it too, since
    --upgrade needs it.
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
        msg = "--upgrade keeps your changes, --force discards them: use only one of them."
        raise click.UsageError(msg)
    root = Path.cwd()
    source = action_source(action_text, project=this_project())
    record = _forced_record(root) if force else read_record(root)
    if upgrades and record is None:
        msg = (
            f"--upgrade needs {RECORD}, which records what `ciguard init` wrote, but "
            "there is no such file. Run `ciguard init`; it keeps files that you changed, "
            "unless you add --force."
        )
        raise ConfigurationError(msg)
    record = replace(record or ScaffoldRecord(), ci=ci or (record.ci if record else CI_SYSTEMS[0]))
    files = _files(root, source, record)
    if not source.is_pinned:
        click.echo(
            f"{visible(source.ref)} is not a commit hash: anyone who can move that branch or tag "
            "controls your workflows."
        )
    written = (
        upgrade(files, root, record) if upgrades else write_all(files, root, record, force=force)
    )
    for file in written:
        click.echo(f"{file.path.relative_to(root)}: {file.change.value}")
    click.echo(_NEXT[record.ci])


def _forced_record(root: Path) -> ScaffoldRecord | None:
    """Return a record with only the CI system, all that `--force` keeps; None if it is damaged."""
    from ciguard.actions import ScaffoldRecord, read_record

    try:
        record = read_record(root)
    except ConfigurationError as error:
        click.echo(
            f"{error} The damaged file will be overwritten. Its CI system is unknown: name the CI "
            "system with --ci."
        )
        return None
    return record and ScaffoldRecord(ci=record.ci)


def _files(root: Path, source: ActionSource, record: ScaffoldRecord) -> dict[str, str]:
    """Return the content of each file by its path, and print the reasons for the content."""
    from ciguard.actions import CONFIGURATION, detect_repository, render_files
    from ciguard.config import DEFAULT_TARGETS, SourceKind, load_config
    from ciguard.domain.text import visible

    settings = load_config({}, os.environ, folder=root)
    is_configured = settings.sources["targets"].kind is not SourceKind.DEFAULT
    previous = tomllib.loads(record.written.get(CONFIGURATION, "targets = []"))
    if "targets" not in previous:  # Without that line, targets follow the requirements.
        is_configured = False
    repository = detect_repository(
        root,
        configured=settings.config.targets if is_configured else DEFAULT_TARGETS,
        is_configured=is_configured,
    )
    files = render_files(repository, source, record.ci)
    if settings.file is not None and settings.file.name != CONFIGURATION:
        files.pop(CONFIGURATION)
        click.echo(f"The existing configuration in {visible(settings.file.name)} is kept.")
    for reason in repository.reasons:
        click.echo(visible(reason))
    return files
