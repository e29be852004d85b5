"""`ciguard publish`: publish the results of a run on a pull request."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ciguard.cli.options import example
from ciguard.errors import ConfigurationError, ExitCode, OutputError, TrackerForbiddenError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.reports import ReceivedRun, Status
    from ciguard.trackers import Connection, Head

_RETRY_BUDGET_S = 300.0


@click.command(
    short_help="Publish the results of a run on a pull request.",
    epilog=example("ciguard publish --check --repository owner/name --head-sha $SHA"),
)
@click.argument(
    "folder", type=click.Path(path_type=Path, file_okay=False), default=Path(".ciguard/run")
)
@click.option("--check", is_flag=True, help="Publish a check run with annotations.")
@click.option(
    "--comment",
    is_flag=True,
    help="Publish a comment: the first run that fails creates the comment, and later runs "
    "update it.",
)
@click.option("--sarif", is_flag=True, help="Publish code-scanning alerts.")
@click.option(
    "--repository",
    envvar="GITHUB_REPOSITORY",
    required=True,
    metavar="OWNER/NAME",
    help="Repository of the pull request. [default: GITHUB_REPOSITORY]",
)
@click.option(
    "--head-sha",
    required=True,
    metavar="SHA",
    help="Head commit of the pull request, not its merge commit.",
)
@click.option(
    "--pull-request",
    metavar="NUMBER",
    default="",
    help="Number of the pull request to comment on.",
)
@click.option(
    "--head-repository",
    metavar="OWNER/NAME",
    default="",
    help="Repository that contains the pull request's head branch. Together with "
    "--head-branch, this option replaces --pull-request.",
)
@click.option(
    "--head-branch",
    metavar="NAME",
    default="",
    help="Head branch of the pull request; needs --head-repository.",
)
@click.option(
    "--ref",
    metavar="REF",
    default="",
    help="Git ref for which --sarif publishes alerts.  [default: head of the pull request]",
)
@click.option(
    "--name",
    default="ciguard",
    show_default=True,
    help="Name of the check; comments and alerts with different names do not replace each other.",
)
@click.option(
    "--comment-as",
    metavar="LOGIN",
    default="github-actions[bot]",
    show_default=True,
    help="Login of the account that the token belongs to; only comments of this account are "
    "changed.",
)
def publish(folder: Path, **options: Any) -> int:
    """Publish the results in FOLDER on a GitHub pull request, with the token in GITHUB_TOKEN.

    FOLDER may be untrusted: its files are checked, and only the options decide where results are
    published. Without the permission for a check run, annotations are written to the workflow's
    log instead.
    """
    from ciguard.reports import receive_run, status_of, status_without_results
    from ciguard.trackers import Head, repository_of

    _require_complete(options)
    connection = repository_of(options["repository"], os.environ)
    head = Head(sha=options["head_sha"], name=options["name"])
    run: ReceivedRun | None = None
    results_error: OutputError | None = None
    try:
        run = receive_run(folder)
        status = status_of(run, folder)
    except OutputError as error:
        status, results_error = (
            status_without_results("The results of the run are missing or damaged."),
            error,
        )
    if options["check"]:
        _publish_check(connection, head, status)
    options["pull_request"] = _pull_request(connection, options)
    if options["comment"] and options["pull_request"]:
        _publish_comment(connection, head, status, options)
    if options["sarif"] and run is not None:
        _upload(connection, run, options)
    if results_error is not None:
        click.echo(f"ciguard: error: {results_error}", err=True)
        return ExitCode.INTERNAL
    return ExitCode.CLEAN


def _require_complete(options: Mapping[str, Any]) -> None:
    if not (options["check"] or options["comment"] or options["sarif"]):
        msg = "there is nothing to publish: add at least one of --check, --comment and --sarif."
        raise ConfigurationError(msg)
    has_head = bool(options["head_repository"] and options["head_branch"])
    if options["comment"] and not (options["pull_request"] or has_head):
        msg = (
            "--comment needs the pull request. Add --pull-request NUMBER, or --head-repository "
            "and --head-branch."
        )
        raise ConfigurationError(msg)
    if options["sarif"] and not (options["ref"] or options["pull_request"] or has_head):
        msg = "--sarif needs a branch or pull request. Add --ref REF, or --pull-request NUMBER."
        raise ConfigurationError(msg)


def _pull_request(connection: Connection, options: Mapping[str, Any]) -> str:
    """Return the number of the pull request, from the option or by its head; empty if none."""
    number_text = str(options["pull_request"])
    needs_number = options["comment"] or (options["sarif"] and not options["ref"])
    if number_text or not needs_number or not options["head_branch"]:
        return number_text
    from ciguard.trackers import PullRequestOrigin, RetryBudget, find_pull_request

    origin = PullRequestOrigin(
        repository=options["head_repository"],
        branch=options["head_branch"],
        sha=options["head_sha"],
    )
    try:
        number = find_pull_request(connection, origin, retry_budget=RetryBudget(_RETRY_BUDGET_S))
    except TrackerForbiddenError as error:
        click.echo(f"Comment skipped: {error}", err=True)
        return ""
    if number:
        return str(number)
    click.echo(
        "Comment skipped: no open pull request has this head commit. If a newer commit "
        "was pushed, the run for that commit will comment."
    )
    return ""


def _publish_check(connection: Connection, head: Head, status: Status) -> None:
    from ciguard.reports import workflow_commands
    from ciguard.trackers import CheckReport, RetryBudget, page_of_run, publish_check

    report = CheckReport(
        conclusion=status.conclusion,
        title=status.title,
        summary=status.summary,
        remarks=status.remarks,
        details=page_of_run(os.environ, connection.repository),
    )
    try:
        _require_token(connection, "checks: write")
        click.echo(
            publish_check(connection, head, report, retry_budget=RetryBudget(_RETRY_BUDGET_S))
        )
    except TrackerForbiddenError as error:
        click.echo(f"No check run: {error}", err=True)
        click.echo(
            "The permission for a check run is missing, so this log has the annotations instead:"
        )
        for command in workflow_commands(list(status.remarks)):
            click.echo(command)
        sys.stdout.flush()


def _require_token(connection: Connection, permission: str) -> None:
    if not connection.token:
        msg = (
            "neither GITHUB_TOKEN nor GH_TOKEN is set; set one of them to a token with the "
            f"permission `{permission}`"
        )
        raise TrackerForbiddenError(msg)


def _publish_comment(
    connection: Connection, head: Head, status: Status, options: Mapping[str, Any]
) -> None:
    from ciguard.trackers import Comment, RetryBudget, publish_comment, pull_request_number

    comment = Comment(
        number=pull_request_number(options["pull_request"]),
        body=_comment_text(status, head, connection.repository),
        head=head,
        author=options["comment_as"],
        is_news=status.conclusion == "failure",
    )
    try:
        _require_token(connection, "pull-requests: write")
        click.echo(publish_comment(connection, comment, retry_budget=RetryBudget(_RETRY_BUDGET_S)))
    except TrackerForbiddenError as error:
        click.echo(f"Comment skipped: {error}", err=True)


def _comment_text(status: Status, head: Head, repository: str) -> str:
    from ciguard.trackers import page_of_run

    page = page_of_run(os.environ, repository)
    results = f" · [results]({page})" if page else ""
    return f"{status.summary}\n<sub>Commit {head.sha[:12]}{results}</sub>\n"


def _upload(connection: Connection, run: ReceivedRun, options: Mapping[str, Any]) -> None:
    from ciguard.domain.findings import INCONCLUSIVE, Verdict
    from ciguard.domain.text import command_text
    from ciguard.project import this_project
    from ciguard.reports import sarif_text
    from ciguard.trackers import Analysis, RetryBudget, upload_analysis

    number = options["pull_request"]
    ref = options["ref"] or (f"refs/pull/{number}/head" if number else "")
    if not ref:
        return  # `_pull_request` has reported the reason
    if run.finished.verdict in INCONCLUSIVE | {Verdict.PART}:
        click.echo(
            "Code scanning skipped: the run is incomplete, and GitHub would close the alerts of "
            "defects that it did not test."
        )
        return
    # Generated from the checked results, since the SARIF file in the folder is untrusted.
    page = this_project().page()
    name = options["name"]
    sarif = sarif_text(run.finished, run.places, run.policy, page=page, category=name)
    try:
        _require_token(connection, "security-events: write")
        analysis = Analysis(sha=options["head_sha"], ref=ref, sarif=sarif)
        click.echo(upload_analysis(connection, analysis, retry_budget=RetryBudget(_RETRY_BUDGET_S)))
    except TrackerForbiddenError as error:
        click.echo(f"::warning title=ciguard::Code scanning skipped: {command_text(str(error))}")
