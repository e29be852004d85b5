"""`ciguard cluster`: run the shards of one campaign on a cluster, and merge them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from ciguard import interrupts
from ciguard.cli.options import example, takes_settings
from ciguard.cli.required import with_required_targets
from ciguard.cli.run import report
from ciguard.config import SETTINGS
from ciguard.domain.shards import MAX_SHARDS, Shard
from ciguard.domain.text import visible
from ciguard.errors import ExitCode

if TYPE_CHECKING:
    from ciguard.campaign import ShardResult
    from ciguard.config import EffectiveSettings


@click.command(
    short_help="Run the shards of one campaign on a cluster.",
    epilog=example("ciguard cluster --shards 8 --address tcp://host:8786"),
)
@click.option(
    "--shards",
    type=click.IntRange(1, MAX_SHARDS),
    required=True,
    metavar="N",
    help="Number of shards to divide the campaign into; each shard has the whole budget.",
)
@click.option(
    "--address",
    default="",
    metavar="ADDRESS",
    help="Address of a Dask scheduler. [default: a cluster on this machine]",
)
@click.option(
    "--workers",
    type=click.IntRange(0, MAX_SHARDS),
    default=0,
    metavar="N",
    help="Number of workers of a cluster on this machine. [default: one per processor]",
)
@takes_settings(*(key for key in SETTINGS if key not in {"shard", "part"}))
def cluster(settings: EffectiveSettings, *, shards: int, address: str, workers: int) -> int:
    """Run the shards of one campaign on a Dask cluster, and merge them as `ciguard merge` does.

    If a node fails, its shard runs on another node: it resumes if the nodes share the output
    folder, and restarts otherwise. After Ctrl-C, the finished shards are in OUT/shards; --resume
    runs the other shards. Needs `pip install '.[cluster]'` in ciguard's checkout, on this machine
    and on all nodes.
    """
    from ciguard.campaign import (
        gather,
        jobs_of,
        launch,
        merge,
        shard_folder,
    )

    settings = with_required_targets(settings)
    config = settings.config
    folders = [shard_folder(config.out, Shard(index, shards)) for index in range(1, shards + 1)]
    jobs = jobs_of(settings, shards)
    click.echo(f"{len(jobs)} of {shards} shards are left to run")
    try:
        with interrupts.raised():
            for update in launch(jobs, address=address, workers=workers):
                click.echo(update if isinstance(update, str) else _shard_text(update))
    except KeyboardInterrupt:
        folder = f"{config.out.as_posix()}/shards"
        click.echo(f"interrupted; `ciguard merge {folder}/*` merges the finished shards")
        return ExitCode.INTERRUPTED
    merged = gather(folders, config)
    settings = replace(settings, config=merged.config)
    return report(settings, partial(merge, merged), files_issues=not merged.config.is_read_only)


def _shard_text(result: ShardResult) -> str:
    note = " (resumed from its journal)" if result.resumed else ""
    text = f"shard {result.shard}: exit code {result.exit_code} on {visible(result.node)}{note}"
    return f"{text}\n{visible(result.log_tail, limit=2_000)}" if result.log_tail else text
