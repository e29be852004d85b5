"""`ciguard targets`: manage the environments in which cases run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from ciguard.cli.options import example, takes_settings
from ciguard.cli.required import with_required_targets
from ciguard.domain.text import visible
from ciguard.errors import CiguardError

if TYPE_CHECKING:
    from ciguard.config import EffectiveSettings
    from ciguard.targets import StoredEnvironment

_MIB = 1024 * 1024
_DAY_S = 86_400


@click.group(
    short_help="List, build or remove environments.", epilog=example("ciguard targets list")
)
def targets() -> None:
    """List, build or remove the environments in which cases run."""


@targets.command("list", epilog=example("ciguard targets list"))
def list_stored() -> None:
    """List the environments in the cache, the most recently used first."""
    from ciguard.targets import cache_folder, list_environments

    stored = list_environments()
    for environment in stored:
        click.echo(_line(environment))
    size_mib = sum(environment.size_bytes for environment in stored) // _MIB
    click.echo(f"{len(stored)} environments, {size_mib:,} MiB in {cache_folder()}")


@targets.command(epilog=example("ciguard targets sync --target torch==2.13.0"))
@takes_settings("targets")
@click.option(
    "--refresh",
    is_flag=True,
    help="Rebuild the targets' environments even if they are in the cache.",
)
def sync(settings: EffectiveSettings, *, refresh: bool) -> None:
    """Build the environments of the configured targets, so that `ciguard run` starts at once."""
    from ciguard.targets import parse_target, provision_all, unique_names

    wanted = [parse_target(text) for text in with_required_targets(settings).config.targets]
    ready = provision_all(wanted, on_step=lambda step: click.echo(visible(step)), refresh=refresh)
    failures = [error for error in ready.values() if isinstance(error, CiguardError)]
    for name in unique_names(wanted):
        if not isinstance(ready[name], CiguardError):
            click.echo(f"{name}: ready")
    if failures:
        raise type(failures[0])("\n".join(map(str, failures)))


@targets.command(epilog=example("ciguard targets prune --keep 3"))
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Number of most recently used environments to keep.",
)
def prune(keep: int) -> None:
    """Remove environments that are not in use from the cache."""
    from ciguard.targets import prune_environments

    removed = prune_environments(keep=keep)
    for environment in removed:
        click.echo(f"removed {_line(environment)}")
    click.echo(f"{sum(item.size_bytes for item in removed) // _MIB:,} MiB freed")


def _line(environment: StoredEnvironment) -> str:
    days = int((time.time() - environment.last_used_s) // _DAY_S)
    state = "" if environment.is_complete else ", incomplete"
    state += ", in use" if environment.is_in_use else ""
    name = visible(environment.target) or "(interrupted build)"
    return (
        f"{name}  {environment.size_bytes // _MIB:,} MiB, last used {days} days ago{state}, "
        f"{environment.key}"
    )
