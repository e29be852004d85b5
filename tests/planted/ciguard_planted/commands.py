"""The command of the level: `ciguard steps starts`."""

from __future__ import annotations

import click

from ciguard_planted.settings import LARGEST


@click.command(short_help="List the numbers that cases begin at.")
@click.option("--largest", type=click.IntRange(min=0), default=LARGEST.default, show_default=True)
def starts(largest: int) -> None:
    """List the numbers that cases of level steps begin at, one a line."""
    from ciguard_planted.level import starts_up_to  # noqa: PLC0415 - not for its help

    for start in starts_up_to(largest):
        click.echo(start)
