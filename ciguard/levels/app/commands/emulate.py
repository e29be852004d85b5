"""`ciguard app emulate`: services in the place of Google's, AWS's and Azure's, on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard import interrupts
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from ciguard.levels.app.emulation import RequestLogEntry

_FILE = click.Path(dir_okay=False, path_type=Path)
_PORT = click.IntRange(0, 65535)


@click.command(short_help="Answer in the place of cognitive services, on this machine.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=_PORT, default=0, help="Of HTTP. [default: any that is free]")
@click.option("--grpc-port", type=_PORT, default=0, help="Of gRPC. [default: any that is free]")
@click.option(
    "--python",
    default=sys.executable,
    help="Interpreter that has Google's clients, for gRPC. [default: ciguard's own]",
)
@click.option(
    "--images",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder with images in a folder for each label, which answers recognise.",
)
@click.option("--labels", type=_FILE, help="Labels that made-up answers are from.")
@click.option(
    "--habits", type=_FILE, help="What made-up answers say of some things, and how often, TOML."
)
@click.option("--replay", type=_FILE, help="Answer from this recording instead of an engine.")
@click.option("--record", type=_FILE, help="Keep what was answered in this file, for `--replay`.")
@click.option("--faults", type=_FILE, help="What goes wrong on purpose, and how often, TOML.")
@click.option("--seed", type=int, default=0, show_default=True)
def emulate(  # noqa: PLR0913 - one for each option
    *,
    host: str,
    port: int,
    grpc_port: int,
    python: str,
    images: Path | None,
    labels: Path | None,
    habits: Path | None,
    replay: Path | None,
    record: Path | None,
    faults: Path | None,
    seed: int,
) -> None:
    """Answer in the place of Google's, AWS's and Azure's services, on this machine.

    Listens for what clients of Google Cloud Vision, Language and Speech ask, by gRPC and REST, and
    by HTTP for those of AWS Rekognition and Comprehend, Azure AI Vision and Language. Prints where,
    and how clients are told; point an application at it that runs in its own way, in another
    process or language. Engines on this machine recognise what is written, said and felt, and
    faces; labels, objects, topics and entities are made up. Nothing is sent anywhere. Each request
    is told on standard error, without its content. Ends with Ctrl-C.
    """
    from ciguard.levels.app.emulation import Emulating, emulation
    from ciguard.levels.app.reports.emulation import RequestLog, emulation_lines

    if replay is not None and record is not None:
        msg = f"--replay {replay} and --record {record}: what is replayed is recorded already."
        raise ConfigurationError(msg)
    if habits is not None and images is None:
        msg = f"--habits {habits}: is of what images show: name them with --images."
        raise ConfigurationError(msg)
    log = RequestLog()

    def tell(asked: RequestLogEntry) -> None:
        click.echo(log.line(asked), err=True)

    emulating = Emulating(
        host=host,
        port=port,
        grpc_port=grpc_port,
        python=python,
        images=images,
        labels=labels,
        habits=habits,
        replay=replay,
        record=record,
        faults=faults,
        seed=seed,
    )
    with interrupts.raised():
        try:
            with emulation(emulating, tell) as running:
                click.echo("\n".join(emulation_lines(running)))  # at once, for who reads the first
                running.wait()
        except KeyboardInterrupt:  # as it is meant to end
            click.echo(log.summary(), err=True)
