"""`ciguard merge`: merge the results of shards into one campaign."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard.cli.options import example, takes_settings
from ciguard.cli.run import report
from ciguard.config import SETTINGS

if TYPE_CHECKING:
    from ciguard.config import EffectiveSettings

_MERGE_SETTINGS = [
    key
    for key in SETTINGS
    if key in {"out", "baseline", "compare-only", "tracker", "dry-run", "fail-on", "policy"}
    or key.startswith("issue")
]


@click.command(
    short_help="Merge the results of shards into one campaign.",
    epilog=example("ciguard merge shards/1 shards/2 --plan plan.json"),
)
@click.argument(
    "folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File plan.json that `ciguard plan` wrote; jobs of this plan without results count "
    "as not run.",
)
@takes_settings(*_MERGE_SETTINGS)
def merge(settings: EffectiveSettings, folders: tuple[Path, ...], plan_file: Path | None) -> int:
    """Merge the result folders DIR of `ciguard run --shard I/N`, and compare with the baseline.

    Writes the same reports as a run, and also the baseline and issues if a run would write them.
    Shards that are missing, damaged or from another campaign count as not run, with exit code 3.
    Without --plan, all N shards of each campaign are expected. DIR may be the result of a merge.
    """
    from ciguard.campaign import gather, read_plan
    from ciguard.campaign import merge as merge_events

    plan = None if plan_file is None else read_plan(plan_file)
    merged = gather(folders, settings.config, plan)
    settings = replace(settings, config=merged.config)
    events = partial(merge_events, merged)
    return report(settings, events, files_issues=not merged.config.is_read_only)
