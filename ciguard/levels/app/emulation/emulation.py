"""The whole service: from what a user says to one that listens."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.dead_conditions.vocabulary import read_vocabulary
from ciguard.levels.app.emulation.emulator import Emulator
from ciguard.levels.app.emulation.remote import GrpcSide, reachable
from ciguard.levels.app.emulation.rest import RestServer
from ciguard.levels.app.input_synthesis.folder import LabelledFolder
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import PROVIDERS, answered_operations
from ciguard.levels.app.virtualization.choosing import local_engines
from ciguard.levels.app.virtualization.chosen import Chosen
from ciguard.levels.app.virtualization.faults import read_faults
from ciguard.levels.app.virtualization.faulty import with_faults
from ciguard.levels.app.virtualization.habits import read_habits
from ciguard.levels.app.virtualization.recording import Recorded, kept_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ciguard.levels.app.emulation.remote import Silent, Speaking
    from ciguard.levels.app.emulation.rest import RequestLogEntry
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.virtualization.engine import Engine

_CHECKED_EVERY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulating:
    """What a user says of it."""

    host: str = "127.0.0.1"
    port: int = 0
    """Of HTTP; 0 for any that is free."""
    grpc_port: int = 0
    """Likewise."""
    python: str = sys.executable
    """Interpreter that has client libraries with the messages of gRPC."""
    images: Path | None = None
    """Folder with images in a folder for each label, which made-up answers recognise."""
    labels: Path | None = None
    """Labels that made-up answers are from."""
    habits: Path | None = None
    """What made-up answers say of some things."""
    replay: Path | None = None
    """A recording to answer from."""
    record: Path | None = None
    """Where to keep what was answered."""
    faults: Path | None = None
    """What goes wrong on purpose."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Emulation:
    """A service that listens."""

    host: str
    rest_port: int
    grpc: Speaking | Silent
    engines: Chosen
    _side: GrpcSide

    @property
    def address(self) -> str:
        """Where clients on this machine find what speaks HTTP."""
        host = reachable(self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.rest_port}"

    def wait(self) -> None:
        """Wait for somebody to interrupt it.

        Raises:
            EndedError: if the process that speaks gRPC has ended.
        """
        while True:
            time.sleep(_CHECKED_EVERY_S)
            self._side.check()

    def answering(self) -> Mapping[Operation, Engine | None]:
        """Return what answers each operation; None where nothing does."""
        return {one: self.engines.engine_for(one) for one in answered_operations()}


@contextlib.contextmanager
def emulation(
    emulating: Emulating, telling: Callable[[RequestLogEntry], None]
) -> Iterator[Emulation]:
    """Listen, and answer until it is left.

    Args:
        emulating: how.
        telling: is told of each request, one at a time, from any thread.

    Raises:
        ConfigurationError: if a file does not hold what it should, or an address cannot be had.
        WorkerStartError: if the interpreter does not start.
        EndedError: if the process that speaks gRPC ends at once.
        Exception: a defect of ciguard that was met while it answered.
    """
    engines = _engines(emulating)
    server = RestServer(emulating.host, emulating.port, Emulator(engines), telling)
    with server, contextlib.ExitStack() as opened:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opened.callback(server.shutdown)
        # That of the first provider that speaks it.
        grpc = next(one.grpc for one in PROVIDERS.items().values() if one.grpc is not None)
        side = GrpcSide(grpc, emulating.python, emulating.host, emulating.grpc_port, server.port)
        opened.callback(side.close)
        yield Emulation(emulating.host, server.port, side.start(), engines, side)
    for defect in server.defects:
        raise defect


def _engines(emulating: Emulating) -> Chosen:
    engines: tuple[Engine, ...]
    if emulating.replay is not None:
        engines = (Recorded(emulating.replay),)
    else:
        labels = read_vocabulary(emulating.labels) if emulating.labels else None
        habits = read_habits(emulating.habits) if emulating.habits else None
        images = LabelledFolder(emulating.images) if emulating.images else None
        shown = images.every(RecognitionTask.LABELS) if images else ()
        known = {one.digest: one.wanted for one in shown}
        engines = local_engines(
            labels, known, confusion=0.0, seed=emulating.seed, habits=habits
        ).engines
    faults = read_faults(emulating.faults) if emulating.faults else ()
    return Chosen(with_faults(kept_in(emulating.record, engines), faults, emulating.seed))
