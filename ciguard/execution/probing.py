"""Check of the confinement on this machine, by harmless attempts inside a worker."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.execution.dispatcher import Dispatcher
from ciguard.execution.spec import WorkerSpec
from ciguard.execution.worker.attempts import ATTEMPTS
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.values import Json
    from ciguard.execution.worker.attempts import Attempt

_LIMIT_S = 30.0
_MAX_FOLDER_BYTES = 70
"""Maximum length of the parent folder, as the path of a socket is limited to 107 bytes."""
_SHORT_FOLDER = "/tmp"  # noqa: S108 - the folder that is made there has a random name
_NAME = "confinement"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Result of one forbidden operation that a worker attempted."""

    name: str
    """Short, stable name, such as `unix-socket`."""
    attack: str
    """Description that completes the sentence "a worker can …"."""
    holds: bool
    """True if the operation was refused."""
    detail: str
    """Error that refused it, e.g. `EPERM`, or the reason why the result is unknown."""


def probe_confinement() -> tuple[Probe, ...]:
    """Attempt forbidden operations in a worker that runs ciguard's own interpreter.

    Raises:
        WorkerStartError: if the worker cannot be started.
    """
    spec = WorkerSpec(
        name=_NAME,
        python=Path(sys.executable),
        adapter=Path(__file__).with_name("worker") / "nothing.py",
        readable=tuple({Path(sys.prefix), Path(sys.base_prefix), *_import_folders()}),
    )
    with Dispatcher() as dispatcher:
        started = dispatcher.start([spec])[_NAME]
        if isinstance(started, Exception):
            raise started
        return probe_target(dispatcher, spec)


def probe_target(dispatcher: Dispatcher, spec: WorkerSpec) -> tuple[Probe, ...]:
    """Attempt forbidden operations in a worker of a started target, which must not run any job.

    Raises:
        WorkerStartError: if the target's server is gone.
    """
    with probe_objects() as offered:
        on_device = spec.device != "cpu"
        arguments = {**offered, "processes": spec.processes, "devices": on_device}
        script = f"from ciguard.execution.worker import attempts\nattempts.report({arguments!r})\n"
        result = dispatcher.tasks(spec.name).run_script(script, limit_s=_LIMIT_S)
    try:
        refusals = json.loads((result.log.splitlines() or [""])[-1])
    except ValueError:
        refusals = {}
    return decode_probes(refusals, missing=f"no answer: {result.log[-200:]}")


def decode_probes(refusals: Json, *, missing: str) -> tuple[Probe, ...]:
    """Return the results of all attempts.

    Args:
        refusals: error that refused each attempt, by name, as the worker reports it.
        missing: reason why there is no report, used if `refusals` is empty.
    """
    known = refusals if isinstance(refusals, dict) else {}
    missing = "" if known else missing
    return tuple(_probe(attempt, str(known.get(attempt.name, "")), missing) for attempt in ATTEMPTS)


def _probe(attempt: Attempt, refusal: str, missing: str) -> Probe:
    return Probe(
        name=attempt.name,
        attack=attempt.attack,
        holds=bool(refusal),
        detail=refusal or missing,
    )


def _import_folders() -> list[Path]:
    return [Path(entry) for entry in sys.path if entry and Path(entry).is_dir()]


def _parent_of_socket() -> str:
    """Return the folder for temporary files, or a shorter one if a socket's path is too long."""
    folder = tempfile.gettempdir()
    return folder if len(os.fsencode(folder)) <= _MAX_FOLDER_BYTES else _SHORT_FOLDER


@contextmanager
def probe_objects() -> Iterator[dict[str, Json]]:
    """Create the objects that attempts are made on: two sockets, a port and a file."""
    with ExitStack() as stack:
        parent = _parent_of_socket()
        temporary = tempfile.TemporaryDirectory(prefix=scratch_prefix("probe"), dir=parent)
        folder = Path(stack.enter_context(temporary))
        file, path = folder / "outside", folder / "daemon"
        file.write_text("outside\n", encoding="ascii")
        abstract = f"ciguard-probe-{os.getpid()}"
        for address in (str(path), "\0" + abstract):
            daemon = stack.enter_context(socket.socket(socket.AF_UNIX))
            daemon.bind(address)
            daemon.listen()
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
        yield {
            "guard": os.getpid(),
            "stream": str(path),
            "abstract": abstract,
            "port": port,
            "file": str(file),
        }
