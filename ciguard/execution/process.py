"""The parent's end of a fork server: start it, ask it for workers, hear of their deaths."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.errors import WorkerStartError
from ciguard.execution.child import Child, Launch
from ciguard.execution.decode import contents, excerpt
from ciguard.execution.memory_files import append_file
from ciguard.execution.reports import ChildDied, Forked, ReportError, decode_report, decode_start
from ciguard.execution.worker.removal import remove_tree
from ciguard.execution.worker.server import MAX_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.execution.spec import WorkerSpec

_STOP_S = 15.0
BOOTSTRAP = Path(__file__).with_name("worker") / "bootstrap.py"
"""Script that confines its process, then runs what the settings in its first argument say."""
_STALLED_S = 1.0
"""After so long without an answer, a server that somebody stopped is told to go on."""
_MAX_LOG_MIB = 64
"""Its log is memory: a library that prints for ever when it is imported is ended."""
_LOOK_S = 0.1
_UNANSWERED_S = 60.0
"""A server that has not answered after so long never will."""


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
        self.false_starts = 0
        """Workers that ended before they could take a case, since one last reported anything."""
        self._tickets = 0
        self._unanswered: dict[str, float] = {}
        """What the server was asked and has not done yet, and when."""
        self._folder = Path(tempfile.mkdtemp(dir=scratch))
        # Not a file in the folder: workers write there, and could put a link in its place.
        self._log_file = append_file("ciguard-server-log")
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            argv: list[str | Path] = [
                spec.python,
                "-Ss",  # nothing of the target's runs before the process is confined
                BOOTSTRAP,
                json.dumps(settings(spec, self._folder)),
                str(theirs.fileno()),
            ]
            self._child = Child(
                Launch(
                    argv=argv,
                    environment=environment(spec, self._folder),
                    folder=self._folder,
                    output=self._log_file,
                    errors=self._log_file,
                    descriptors=[theirs.fileno()],
                )
            )

    @property
    def process_id(self) -> int:
        """The server's process, which is also its group."""
        return self._child.process_id

    def wait_ready(self) -> None:
        """Wait until the library is imported.

        Raises:
            WorkerStartError: if it cannot be imported, or not in time.
        """
        deadline = time.monotonic() + self.spec.limits.start_s
        while not (ready := self.has_news(_LOOK_S)) and time.monotonic() < deadline:
            self._bound_log()
        message = self._receive() if ready else None
        if message is None:
            why = "ended" if ready else f"did not answer within {self.spec.limits.start_s:g} s"
            msg = f"{self.spec.name}: its interpreter {why}. {self._log()}"
            raise WorkerStartError(msg)
        try:
            start = decode_start(message)
        except ReportError as error:
            raise self._broken(error) from error
        if start.failure:
            msg = f"{self.spec.name}: the library cannot be loaded: {start.failure}"
            raise WorkerStartError(msg)
        self.version = start.version
        self.confined_by = start.confined_by

    def _bound_log(self) -> None:
        if os.fstat(self._log_file).st_size > _MAX_LOG_MIB * 1024 * 1024:
            self._end()
            msg = (
                f"{self.spec.name}: its fork server printed over {_MAX_LOG_MIB} MiB. {self._log()}"
            )
            raise WorkerStartError(msg)

    def _server_died(self) -> WorkerStartError:
        return WorkerStartError(f"{self.spec.name}: its fork server died. {self._log()}")

    def _broken(self, error: ReportError) -> WorkerStartError:
        """End a server that does not keep to the protocol; return what to raise."""
        self._end()
        return WorkerStartError(
            f"{self.spec.name}: its fork server broke the protocol: {error}. {self._log()}"
        )

    def _log(self) -> str:
        return "Its last words:\n" + excerpt(contents(self._log_file)).strip()

    def _receive(self) -> bytes | None:
        try:
            return self.control.recv(MAX_MESSAGE) or None
        except ConnectionError:
            return None

    def request(self, operation: str, descriptors: Sequence[int], *, perturb: int = 0) -> int:
        """Ask for a child that runs `operation` with these descriptors.

        Returns:
            The request's ticket: `Forked` carries it.

        Raises:
            WorkerStartError: if the server is gone, or reads nothing any more.
        """
        self._tickets += 1
        request = {"op": operation, "ticket": self._tickets, "perturb": perturb}
        message = json.dumps(request).encode()
        try:
            socket.send_fds(self.control, [message], descriptors, socket.MSG_DONTWAIT)
        except OSError as error:
            raise self._server_died() from error
        self._unanswered[f"fork {self._tickets}"] = time.monotonic()
        return self._tickets

    def kill(self, pid: int, *, dump: bool) -> None:
        """Ask for the end of a child; with `dump` its Python stack is written first."""
        self._send_kill(pid, dump=dump)
        self._unanswered[f"kill {pid}"] = time.monotonic()

    def forsake(self, pid: int) -> None:
        """Do not wait any more for the end of a child that was killed and does not die."""
        self._unanswered.pop(f"kill {pid}", None)

    def dismiss(self, pid: int) -> None:
        """Ask for the end of a child that nobody needs any more, and may have ended by itself."""
        self._send_kill(pid, dump=False)

    def _send_kill(self, pid: int, *, dump: bool) -> None:
        message = json.dumps({"op": "kill", "pid": pid, "dump": dump}).encode()
        with contextlib.suppress(OSError):  # already gone: its death is reported by itself
            self.control.send(message, socket.MSG_DONTWAIT)

    def check(self, now: float) -> None:
        """See to it that the server does what it was asked; one that was stopped must go on.

        Raises:
            WorkerStartError: if it does not, or prints without end.
        """
        self._bound_log()
        waiting_s = now - min(self._unanswered.values(), default=now)
        if waiting_s < _STALLED_S or self.has_news(0):
            return
        if waiting_s > _UNANSWERED_S:
            self._end()
            msg = f"{self.spec.name}: its fork server does not answer any more. {self._log()}"
            raise WorkerStartError(msg)
        self._child.go_on()

    def has_news(self, timeout_s: float) -> bool:
        """Return whether `report` would answer at once, waiting up to `timeout_s` for that."""
        ready, _, _ = select.select([self.control], [], [], timeout_s)
        return bool(ready)

    def report(self) -> Forked | ChildDied:
        """Return the next thing the server says; waits for it.

        Raises:
            WorkerStartError: if the server is gone.
        """
        message = self._receive()
        if message is None:
            raise self._server_died()
        try:
            report = decode_report(message)
        except ReportError as error:
            raise self._broken(error) from error
        done = f"fork {report.ticket}" if isinstance(report, Forked) else f"kill {report.pid}"
        self._unanswered.pop(done, None)
        return report

    def request_end(self) -> None:
        """Tell the server to end; `stop` waits for that."""
        self._child.request_end()

    def _end(self) -> None:
        self._child.request_end()
        self._child.end(patience_s=_STOP_S)  # workers die with the server

    def stop(self) -> None:
        """End the server and with it every worker; remove what they wrote."""
        self.control.close()
        self._child.request_end()
        self._child.close(patience_s=_STOP_S)
        os.close(self._log_file)
        remove_tree(str(self._folder))
