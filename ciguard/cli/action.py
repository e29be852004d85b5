"""`ciguard action`: the steps of the packaged action, for `action.yml` only."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ciguard.errors import CiguardError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.actions import ActionRequest, Results, Steps


class _Annotated(click.Group):
    """A group of commands that also reports errors as annotations of the workflow run."""

    def invoke(self, ctx: click.Context) -> Any:
        from ciguard.actions import annotation

        try:
            return super().invoke(ctx)
        except CiguardError as error:
            click.echo(annotation("error", str(error)))
            raise


@click.group(cls=_Annotated, hidden=True)
def action() -> None:
    """Run one step of the packaged action; its inputs are environment variables."""


def _report_unprepared(error: CiguardError) -> None:
    """Set the outputs of a call with invalid inputs, for which no later step runs."""
    from ciguard.actions import append_outputs, append_summary, not_prepared

    results = not_prepared(error, Path.cwd())
    outputs = {"verdict": results.verdict, "exit-code": str(int(results.exit_code))}
    append_outputs(outputs, os.environ)
    append_summary(_summary(results), os.environ)


_REQUEST_FILE = click.argument("request_file", metavar="REQUEST", type=click.Path(path_type=Path))
"""Path of the request file that `prepare` wrote."""


@action.command()
def prepare() -> None:
    """Check the inputs, and write the request for the steps that follow."""
    from ciguard.actions import append_outputs, request_of, without_commands, write_request
    from ciguard.domain.text import visible

    try:
        request = request_of(os.environ, workspace=Path.cwd())
    except CiguardError as error:
        _report_unprepared(error)
        raise
    folder = Path(os.environ.get("RUNNER_TEMP", ".ciguard")).absolute() / "ciguard"
    path = folder / f"request-{secrets.token_hex(8)}.json"
    write_request(request, path)
    outputs = {
        "request": str(path),
        "task": request.task.value,
        "mode": request.mode.value,
        "folder": str(request.out),
        "plan": str(_steps(request).plan_file),
        "artifact": request.artifact,
    }
    append_outputs(outputs, os.environ)
    out = without_commands(visible(str(request.out)))
    click.echo(f"task {request.task.value} in mode {request.mode.value}, results in {out}")


@action.command()
@_REQUEST_FILE
def plan(request_file: Path) -> int:
    """Write the plan, and set its matrix as an output."""
    import json

    from ciguard.actions import annotation, append_outputs
    from ciguard.planning import matrix

    with _storing_failures(request_file):
        steps = _steps(_request(request_file), request_file)
        code = steps.plan()
    if code:
        return code
    new_plan = steps.read_plan()
    outputs = {"matrix": json.dumps(matrix(new_plan)), "jobs": str(len(new_plan.jobs))}
    append_outputs(outputs, os.environ)
    for row in new_plan.skipped:
        click.echo(annotation("notice", f"not run: {row.name}: {row.reason}"))
    return 0


@action.command()
@_REQUEST_FILE
def environments(request_file: Path) -> None:
    """Set outputs for the cache of the planned targets' environments: path and keys."""
    from ciguard.actions import append_outputs, cache_key

    request = _request(request_file)
    key = cache_key(_steps(request).targets(), os.environ)
    outputs = {
        "path": key.path,
        "key": key.key,
        "prefix": key.prefix,
        "reads": str(request.is_on("cache") and bool(key.key)).lower(),
        "saves": str(request.saves_cache and bool(key.key)).lower(),
    }
    append_outputs(outputs, os.environ)


@action.command()
@_REQUEST_FILE
def provision(request_file: Path) -> None:
    """Build the environments of the targets."""
    with _storing_failures(request_file):
        _steps(_request(request_file), request_file).provision()


@action.command()
@_REQUEST_FILE
def run(request_file: Path) -> int:
    """Run the planned jobs."""
    with _storing_failures(request_file):
        return _steps(_request(request_file), request_file).run()


@action.command()
@_REQUEST_FILE
def merge(request_file: Path) -> int:
    """Merge the results of the jobs, and compare them with the baseline.

    Also writes the baseline and issues if this run may do so.
    """
    with _storing_failures(request_file):
        code = _steps(_request(request_file), request_file).merge()
    return 0 if code == 1 else code  # the last step of the action fails for new findings


@action.command()
@_REQUEST_FILE
def report(request_file: Path) -> None:
    """Set the outputs, the step summary and an annotation."""
    from ciguard.actions import (
        InputError,
        annotation,
        append_outputs,
        append_summary,
        idle_results,
        nothing_to_file,
        results_of,
        stored_failure,
        with_failure,
        without_baseline,
        without_plan,
    )

    request = _request(request_file)
    steps = _steps(request)
    try:
        idle = steps.read_plan() if steps.is_idle else None
    except InputError:  # The step that needed the plan has reported the error.
        idle = None
    results = idle_results(idle, request.out) if idle else results_of(request.out)
    if steps.has_nothing_to_file:
        results = nothing_to_file(results)
    elif steps.lacks_plan_of_others:
        results = without_plan(results, steps.plan_file)
    else:
        results = with_failure(results, stored_failure(request_file))
    if not request.writes:
        results = without_baseline(results, is_written_later=request.leaves_writing)
    append_outputs(results.outputs(), os.environ)
    append_summary(_summary(results), os.environ)
    click.echo(annotation(results.level, results.sentence))


@action.command()
@_REQUEST_FILE
def publish(request_file: Path) -> int:
    """Publish the results on the commit and the pull request, if requested.

    A failure does not change the verdict. It fails only the task `file`, whose purpose is
    publishing.
    """
    from ciguard.actions import ActionTask, annotation

    request = _request(request_file)
    code = _steps(request).publish()
    if code:
        click.echo(annotation("warning", "The results were not published. See the log."))
    return code if request.task is ActionTask.FILE_ISSUES else 0


def _summary(results: Results) -> str:
    from ciguard.actions import FILES
    from ciguard.domain.text import markdown_text

    path = results.folder / FILES["summary"]
    report = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if report and results.level != "warning":
        return report
    lines = "\n\n".join(markdown_text(line) for line in results.sentence.splitlines())
    return f"# ciguard: {results.verdict}\n\n{lines}\n\n{report}"


def _request(request_file: Path) -> ActionRequest:
    from ciguard.actions import read_request

    return read_request(request_file, os.environ, workspace=Path.cwd())


def _steps(request: ActionRequest, request_file: Path | None = None) -> Steps:
    from ciguard.actions import Steps

    return Steps(request=request, environment=os.environ, request_file=request_file)


@contextmanager
def _storing_failures(request_file: Path) -> Iterator[None]:
    """Store the message of an error in the body, for the step `report`."""
    from ciguard.actions import store_failure

    try:
        yield
    except CiguardError as error:
        store_failure(request_file, error.exit_code, str(error))
        raise
