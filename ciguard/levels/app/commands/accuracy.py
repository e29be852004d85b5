"""`ciguard app accuracy`: an application's functions, tried on inputs that people recognise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard import interrupts
from ciguard.errors import ConfigurationError, ExitCode
from ciguard.levels.app.commands.functions import (
    functions_in,
    of_functions,
    unconfined,
    with_python,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(short_help="Try functions on inputs that people would recognise.")
@click.argument("path", type=click.Path(path_type=Path))
@of_functions
@with_python
@unconfined
@click.option(
    "--images",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder with images, or texts of a topic, in a folder for each label.",
)
@click.option(
    "--search",
    type=click.Choice(["openverse", "wikimedia"]),
    help="Ask for images of labels that --images lacks: openly licensed ones, at most 50 of each.",
)
@click.option("--search-url", metavar="URL", help="Ask at this address, which answers like it.")
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    show_default="in the user's cache",
    help="Folder for images that are found, laid out as --images takes it.",
)
@click.option(
    "--texts",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Texts that people feel something in: CSV with `feeling,text`.",
)
@click.option(
    "--labels",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Labels that the service can answer; simulated answers are from these.",
)
@click.option(
    "--habits",
    type=click.Path(dir_okay=False, path_type=Path),
    help="What a simulated service says of some things, and how often, TOML.",
)
@click.option(
    "--relations",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Which labels are kinds of others, `child<TAB>parent` in each line; beside ciguard's own.",
)
@click.option(
    "--service",
    type=click.Choice(["local", "real"]),
    default="local",
    show_default=True,
    help="What answers: engines on this machine, or the service, asked as the application does.",
)
@click.option(
    "--replay",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Answer from this recording instead of an engine.",
)
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep what was answered in this file, for `--replay`.",
)
@click.option(
    "--faults",
    type=click.Path(dir_okay=False, path_type=Path),
    help="What goes wrong on purpose, and how often, TOML: functions are tried with it again.",
)
@click.option("--inputs", type=click.IntRange(min=1), default=100, show_default=True)
@click.option(
    "--alpha",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=0.75,
    show_default=True,
    help="Share of the inputs made for a sub-condition that have to make it true.",
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1.0),
    default=120.0,
    show_default=True,
    help="Time for one function.",
)
@click.option(
    "--patches",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for suggested patches, for `git apply` in PATH.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Page for a browser, HTML, with the inputs that fail.",
)
@click.option("--github", is_flag=True, help="As the log of a GitHub step, with annotations.")
def accuracy(  # noqa: PLR0913 - one for each option
    *,
    path: Path,
    globs: tuple[str, ...],
    python: str,
    unconfined: bool,
    images: Path | None,
    search: str | None,
    search_url: str | None,
    cache: Path | None,
    texts: Path | None,
    labels: Path | None,
    habits: Path | None,
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
    """Try an application's functions on inputs that people would recognise.

    For each sub-condition that answers of services decide, images, texts and sounds are made or
    chosen for which it should be true. Engines on this machine stand in for the service:
    they recognise what is written, said and felt, and faces; labels, objects, topics and entities
    are made up, which is said wherever it matters. Nothing is sent anywhere, except with
    --service real, which the application asks as it always does, and with --search, which asks a
    search engine for the words of labels. Told are sub-conditions that too
    few of their inputs make true, what would make them better, and inputs with which a function
    fails.

    The application's code runs confined: it reads its own folder and its interpreter's, writes a
    folder of its own, starts no processes and connects to nobody, unless --unconfined allows it or
    --service real needs the network.
    Exit code 1 if a function crashes, or fails with the service itself or a recording of it.
    """
    from ciguard.levels.app.accuracy import Trying, assess, settings_for
    from ciguard.levels.app.exploration import Surroundings, explore
    from ciguard.levels.app.reports.accuracy import accuracy_summary, assessed_lines
    from ciguard.levels.app.reports.page import write_accuracy_page
    from ciguard.levels.app.reports.patches import write_patches
    from ciguard.levels.app.reports.remarks import AppRemarks

    if service == "real":
        _refuse_beside_it(replay, faults)
    if search is None and (search_url or cache):
        msg = "--search-url and --cache are for --search, which says where images are asked for."
        raise ConfigurationError(msg)
    application, found = functions_in(path, globs)
    around = Surroundings(is_confined=not unconfined)
    trying = Trying(
        images=images,
        search=search or "",
        search_url=search_url,
        cache=cache,
        texts=texts,
        labels=labels,
        habits=habits,
        relations=relations,
        is_real=service == "real",
        replay=replay,
        record=record,
        faults=faults,
        inputs=inputs,
        alpha=alpha,
        seed=seed,
        budget_s=seconds,
        surroundings=around,
    )
    settings = settings_for(trying)
    explored = explore(application, found, python=python, budget_s=seconds / 2, surroundings=around)
    remarks = AppRemarks(application)
    results = []

    def lines() -> Iterator[str]:
        for one in assess(application, found, explored, settings, python=python):
            remarks.note_assessed(one)
            results.append(one)
            yield from assessed_lines(one)
        yield accuracy_summary(results)

    try:
        with interrupts.raised():
            for line in remarks.fenced(lines()) if github else lines():
                click.echo(line)
    finally:  # what is known when somebody interrupts is kept
        if patches is not None:
            verdicts = (verdict for one in results for verdict in one.verdicts)
            suggestions = (one.suggestion for one in verdicts if one.suggestion is not None)
            for line in write_patches(application, suggestions, patches):
                click.echo(line)
        if report is not None:
            write_accuracy_page(results, report)
            click.echo(f"report: {report}")
        if search is not None and (trying.kept / "SOURCES.csv").is_file():
            click.echo(f"images that were found: {trying.kept}")
    is_clean = all(one.is_clean for one in results)
    sys.exit(ExitCode.CLEAN if is_clean else ExitCode.FINDINGS)


def _refuse_beside_it(replay: Path | None, faults: Path | None) -> None:
    """Refuse what cannot be if the service itself is asked.

    Raises:
        ConfigurationError: if it is given.
    """
    if replay is not None:
        msg = f"--replay {replay} and --service real: choose where answers come from."
        raise ConfigurationError(msg)
    if faults is not None:
        msg = f"--faults {faults} and --service real: only what is not there can have faults."
        raise ConfigurationError(msg)
