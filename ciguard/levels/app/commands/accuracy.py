"""`ciguard app accuracy`: tests an application's functions on synthesised inputs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard import interrupts
from ciguard.errors import ConfigurationError, ExitCode
from ciguard.levels.app.commands.functions import (
    function_option,
    functions_in,
    python_option,
    stub_option,
    unconfined_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(short_help="Test functions on inputs that people would recognise.")
@click.argument("path", type=click.Path(path_type=Path))
@function_option
@python_option
@unconfined_option
@stub_option
@click.option(
    "--images",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder with one subfolder per label, which holds images or texts.",
)
@click.option(
    "--search",
    type=click.Choice(["openverse", "wikimedia"]),
    help="Search for up to 50 openly licensed images of each label that --images lacks.",
)
@click.option("--search-url", metavar="URL", help="URL of another search API of the same kind.")
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    show_default="in the user's cache",
    help="Folder in which found images are stored, in the layout of --images.",
)
@click.option(
    "--texts",
    type=click.Path(dir_okay=False, path_type=Path),
    help="CSV file of texts with a known sentiment, with the columns `feeling,text`.",
)
@click.option(
    "--labels",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File with the labels that the service can return; simulated answers use them.",
)
@click.option(
    "--habits",
    "confusion_matrix",
    type=click.Path(dir_okay=False, path_type=Path),
    help="TOML file with a confusion matrix, which decides how often simulated answers are wrong.",
)
@click.option(
    "--relations",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File with further related labels, one `child<TAB>parent` per line.",
)
@click.option(
    "--service",
    type=click.Choice(["local", "real"]),
    default="local",
    show_default=True,
    help="Source of the answers: local engines, or the real service.",
)
@click.option(
    "--replay",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Recording of a service's answers to use instead of an engine, written by --record.",
)
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to which all answers are written; --replay reads this file.",
)
@click.option(
    "--faults",
    type=click.Path(dir_okay=False, path_type=Path),
    help="TOML file with faults to inject. Each function is tested without faults, then with them.",
)
@click.option(
    "--inputs",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Maximum number of inputs for each function.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=0.75,
    show_default=True,
    help="Minimum share of the inputs made for a sub-condition that have to make it true, from 0 "
    "to 1.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Random seed of inputs and simulated answers.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1.0),
    default=120.0,
    show_default=True,
    help="Time budget for each function, in seconds.",
)
@click.option(
    "--patches",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for suggested patches; apply them with `git apply` in the folder PATH.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="HTML file to write, which shows the failing inputs.",
)
@click.option(
    "--github", is_flag=True, help="Print in the format of a GitHub Actions log, with annotations."
)
def accuracy(  # noqa: PLR0913 - one parameter for each option
    *,
    path: Path,
    globs: tuple[str, ...],
    python: str,
    unconfined: bool,
    stubs: tuple[str, ...],
    images: Path | None,
    search: str | None,
    search_url: str | None,
    cache: Path | None,
    texts: Path | None,
    labels: Path | None,
    confusion_matrix: Path | None,
    relations: Path | None,
    service: str,
    replay: Path | None,
    record: Path | None,
    faults: Path | None,
    inputs: int,
    alpha: float,
    seed: int,
    seconds: float,
    patches: Path | None,
    report: Path | None,
    github: bool,
) -> None:
    """Test an application's functions on inputs that people would recognise.

    For each sub-condition that depends on a service's answers, ciguard makes or chooses inputs that
    should make it true. Local engines answer in place of the service. They recognise text, speech,
    sentiment and faces. Labels, objects, topics and entities are simulated, and reported as such.

    The report shows sub-conditions that too few of their inputs make true, suggested repairs, and
    inputs that crash a function. Nothing is sent to any server, with two exceptions. With --service
    real, the application calls the service as usual. With --search, a search engine receives the
    words of labels.

    The application's code runs confined: it can read its own folder and its interpreter's, and
    write to a temporary folder. It can start no processes and open no connections, unless
    --unconfined or --service real is given. Exit code 1 if a function crashes, or fails with the
    service itself or a recording of it.

    Example: ciguard app accuracy src/ --images photos/ --report accuracy.html
    """
    from ciguard.levels.app.accuracy import AccuracyOptions, assess, settings_for
    from ciguard.levels.app.exploration import ProcessEnvironment, explore
    from ciguard.levels.app.reports.accuracy import assessment_lines, closing_lines
    from ciguard.levels.app.reports.page import write_accuracy_page
    from ciguard.levels.app.reports.patches import write_patches
    from ciguard.levels.app.reports.remarks import AppRemarks

    if service == "real":
        _check_real_service(replay, faults)
    if search is None and (search_url or cache):
        msg = "--search-url and --cache have no effect without --search. Add --search openverse."
        raise ConfigurationError(msg)
    application, functions = functions_in(path, globs)
    process_environment = ProcessEnvironment(
        is_confined=not unconfined, stubs=stubs, is_lenient=True
    )
    options = AccuracyOptions(
        images=images,
        search=search or "",
        search_url=search_url,
        cache=cache,
        texts=texts,
        labels=labels,
        confusion_matrix=confusion_matrix,
        relations=relations,
        is_real=service == "real",
        replay=replay,
        record=record,
        faults=faults,
        inputs=inputs,
        alpha=alpha,
        seed=seed,
        budget_s=seconds,
        process_environment=process_environment,
    )
    settings = settings_for(options)
    explored = explore(
        application,
        functions,
        python=python,
        budget_s=seconds / 2,
        process_environment=process_environment,
    )
    remarks = AppRemarks(application)
    results = []

    def lines() -> Iterator[str]:
        for assessment in assess(application, functions, explored, settings, python=python):
            remarks.add_assessment(assessment)
            results.append(assessment)
            yield from assessment_lines(assessment)
        yield from closing_lines(results, functions)

    try:
        with interrupts.raised():
            for line in remarks.fenced(lines()) if github else lines():
                click.echo(line)
    finally:  # also after an interruption
        if patches is not None:
            verdicts = (verdict for assessment in results for verdict in assessment.verdicts)
            suggestions = (
                verdict.suggestion for verdict in verdicts if verdict.suggestion is not None
            )
            for line in write_patches(application, suggestions, patches):
                click.echo(line)
        if report is not None:
            write_accuracy_page(results, report)
            click.echo(f"report: {report}")
        if search is not None and (options.image_folder / "SOURCES.csv").is_file():
            click.echo(f"images found: {options.image_folder}")
    is_clean = all(assessment.is_clean for assessment in results)
    sys.exit(ExitCode.CLEAN if is_clean else ExitCode.FINDINGS)


def _check_real_service(replay: Path | None, faults: Path | None) -> None:
    """Check that no option contradicts `--service real`.

    Raises:
        ConfigurationError: if an option does.
    """
    if replay is not None:
        msg = f"--replay {replay} contradicts --service real. Remove one of the two options."
        raise ConfigurationError(msg)
    if faults is not None:
        msg = (
            f"--faults {faults} cannot be combined with --service real: ciguard cannot inject "
            "faults into the real service. Remove --service, or use --replay."
        )
        raise ConfigurationError(msg)
