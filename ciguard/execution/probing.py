"""What confinement holds on this machine, tried in a worker: harmless attempts, one by one."""

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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.values import Json

_LIMIT_S = 30.0
_MAX_FOLDER_BYTES = 70
"""The kernel takes 107 bytes for the path of a socket, which has a folder of its own in there."""
_SHORT_FOLDER = "/tmp"  # noqa: S108 - a folder is made there, with a name that nobody can guess
_NAME = "confinement"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One attempt of a worker at what it must not do."""

    name: str
    """Short and stable, such as `unix-socket`."""
    attack: str
    """What was tried: ends the sentence "a worker can …"."""
    holds: bool
    """Whether it was refused."""
    detail: str
    """What refused it, e.g. `EPERM`; or why nothing is known, which counts as not refused."""


def probe_confinement() -> tuple[Probe, ...]:
    """Try on this machine, in a worker of ciguard's own interpreter, what workers must not do.

    Raises:
        WorkerStartError: if no worker can be started at all.
    """
    spec = WorkerSpec(
        name=_NAME,
        python=Path(sys.executable),
        adapter=Path(__file__).with_name("worker") / "nothing.py",
        readable=tuple({Path(sys.prefix), Path(sys.base_prefix), *_packages()}),
    )
    with Dispatcher() as dispatcher:
        started = dispatcher.start([spec])[_NAME]
        if isinstance(started, Exception):
            raise started
        return probe_target(dispatcher, spec)


def probe_target(dispatcher: Dispatcher, spec: WorkerSpec) -> tuple[Probe, ...]:
    """Try what the workers of a started target must not do. No job may be under way.

    Raises:
        WorkerStartError: if the target's server is gone.
    """
    with bait() as offered:
        on_device = spec.device != "cpu"
        given = {**offered, "processes": spec.processes, "devices": on_device}
        script = f"from ciguard.execution.worker import attempts\nattempts.report({given!r})\n"
        result = dispatcher.errands(spec.name).run_script(script, limit_s=_LIMIT_S)
    try:
        refusals = json.loads((result.log.splitlines() or [""])[-1])
        known = refusals
    except ValueError:
        known = {}
    return probes_from(known, missing=f"no answer: {result.log[-200:]}")


def probes_from(refusals: Json, *, missing: str) -> tuple[Probe, ...]:
    """Return the attempts with what refused them.

    Args:
        refusals: what the process reports, by the names of attempts.
        missing: why there is no report, for where it is empty.
    """
    known = refusals if isinstance(refusals, dict) else {}
    missing = "" if known else missing
    return tuple(_probe(a.name, a.attack, str(known.get(a.name, "")), missing) for a in ATTEMPTS)


def _probe(name: str, attack: str, refusal: str, missing: str) -> Probe:
    return Probe(name=name, attack=attack, holds=bool(refusal), detail=refusal or missing)


def _packages() -> list[Path]:
    return [Path(entry) for entry in sys.path if entry and Path(entry).is_dir()]


def _parent_of_socket() -> str:
    """Return the folder for temporary files; another one where the path of a socket is too long."""
    folder = tempfile.gettempdir()
    return folder if len(os.fsencode(folder)) <= _MAX_FOLDER_BYTES else _SHORT_FOLDER


@contextmanager
def bait() -> Iterator[dict[str, Json]]:
    """Offer what attempts are made on: two daemons, a port and a file, all of this process."""
    with ExitStack() as stack:
        parent = _parent_of_socket()
        made = tempfile.TemporaryDirectory(prefix="ciguard-probe-", dir=parent)
        folder = Path(stack.enter_context(made))
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
