"""`ciguard app emulate`: emulates services of Google, AWS and Azure on this machine."""

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


@click.command(short_help="Emulate cognitive services on this machine.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=_PORT, default=0, help="HTTP port. [default: any free port]")
@click.option("--grpc-port", type=_PORT, default=0, help="gRPC port. [default: any free port]")
@click.option(
    "--python",
    default=sys.executable,
    help="Path of a Python interpreter with Google's client libraries, which gRPC needs. [default: "
    "the Python that runs ciguard]",
)
@click.option(
    "--images",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder with one subfolder of images per label; simulated answers recognise them.",
)
@click.option(
    "--labels", type=_FILE, help="File with the labels that simulated answers may contain."
)
@click.option(
    "--habits",
    "confusion_matrix",
    type=_FILE,
    help="TOML file with a confusion matrix, which decides how often simulated answers are wrong. "
    "Requires --images.",
)
@click.option(
    "--replay",
    type=_FILE,
    help="Recording of a service's answers to use instead of an engine, written by --record.",
)
@click.option(
    "--record", type=_FILE, help="File to which all answers are written; --replay reads this file."
)
@click.option("--faults", type=_FILE, help="TOML file with faults to inject.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Random seed of simulated answers."
)
def emulate(  # noqa: PLR0913 - one parameter for each option
    *,
    host: str,
    port: int,
    grpc_port: int,
    python: str,
    images: Path | None,
    labels: Path | None,
    confusion_matrix: Path | None,
    replay: Path | None,
    record: Path | None,
    faults: Path | None,
    seed: int,
) -> None:
    """Emulate the services of Google, AWS and Azure on this machine.

    Answers requests to Google Cloud Vision, Language and Speech, by gRPC and REST. Also answers
    requests over HTTP to AWS Rekognition and Comprehend, and to Azure AI Vision and Language.
    Prints the addresses, and how to configure clients. The application may run in any process or
    language.

    Local engines recognise text, speech, sentiment and faces; labels, objects, topics and entities
    are simulated. Nothing is sent to any server. Each request is logged on standard error, without
    its content. Ctrl-C stops the services.

    Example: ciguard app emulate --port 8080 --grpc-port 8081
    """
    from ciguard.levels.app.emulation import EmulationOptions, emulation
    from ciguard.levels.app.reports.emulation import RequestLog, emulation_lines

    if replay is not None and record is not None:
        msg = f"--replay {replay} contradicts --record {record}. Remove one of the two options."
        raise ConfigurationError(msg)
    if confusion_matrix is not None and images is None:
        msg = f"--habits {confusion_matrix} has no effect without --images. Add --images FOLDER."
        raise ConfigurationError(msg)
    log = RequestLog()

    def log_request(entry: RequestLogEntry) -> None:
        click.echo(log.line(entry), err=True)

    options = EmulationOptions(
        host=host,
        port=port,
        grpc_port=grpc_port,
        python=python,
        images=images,
        labels=labels,
        confusion_matrix=confusion_matrix,
        replay=replay,
        record=record,
        faults=faults,
        seed=seed,
    )
    with interrupts.raised():
        try:
            with emulation(options, log_request) as running:
                # Printed at once, so that scripts can read the first lines.
                click.echo("\n".join(emulation_lines(running)))
                running.wait()
        except KeyboardInterrupt:  # the usual way to stop
            click.echo(log.summary(), err=True)
