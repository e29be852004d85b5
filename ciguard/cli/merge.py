"""`ciguard merge`: judge what shards have found as one campaign."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard.cli.options import takes_settings
from ciguard.cli.run import report
from ciguard.config import SETTINGS

if TYPE_CHECKING:
    from ciguard.config import Effective

_OF_JUDGING = [
    key
    for key in SETTINGS
    if key in {"out", "baseline", "compare-only", "tracker", "dry-run", "fail-on", "policy"}
    or key.startswith("issue")
]


@click.command(short_help="Judge the results of shards as one campaign.")
@click.argument(
    "folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="plan.json of `ciguard plan`: what it names and no folder holds was not run.",
)
@takes_settings(*_OF_JUDGING)
def merge(settings: Effective, folders: tuple[Path, ...], plan_file: Path | None) -> int:
    """Join the result folders DIR of `ciguard run --shard I/N`, compare with the baseline once.

    Writes what a run writes: reports, and baseline and issues too where a run would. Without --plan
    it expects every shard of those that left one. What is missing, broken or of another campaign
    was not run: exit code 3, whatever else was found. A folder may be the result of a merge.
    """
    from ciguard.campaign import gather, read_plan
    from ciguard.campaign import merge as judged

    plan = None if plan_file is None else read_plan(plan_file)
    merged = gather(folders, settings.config, plan)
    settings = replace(settings, config=merged.config)
    return report(settings, partial(judged, merged), files_issues=not merged.config.is_read_only)
