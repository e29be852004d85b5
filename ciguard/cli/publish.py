"""`ciguard publish`: the results of a run on a pull request."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ciguard.errors import ConfigurationError, ExitCode, OutputError, TrackerForbiddenError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.reports import ReceivedRun, Status
    from ciguard.trackers import Connection, Head

_PATIENCE_S = 300.0


@click.command(short_help="Show the results of a run on a pull request.")
@click.argument(
    "folder", type=click.Path(path_type=Path, file_okay=False), default=Path(".ciguard/run")
)
@click.option("--check", is_flag=True, help="As a check run with annotations.")
@click.option(
    "--comment",
    is_flag=True,
    help="As one comment, which is written once something fails, and kept up to date from then on.",
)
@click.option("--sarif", is_flag=True, help="As alerts of code scanning.")
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
@click.option("--pull-request", metavar="NUMBER", default="", help="Where the comment goes.")
@click.option(
    "--head-repository",
    metavar="OWNER/NAME",
    default="",
    help="With --head-branch, instead of --pull-request: it is the open one that has this head.",
)
@click.option("--head-branch", metavar="NAME", default="", help="See --head-repository.")
@click.option(
    "--ref",
    metavar="REF",
    default="",
    help="What --sarif is of.  [default: head of the pull request]",
)
@click.option(
    "--name",
    default="ciguard",
    show_default=True,
    help="Of the check; tells the comments and the alerts of several projects apart, too.",
)
@click.option(
    "--comment-as",
    metavar="LOGIN",
    default="github-actions[bot]",
    show_default=True,
    help="Account of the token: only its comments are touched.",
)
def publish(folder: Path, **options: Any) -> int:
    """Show the results in FOLDER on a pull request of GitHub, with the token in GITHUB_TOKEN.

    FOLDER may come from anybody: it is checked, and nothing in it says where to write. Without the
    permission for a check run, its annotations are written as commands of the workflow's log.
    """
    from ciguard.reports import lost_status, receive_run, status_of
    from ciguard.trackers import Head, repository_of

    _refuse_incomplete(options)
    to = repository_of(options["repository"], os.environ)
    head = Head(sha=options["head_sha"], name=options["name"])
    run: ReceivedRun | None = None
    lost: OutputError | None = None
    try:
        run = receive_run(folder)
        status = status_of(run, folder)
    except OutputError as error:
        status, lost = lost_status("The results of the run are missing or damaged."), error
    if options["check"]:
        _check(to, head, status)
    options["pull_request"] = _pull_request(to, options)
    if options["comment"] and options["pull_request"]:
        _comment(to, head, status, options)
    if options["sarif"] and run is not None:
        _upload(to, run, options)
    if lost is not None:
        click.echo(f"ciguard: error: {lost}", err=True)
        return ExitCode.INTERNAL
    return ExitCode.CLEAN


def _refuse_incomplete(options: Mapping[str, Any]) -> None:
    if not (options["check"] or options["comment"] or options["sarif"]):
        msg = "nothing to do: say --check, --comment, --sarif, or several of them."
        raise ConfigurationError(msg)
    is_found = bool(options["head_repository"] and options["head_branch"])
    if options["comment"] and not (options["pull_request"] or is_found):
        msg = (
            "--comment: on which pull request? Give --pull-request NUMBER, or --head-repository "
            "and --head-branch."
        )
        raise ConfigurationError(msg)
    if options["sarif"] and not (options["ref"] or options["pull_request"] or is_found):
        msg = "--sarif: of which branch or pull request? Give --ref REF, or --pull-request NUMBER."
        raise ConfigurationError(msg)


def _pull_request(to: Connection, options: Mapping[str, Any]) -> str:
    """Return the number that was given, or that of the pull request with this head, if any."""
    given = str(options["pull_request"])
    needs_number = options["comment"] or (options["sarif"] and not options["ref"])
    if given or not needs_number or not options["head_branch"]:
        return given
    from ciguard.trackers import Patience, PullRequestOrigin, find_pull_request

    origin = PullRequestOrigin(
        repository=options["head_repository"],
        branch=options["head_branch"],
        sha=options["head_sha"],
    )
    try:
        number = find_pull_request(to, origin, patience=Patience(_PATIENCE_S))
    except TrackerForbiddenError as error:
        click.echo(f"No comment: {error}", err=True)
        return ""
    if number:
        return str(number)
    click.echo("No comment: no open pull request has this head; a newer commit has its own run.")
    return ""


def _check(to: Connection, head: Head, status: Status) -> None:
    from ciguard.reports import workflow_commands
    from ciguard.trackers import CheckReport, Patience, page_of_run, publish_check

    said = CheckReport(
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


def _comment(to: Connection, head: Head, status: Status, options: Mapping[str, Any]) -> None:
    from ciguard.trackers import Comment, Patience, publish_comment, pull_request_number

    said = Comment(
        number=pull_request_number(options["pull_request"]),
        body=_comment_text(status, head, to.repository),
        head=head,
        author=options["comment_as"],
        is_news=status.conclusion == "failure",
    )
    try:
        _require_token(to, "pull-requests: write")
        click.echo(publish_comment(to, said, patience=Patience(_PATIENCE_S)))
    except TrackerForbiddenError as error:
        click.echo(f"No comment: {error}", err=True)


def _comment_text(status: Status, head: Head, repository: str) -> str:
    from ciguard.trackers import page_of_run

    page = page_of_run(os.environ, repository)
    results = f" · [results]({page})" if page else ""
    return f"{status.summary}\n<sub>Of commit {head.sha[:12]}{results}</sub>\n"


def _upload(to: Connection, run: ReceivedRun, options: Mapping[str, Any]) -> None:
    from ciguard.domain.findings import Verdict
    from ciguard.domain.text import command_text
    from ciguard.project import this_project
    from ciguard.reports import sarif_text
    from ciguard.trackers import Analysis, Patience, upload_analysis

    number = options["pull_request"]
    ref = options["ref"] or (f"refs/pull/{number}/head" if number else "")
    if not ref:
        return  # the reason was reported with the comment
    if run.finished.verdict in {Verdict.NOT_RUN, Verdict.INTERRUPTED, Verdict.PART}:
        click.echo("code scanning: left out, for what was not run would be taken for fixed")
        return
    # Written anew from what was checked: the file in the folder may be anybody's.
    page = this_project().page()
    name = options["name"]
    sarif = sarif_text(run.finished, run.places, run.policy, page=page, category=name)
    try:
        _require_token(to, "security-events: write")
        analysis = Analysis(sha=options["head_sha"], ref=ref, sarif=sarif)
        click.echo(upload_analysis(to, analysis, patience=Patience(_PATIENCE_S)))
    except TrackerForbiddenError as error:
        click.echo(f"::warning title=ciguard::No code scanning: {command_text(str(error))}")
