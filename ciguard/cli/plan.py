"""`ciguard plan`: choose what to test for a change."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ciguard.cli.options import example, takes_settings
from ciguard.config import SourceKind
from ciguard.domain.plan import PlanMode, plan_to_json
from ciguard.domain.text import visible
from ciguard.errors import ExitCode, OutputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.config import EffectiveSettings
    from ciguard.planning import PlanRequest

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_WHEEL = click.Path(dir_okay=False, path_type=Path)


def _variables(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    del context, parameter
    for text in values:
        if not _VARIABLE.fullmatch(text):
            msg = f"{visible(text, limit=80)!r} does not set a variable. Write NAME=VALUE."
            raise click.BadParameter(msg)
    return values


def _devices(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the devices in the form that targets use, such as `cuda:0`, without duplicates."""
    from ciguard.targets import parse_device

    del context, parameter
    devices = []
    for text in values:
        device = parse_device(text)
        if device is None:
            hint = suggestion(text, ("cpu", "cuda"))
            msg = f"unknown device {visible(text, limit=80)!r}. Write cpu, cuda or cuda:1.{hint}"
            raise click.BadParameter(msg)
        devices.append(device)
    return tuple(dict.fromkeys(devices))


@click.command(
    short_help="Choose what to test for a change, and show the reasons.",
    epilog=example("ciguard plan --against origin/main --shards 4"),
)
@takes_settings("targets", "base")
@click.option("--against", metavar="REF", default="", help="Base commit of the pull request.")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in PlanMode]),
    help="Purpose of the run.  [default: pull-request with --against, else batch]",
)
@click.option(
    "--device",
    "devices",
    metavar="DEVICE",
    multiple=True,
    default=("cpu",),
    callback=_devices,
    help=(
        "Device to test on: cpu, cuda, or cuda:1 for the second GPU; several GPUs run side by "
        "side. May be given more than once.  [default: cpu]"
    ),
)
@click.option(
    "--runner",
    "cpu",
    metavar="LABEL",
    multiple=True,
    default=("ubuntu-latest",),
    help="Label of the runner for CPU jobs. May be given more than once.  [default: ubuntu-latest]",
)
@click.option(
    "--gpu-runner",
    "gpu",
    metavar="LABEL",
    multiple=True,
    help="Label of a runner with a GPU. Without this option, GPU jobs are left out and "
    "reported as not run.",
)
@click.option(
    "--shards",
    type=click.IntRange(1, 256),
    default=1,
    help="Number of shards for each row of the matrix.  [default: 1]",
)
@click.option(
    "--deepen",
    "deepens",
    is_flag=True,
    help="Fetch the history up to --against from origin if the checkout is shallow.",
)
@click.option(
    "--variable",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_variables,
    help="Environment variable to set in every worker. May be given more than once.",
)
@click.option("--wheel", type=_WHEEL, help="Wheel to test instead of a release.")
@click.option(
    "--base-wheel", type=_WHEEL, help="Wheel of the base commit, with which --wheel is compared."
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("plan.json"),
    show_default=True,
    help="File to write the plan to.",
)
@click.option(
    "--arguments",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write options to, one per line, for a single `ciguard run` that covers all "
    "jobs. The file is empty if there are no jobs.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the plan as JSON instead of an explanation."
)
def plan(
    settings: EffectiveSettings, *, out: Path, arguments: Path | None, as_json: bool, **options: Any
) -> int:
    """Choose targets, devices, shards and the APIs to test first for a change of the repository.

    Reads changed requirements and lock files, changed sources, and the APIs that sources use. Use
    the plan with `ciguard run --plan FILE`; docs/planning.md describes how ciguard makes it. Exits
    with 3 if none of the planned rows can run.
    """
    from ciguard.planning import (
        commands,
        explanation,
        make_plan,
        matrix,
        run_arguments,
    )

    new_plan = make_plan(_request(settings, options))
    matrix(new_plan)  # raises if GitHub would reject the matrix
    text = json.dumps(plan_to_json(new_plan), indent=1)
    _write(out, text + "\n", option="--out")
    if arguments is not None:
        words = "".join(f"{word}\n" for word in run_arguments(new_plan, out))
        _write(arguments, words, option="--arguments")
    lines = (
        [text]
        if as_json
        else [*explanation(new_plan), f"Written to {out}", *commands(new_plan, out)]
    )
    for line in lines:
        click.echo(line)
    return ExitCode.INTERNAL if new_plan.skipped and not new_plan.jobs else ExitCode.CLEAN


def _write(path: Path, text: str, *, option: str) -> None:
    from ciguard.files import replace_file

    try:
        replace_file(path, text)
    except OSError as error:
        msg = (
            f"{path}: the plan cannot be written: {error.strerror}. "
            f"Name another file with {option}."
        )
        raise OutputError(msg) from error


def _request(settings: EffectiveSettings, options: Mapping[str, Any]) -> PlanRequest:
    from ciguard.planning import PlanRequest, Runners, Wheels

    against, wheel, base_wheel = (options[key] for key in ("against", "wheel", "base_wheel"))
    if base_wheel and not wheel:
        msg = "--base-wheel needs --wheel: name the wheel to compare with the base's wheel."
        raise click.UsageError(msg)
    mode = options["mode"] or (PlanMode.PULL_REQUEST if against else PlanMode.BATCH)
    return PlanRequest(
        folder=Path.cwd(),
        mode=PlanMode(mode),
        against=against,
        deepens=options["deepens"],
        targets=settings.config.targets,
        targets_are_chosen=settings.sources["targets"].kind is not SourceKind.DEFAULT,
        base=settings.config.base,
        levels=settings.config.levels,
        runners=Runners(
            devices=tuple(options["devices"]),
            cpu=tuple(options["cpu"]),
            gpu=tuple(options["gpu"]),
            shards=options["shards"],
        ),
        variables=options["variables"],
        wheels=Wheels(head=wheel, base=base_wheel) if wheel else None,
    )
