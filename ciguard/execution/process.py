"""The parent's end of a fork server: start it, ask it for workers, hear of their deaths."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.errors import WorkerStartError
from ciguard.execution.decode import Death, excerpt
from ciguard.execution.worker.server import MOST_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.execution.spec import WorkerSpec

_STOP_S = 15.0
BOOTSTRAP = Path(__file__).with_name("worker") / "bootstrap.py"


@dataclass(frozen=True, slots=True)
class Forked:
    """A child lives."""

    ticket: int
    pid: int


@dataclass(frozen=True, slots=True)
class Died:
    """A child is gone."""

    pid: int
    death: Death


def settings(spec: WorkerSpec, folder: Path) -> dict[str, Any]:
    """Return what a target's process is told; `folder` is its own."""
    return {
        "adapter": str(spec.adapter),
        "device": spec.device,
        "mode": spec.mode,
        "readable": [*map(str, spec.readable), str(spec.adapter.parent)],
        "writable": [*map(str, spec.writable), str(folder)],
        "scratch": str(folder),
        "processes": spec.processes,
        "warm_up": spec.warm_up,
        "functions": spec.functions,
        "confine": spec.confine,
        "memory_mib": spec.limits.memory_mib,
        "output_mib": spec.limits.output_mib,
    }


def environment(spec: WorkerSpec, folder: Path) -> dict[str, str]:
    """Return the environment of a target's process; `folder` is its own."""
    # Sets are printed and walked in the order of hashes: the same one in every process.
    fixed = {"PYTHONHASHSEED": "0"}
    return {**fixed, **spec.variables, "HOME": str(folder), "TMPDIR": str(folder)}


class ServerProcess:
    """One target's fork server."""

    def __init__(self, spec: WorkerSpec, *, scratch: Path) -> None:
        """Start the process; `wait_ready` tells when it can be used.

        Args:
            spec: what to run.
            scratch: an existing folder of which the server gets a part of its own.
        """
        self.spec = spec
        self.version = ""
        self.confined_by: tuple[str, ...] = ()
        self._tickets = 0
        self._folder = Path(tempfile.mkdtemp(dir=scratch))
        self._log_path = self._folder / "server.log"
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, self._log_path.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    spec.python,
                    "-Ss",  # nothing of the target's runs before the process is confined
                    BOOTSTRAP,
                    json.dumps(settings(spec, self._folder)),
                    str(theirs.fileno()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment(spec, self._folder),
                cwd=self._folder,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    @property
    def process_id(self) -> int:
        """The server's process, which is also its group."""
        return self._process.pid

    def wait_ready(self) -> None:
        """Wait until the library is imported.

        Raises:
            WorkerStartError: if it cannot be imported, or not in time.
        """
        ready, _, _ = select.select([self.control], [], [], self.spec.limits.start_s)
        message = self._receive() if ready else None
        if message is None:
            why = "ended" if ready else f"did not answer within {self.spec.limits.start_s:g} s"
            msg = f"{self.spec.name}: its interpreter {why}. {self._log()}"
            raise WorkerStartError(msg)
        if "failed" in message:
            details = "".join(message["log"]).strip()
            msg = f"{self.spec.name}: the library cannot be loaded: {message['failed']}\n{details}"
            raise WorkerStartError(msg)
        self.version = str(message["ready"]["version"])
        self.confined_by = tuple(message["ready"]["confined_by"])

    def _server_died(self) -> WorkerStartError:
        return WorkerStartError(f"{self.spec.name}: its fork server died. {self._log()}")

    def _log(self) -> str:
        return "Its last words:\n" + excerpt(self._log_path.read_bytes()).strip()

    def _receive(self) -> dict[str, Any] | None:
        try:
            data = self.control.recv(MOST_MESSAGE)
        except ConnectionError:
            return None
        return json.loads(data) if data else None

    def request(self, operation: str, descriptors: Sequence[int], *, perturb: int = 0) -> int:
        """Ask for a child that runs `operation` with these descriptors.

        Returns:
            The request's ticket: `Forked` carries it.

        Raises:
            WorkerStartError: if the server is gone.
        """
        self._tickets += 1
        request = {"op": operation, "ticket": self._tickets, "perturb": perturb}
        message = json.dumps(request).encode()
        try:
            socket.send_fds(self.control, [message], descriptors)
        except OSError as error:
            raise self._server_died() from error
        return self._tickets

    def kill(self, pid: int, *, dump: bool) -> None:
        """Ask for the end of a child; with `dump` its Python stack is written first."""
        message = json.dumps({"op": "kill", "pid": pid, "dump": dump}).encode()
        with contextlib.suppress(OSError):  # already gone: its death is reported by itself
            self.control.send(message)

    def has_news(self, timeout_s: float) -> bool:
        """Tell whether `report` would answer at once, waiting up to `timeout_s` for that."""
        ready, _, _ = select.select([self.control], [], [], timeout_s)
        return bool(ready)

    def report(self) -> Forked | Died:
        """Return the next thing the server says; waits for it.

        Raises:
            WorkerStartError: if the server is gone.
        """
        message = self._receive()
        if message is None:
            raise self._server_died()
        if "forked" in message:
            return Forked(int(message["forked"]), int(message["pid"]))
        return Died(int(message["died"]), Death(int(message["status"]), int(message["peak_kib"])))

    def stop(self) -> None:
        """End the server and with it every worker; remove what they wrote."""
        self.control.close()
        self._process.terminate()  # its first process ends all that the others have left
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # its children die with it
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
