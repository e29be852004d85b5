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
    """A group that also reports errors as annotations of the workflow run."""

    def invoke(self, ctx: click.Context) -> Any:
        from ciguard.actions import annotation

        try:
            return super().invoke(ctx)
        except CiguardError as error:
            click.echo(annotation("error", str(error)))
            raise


@click.group(cls=_Annotated, hidden=True)
def action() -> None:
    """Run one step of the packaged action, with the inputs in the environment."""


def _report_unprepared(error: CiguardError) -> None:
    """Set the outputs of a call with invalid inputs, since no later step runs."""
    from ciguard.actions import append_outputs, append_summary, not_prepared

    results = not_prepared(error, Path.cwd())
    outputs = {"verdict": results.verdict, "exit-code": str(int(results.exit_code))}
    append_outputs(outputs, os.environ)
    append_summary(_summary(results), os.environ)


_KEPT = click.argument("kept", metavar="REQUEST", type=click.Path(path_type=Path))
"""Path of the request file that `prepare` wrote."""


@action.command()
def prepare() -> None:
    """Check the inputs, and write the request for the steps that follow."""
    from ciguard.actions import append_outputs, inert, request_of, write_request
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
    out = inert(visible(str(request.out)))
    click.echo(f"{request.task.value} in mode {request.mode.value}, results in {out}")


@action.command()
@_KEPT
def plan(kept: Path) -> int:
    """Write the plan, and set its matrix as an output."""
    import json

    from ciguard.actions import annotation, append_outputs
    from ciguard.planning import matrix

    with _keeping_failures(kept):
        steps = _steps(_request(kept), kept)
        code = steps.plan()
    if code:
        return code
    planned = steps.read_plan()
    outputs = {"matrix": json.dumps(matrix(planned)), "jobs": str(len(planned.jobs))}
    append_outputs(outputs, os.environ)
    for row in planned.skipped:
        click.echo(annotation("notice", f"not run: {row.name}: {row.reason}"))
    return 0


@action.command()
@_KEPT
def environments(kept: Path) -> None:
    """Set the cache key of the planned targets' environments as an output."""
    from ciguard.actions import append_outputs, cache_key

    request = _request(kept)
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
@_KEPT
def provision(kept: Path) -> None:
    """Build the environments of the targets."""
    with _keeping_failures(kept):
        _steps(_request(kept), kept).provision()


@action.command()
@_KEPT
def run(kept: Path) -> int:
    """Run the planned jobs."""
    with _keeping_failures(kept):
        return _steps(_request(kept), kept).run()


@action.command()
@_KEPT
def merge(kept: Path) -> int:
    """Merge the jobs, compare with the baseline, and write what this run may write."""
    with _keeping_failures(kept):
        code = _steps(_request(kept), kept).merge()
    return 0 if code == 1 else code  # the last step of the action fails for new findings


@action.command()
@_KEPT
def report(kept: Path) -> None:
    """Set the outputs, the step summary and an annotation."""
    from ciguard.actions import (
        InputError,
        annotation,
        append_outputs,
        append_summary,
        explained,
        idle_results,
        kept_failure,
        nothing_to_file,
        results_of,
        without_baseline,
        without_plan,
    )

    request = _request(kept)
    steps = _steps(request)
    try:
        idle = steps.read_plan() if steps.is_idle else None
    except InputError:  # The step that needed the plan has reported this.
        idle = None
    results = idle_results(idle, request.out) if idle else results_of(request.out)
    if steps.has_nothing_to_file:
        results = nothing_to_file(results)
    elif steps.lacks_plan_of_others:
        results = without_plan(results, steps.plan_file)
    else:
        results = explained(results, kept_failure(kept))
    if not request.writes:
        results = without_baseline(results, is_written_later=request.leaves_writing)
    append_outputs(results.outputs(), os.environ)
    append_summary(_summary(results), os.environ)
    click.echo(annotation(results.level, results.sentence))


@action.command()
@_KEPT
def publish(kept: Path) -> int:
    """Publish the results on the commit and the pull request, if requested.

    A failure changes no verdict. It fails only the task `file`, whose purpose is publishing.
    """
    from ciguard.actions import ActionTask, annotation

    request = _request(kept)
    code = _steps(request).publish()
    if code:
        click.echo(annotation("warning", "The results were not published: see the log."))
    return code if request.task is ActionTask.FILE else 0


def _summary(results: Results) -> str:
    from ciguard.actions import FILES
    from ciguard.domain.text import markdown_text

    path = results.folder / FILES["summary"]
    report = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if report and results.level != "warning":
        return report
    lines = "\n\n".join(markdown_text(line) for line in results.sentence.splitlines())
    return f"# ciguard: {results.verdict}\n\n{lines}\n\n{report}"


def _request(kept: Path) -> ActionRequest:
    from ciguard.actions import read_request

    return read_request(kept, os.environ, workspace=Path.cwd())


def _steps(request: ActionRequest, kept: Path | None = None) -> Steps:
    from ciguard.actions import Steps

    return Steps(request=request, environment=os.environ, kept=kept)


@contextmanager
def _keeping_failures(kept: Path) -> Iterator[None]:
    """Store the message of an error for the step `report`."""
    from ciguard.actions import keep_failure

    try:
        yield
    except CiguardError as error:
        keep_failure(kept, error.exit_code, str(error))
        raise
