"""`ciguard version`."""

from __future__ import annotations

import platform

import click

from ciguard import __version__
from ciguard.cli.options import example


@click.command(short_help="Show versions.", epilog=example("ciguard version"))
def version() -> None:
    """Show the versions of ciguard and of Python."""
    click.echo(f"ciguard {__version__}, Python {platform.python_version()}, {platform.platform()}")
