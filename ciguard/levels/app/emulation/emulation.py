"""Starts the emulated services with a user's options."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.dead_conditions.vocabulary import read_vocabulary
from ciguard.levels.app.emulation.emulator import Emulator
from ciguard.levels.app.emulation.remote import GrpcProcess, client_address_of
from ciguard.levels.app.emulation.rest import RestServer
from ciguard.levels.app.input_synthesis.folder import LabelledFolder
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import PROVIDERS, answered_operations
from ciguard.levels.app.virtualization.choosing import local_engines
from ciguard.levels.app.virtualization.confusion_matrix import read_confusion_matrix
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.faults import read_faults
from ciguard.levels.app.virtualization.faulty import with_faults
from ciguard.levels.app.virtualization.recording import ReplayEngine, with_recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ciguard.levels.app.emulation.remote import GrpcAvailable, GrpcUnavailable
    from ciguard.levels.app.emulation.rest import RequestLogEntry
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.virtualization.engine import Engine

_CHECK_INTERVAL_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulationOptions:
    """Options of the emulation."""

    host: str = "127.0.0.1"
    port: int = 0
    """Port of the HTTP server; 0 for any free port."""
    grpc_port: int = 0
    """Port of the gRPC server; 0 for any free port."""
    python: str = sys.executable
    """Interpreter with the client libraries, which define the messages of gRPC."""
    images: Path | None = None
    """Folder with images in a subfolder for each label: what simulated answers say they show."""
    labels: Path | None = None
    """File with the labels of simulated answers."""
    confusion_matrix: Path | None = None
    """File with the confusion matrix of simulated answers."""
    replay: Path | None = None
    """Recording whose answers are replayed; None to generate answers."""
    record: Path | None = None
    """File in which answers are recorded; None for no recording."""
    faults: Path | None = None
    """File with the faults to inject; None for no faults."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Emulation:
    """Emulated services that are running."""

    host: str
    rest_port: int
    grpc: GrpcAvailable | GrpcUnavailable
    engines: EngineChain
    _grpc_process: GrpcProcess

    @property
    def address(self) -> str:
        """URL of the HTTP server for clients on this machine."""
        host = client_address_of(self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.rest_port}"

    def wait(self) -> None:
        """Wait until the user interrupts the command.

        Raises:
            EndedError: if the gRPC process has ended.
        """
        while True:
            time.sleep(_CHECK_INTERVAL_S)
            self._grpc_process.check()

    def answering(self) -> Mapping[Operation, Engine | None]:
        """Return the engine that answers each operation; None if no engine does."""
        return {
            operation: self.engines.engine_for(operation) for operation in answered_operations()
        }


@contextlib.contextmanager
def emulation(
    options: EmulationOptions, on_request: Callable[[RequestLogEntry], None]
) -> Iterator[Emulation]:
    """Run the services while the context is open.

    Args:
        options: options of the emulation.
        on_request: callback for each request; called from any thread, one call at a time.

    Raises:
        ConfigurationError: if a file is invalid, or an address cannot be used.
        WorkerStartError: if the interpreter does not start.
        EndedError: if the gRPC process ends at once.
        Exception: a defect of ciguard that occurred while it answered.
    """
    engines = _engines(options)
    server = RestServer(options.host, options.port, Emulator(engines), on_request)
    with server, contextlib.ExitStack() as cleanup:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cleanup.callback(server.shutdown)
        # Only the first provider with gRPC is served.
        grpc = next(
            provider.grpc for provider in PROVIDERS.items().values() if provider.grpc is not None
        )
        grpc_process = GrpcProcess(
            grpc, options.python, options.host, options.grpc_port, server.port
        )
        cleanup.callback(grpc_process.close)
        yield Emulation(options.host, server.port, grpc_process.start(), engines, grpc_process)
    for defect in server.defects:
        raise defect


def _engines(options: EmulationOptions) -> EngineChain:
    """Return the engines that a user's options select, with recording and faults."""
    engines: tuple[Engine, ...]
    if options.replay is not None:
        engines = (ReplayEngine(options.replay),)
    else:
        labels = read_vocabulary(options.labels) if options.labels else None
        confusion_matrix = (
            read_confusion_matrix(options.confusion_matrix) if options.confusion_matrix else None
        )
        images = LabelledFolder(options.images) if options.images else None
        labelled = images.every(RecognitionTask.LABELS) if images else ()
        input_specs = {image.digest: image.wanted for image in labelled}
        engines = local_engines(
            labels, input_specs, confusion=0.0, seed=options.seed, confusion_matrix=confusion_matrix
        ).engines
    faults = read_faults(options.faults) if options.faults else ()
    return EngineChain(with_faults(with_recording(options.record, engines), faults, options.seed))
