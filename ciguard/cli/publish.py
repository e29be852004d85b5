"""`ciguard publish`: the results of a run on a pull request."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard.errors import ConfigurationError, ExitCode, OutputError, TrackerForbiddenError

if TYPE_CHECKING:
    from ciguard.reports import Status
    from ciguard.trackers import Connection, Head

_PATIENCE_S = 300.0


@click.command(short_help="Show the results of a run on a pull request.")
@click.argument(
    "folder", type=click.Path(path_type=Path, file_okay=False), default=Path(".ciguard/run")
)
@click.option("--check", is_flag=True, help="As a check run with annotations.")
@click.option("--comment", is_flag=True, help="As one comment, which later runs bring up to date.")
@click.option(
    "--repository",
    envvar="GITHUB_REPOSITORY",
    required=True,
    metavar="OWNER/NAME",
    help="Whose pull request it is. [default: GITHUB_REPOSITORY]",
)
@click.option(
    "--head-sha", required=True, metavar="SHA", help="Head of the pull request, not its merge."
)
@click.option("--pull-request", metavar="NUMBER", help="Where the comment goes.")
@click.option("--name", default="ciguard", show_default=True, help="Of the check.")
@click.option(
    "--comment-as",
    metavar="LOGIN",
    default="github-actions[bot]",
    show_default=True,
    help="Account of the token: only its comments are touched.",
)
def publish(folder: Path, *, check: bool, comment: bool, **options: str) -> int:
    """Show the results in FOLDER on a pull request of GitHub, with the token in GITHUB_TOKEN.

    FOLDER may come from anybody: it is checked, and nothing in it says where to write. Without the
    permission for a check run, its annotations are written as commands of the workflow's log.
    """
    from ciguard.reports import lost_status, receive_run, status_of  # noqa: PLC0415 - not for `--help`
    from ciguard.trackers import Head, repository_of  # noqa: PLC0415

    if not (check or comment):
        msg = "nothing to do: say --check, --comment, or both."
        raise ConfigurationError(msg)
    to = repository_of(options["repository"], os.environ)
    head = Head(sha=options["head_sha"], name=options["name"])
    if comment and not options["pull_request"]:
        msg = "--comment: on which pull request? Give --pull-request NUMBER."
        raise ConfigurationError(msg)
    lost: OutputError | None = None
    try:
        status = status_of(receive_run(folder), folder)
    except OutputError as error:
        status, lost = lost_status("The results of the run are missing or damaged."), error
    if check:
        _check(to, head, status)
    if comment:
        _comment(to, head, status, options)
    if lost is not None:
        click.echo(f"ciguard: error: {lost}", err=True)
        return ExitCode.INTERNAL
    return ExitCode.CLEAN


def _check(to: Connection, head: Head, status: Status) -> None:
    from ciguard.reports import workflow_commands  # noqa: PLC0415
    from ciguard.trackers import Check, Patience, page_of_run, publish_check  # noqa: PLC0415

    said = Check(
        conclusion=status.conclusion,
        title=status.title,
        summary=status.summary,
        remarks=status.remarks,
        details=page_of_run(os.environ, to.repository),
    )
    try:
        _require_token(to, "checks: write")
        click.echo(publish_check(to, head, said, patience=Patience(_PATIENCE_S)))
    except TrackerForbiddenError as error:
        click.echo(f"no check run: {error}", err=True)
        click.echo("No check run, for want of permission: annotations of this log instead.")
        for command in workflow_commands(list(status.remarks)):
            click.echo(command)
        sys.stdout.flush()


def _require_token(to: Connection, permission: str) -> None:
    if not to.token:
        msg = f"there is no token in GITHUB_TOKEN or GH_TOKEN; it takes one with `{permission}`"
        raise TrackerForbiddenError(msg)


def _comment(to: Connection, head: Head, status: Status, options: dict[str, str]) -> None:
    from ciguard.trackers import Comment, Patience, publish_comment, pull_request_number  # noqa: PLC0415

    said = Comment(
        number=pull_request_number(options["pull_request"]),
        body=_comment_text(status, head, to.repository),
        head=head,
        author=options["comment_as"],
    )
    try:
        _require_token(to, "pull-requests: write")
        click.echo(publish_comment(to, said, patience=Patience(_PATIENCE_S)))
    except TrackerForbiddenError as error:
        click.echo(f"No comment: {error}", err=True)


def _comment_text(status: Status, head: Head, repository: str) -> str:
    from ciguard.trackers import page_of_run  # noqa: PLC0415

    page = page_of_run(os.environ, repository)
    results = f" · [results]({page})" if page else ""
    return f"{status.summary}\n<sub>Of commit {head.sha[:12]}{results}</sub>\n"
