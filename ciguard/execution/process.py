"""The parent's end of a fork server: start it, request workers, and receive reports of exits."""

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
from ciguard.execution.decode import excerpt, read_bounded
from ciguard.execution.kernel_log import KernelLog
from ciguard.execution.memory_files import append_file
from ciguard.execution.reports import ChildExited, Forked, ReportError, decode_report, decode_start
from ciguard.execution.worker.removal import remove_tree
from ciguard.execution.worker.server import MAX_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.execution.spec import WorkerSpec

_STOP_S = 15.0
BOOTSTRAP = Path(__file__).with_name("worker") / "bootstrap.py"
"""Script that confines its process, then runs what its first argument, the settings, names."""
_STALLED_S = 1.0
"""Seconds without an answer after which a server is resumed, in case it was stopped."""
_MAX_LOG_MIB = 64
"""Maximum size of a server's log, which is in memory: a library may print without end."""
_POLL_S = 0.1
_ANSWER_TIMEOUT_S = 60.0
"""Seconds without an answer after which a server is ended."""


def settings(spec: WorkerSpec, folder: Path) -> dict[str, Any]:
    """Return the settings of a target's process, which may write to `folder`."""
    readable = [*spec.readable, spec.adapter.parent, *([spec.guard] if spec.guard else [])]
    return {
        "adapter": str(spec.adapter),
        "device": spec.device,
        "mode": spec.mode,
        "guarded": spec.guard is not None,
        "readable": [*map(str, readable)],
        "writable": [*map(str, spec.writable), str(folder)],
        "scratch": str(folder),
        "processes": spec.processes,
        "warm_up": spec.warm_up,
        "relations": spec.relations,
        "functions": spec.functions,
        "confine": spec.confine,
        "memory_mib": spec.limits.memory_mib,
        "ample_memory_mib": spec.limits.memory_limit_mib(is_ample=True),
        "output_mib": spec.limits.output_mib,
    }


def environment(spec: WorkerSpec, folder: Path) -> dict[str, str]:
    """Return the environment of a target's process, whose home is `folder`."""
    # Sets are iterated in the order of hashes, which must be the same in every process.
    fixed = {"PYTHONHASHSEED": "0"}
    guard = {} if spec.guard is None else {"LD_PRELOAD": str(spec.guard)}
    return {**fixed, **spec.variables, **guard, "HOME": str(folder), "TMPDIR": str(folder)}


class ServerProcess:
    """One target's fork server."""

    def __init__(self, spec: WorkerSpec, *, scratch: Path) -> None:
        """Start the process; `wait_ready` returns once it can be used.

        Args:
            spec: interpreter, adapter and limits of the target.
            scratch: an existing folder, in which the server's own folder is made.
        """
        self.spec = spec
        self.version = ""
        """Version of the library; empty until `wait_ready` returns."""
        self.confined_by: tuple[str, ...] = ()
        """Names of the mechanisms that confine the process."""
        self.false_starts = 0
        """Workers that exited before they could take a case, since a worker last reported."""
        self.kernel_log = KernelLog() if spec.device != "cpu" else None
        """Messages of the device's driver; None on a CPU."""
        self._tickets = 0
        self._unanswered: dict[str, float] = {}
        """Start times of the requests that the server has not answered yet."""
        self._folder = Path(tempfile.mkdtemp(dir=scratch))
        # Not a file in the folder, where workers could replace it by a link.
        self._log_file = append_file("ciguard-server-log")
        self.control, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with child_end:
            argv: list[str | Path] = [
                spec.python,
                "-Ss",  # none of the target's code runs before the process is confined
                BOOTSTRAP,
                json.dumps(settings(spec, self._folder)),
                str(child_end.fileno()),
            ]
            self._child = Child(
                Launch(
                    argv=argv,
                    environment=environment(spec, self._folder),
                    folder=self._folder,
                    output=self._log_file,
                    errors=self._log_file,
                    descriptors=[child_end.fileno()],
                )
            )

    @property
    def process_id(self) -> int:
        """Process id of the server, which is also that of its group."""
        return self._child.process_id

    def wait_ready(self) -> None:
        """Wait until the library is imported.

        Raises:
            WorkerStartError: if the import fails or exceeds its time limit.
        """
        deadline = time.monotonic() + self.spec.limits.start_s
        while not (ready := self.has_report(_POLL_S)) and time.monotonic() < deadline:
            self._bound_log()
        message = self._receive() if ready else None
        if message is None:
            reason = "exited" if ready else f"did not answer within {self.spec.limits.start_s:g} s"
            msg = f"{self.spec.name}: its interpreter {reason}. {self._log()}"
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
            self._kill_server()
            msg = (
                f"{self.spec.name}: its fork server printed over {_MAX_LOG_MIB} MiB. {self._log()}"
            )
            raise WorkerStartError(msg)

    def _server_exited(self) -> WorkerStartError:
        return WorkerStartError(f"{self.spec.name}: its fork server exited. {self._log()}")

    def _broken(self, error: ReportError) -> WorkerStartError:
        """Kill a server that violates the protocol, and return the error to raise."""
        self._kill_server()
        return WorkerStartError(
            f"{self.spec.name}: its fork server violated the protocol: {error}. {self._log()}"
        )

    def _log(self) -> str:
        return "Its log:\n" + excerpt(read_bounded(self._log_file)).strip()

    def _receive(self) -> bytes | None:
        try:
            return self.control.recv(MAX_MESSAGE) or None
        except ConnectionError:
            return None

    def request(
        self,
        operation: str,
        descriptors: Sequence[int],
        *,
        perturb: int = 0,
        has_ample_memory: bool = False,
        is_synchronous: bool = False,
    ) -> int:
        """Request a child that runs `operation` with these descriptors.

        Args:
            operation: name of a task, see `worker.tasks`.
            descriptors: descriptors that the task needs.
            perturb: byte that fills newly allocated memory; 0 leaves memory as it is.
            has_ample_memory: whether the child has the higher memory limit.
            is_synchronous: whether the child's device runs each kernel before the call returns.

        Returns:
            The request's ticket, which the report `Forked` repeats.

        Raises:
            WorkerStartError: if the server is gone or no longer reads.
        """
        self._tickets += 1
        request = {
            "op": operation,
            "ticket": self._tickets,
            "perturb": perturb,
            "has_ample_memory": has_ample_memory,
            "is_synchronous": is_synchronous,
        }
        message = json.dumps(request).encode()
        try:
            socket.send_fds(self.control, [message], descriptors, socket.MSG_DONTWAIT)
        except OSError as error:
            raise self._server_exited() from error
        self._unanswered[f"fork {self._tickets}"] = time.monotonic()
        return self._tickets

    def kill(self, pid: int, *, dump: bool) -> None:
        """Request that a child is killed; with `dump`, its Python stack is written first."""
        self._send_kill(pid, dump=dump)
        self._unanswered[f"kill {pid}"] = time.monotonic()

    def stop_awaiting(self, pid: int) -> None:
        """Stop waiting for the exit of a child that was killed and does not exit."""
        self._unanswered.pop(f"kill {pid}", None)

    def dismiss(self, pid: int) -> None:
        """Request the end of a child that is no longer needed and may have exited already."""
        self._send_kill(pid, dump=False)

    def _send_kill(self, pid: int, *, dump: bool) -> None:
        message = json.dumps({"op": "kill", "pid": pid, "dump": dump}).encode()
        with contextlib.suppress(OSError):  # a server that is gone is noticed elsewhere
            self.control.send(message, socket.MSG_DONTWAIT)

    def check(self, now: float) -> None:
        """Check that the server answers its requests; resume it if it was stopped.

        Raises:
            WorkerStartError: if it does not answer in time, or its log is too large.
        """
        self._bound_log()
        waiting_s = now - min(self._unanswered.values(), default=now)
        if waiting_s < _STALLED_S or self.has_report(0):
            return
        if waiting_s > _ANSWER_TIMEOUT_S:
            self._kill_server()
            msg = f"{self.spec.name}: its fork server no longer answers. {self._log()}"
            raise WorkerStartError(msg)
        self._child.resume()

    def has_report(self, timeout_s: float) -> bool:
        """Return whether a report is available, waiting up to `timeout_s` seconds for one."""
        ready, _, _ = select.select([self.control], [], [], timeout_s)
        return bool(ready)

    def next_report(self) -> Forked | ChildExited:
        """Wait for the next report of the server, and return it.

        Raises:
            WorkerStartError: if the server is gone.
        """
        message = self._receive()
        if message is None:
            raise self._server_exited()
        try:
            report = decode_report(message)
        except ReportError as error:
            raise self._broken(error) from error
        answered = f"fork {report.ticket}" if isinstance(report, Forked) else f"kill {report.pid}"
        self._unanswered.pop(answered, None)
        return report

    def terminate(self) -> None:
        """Request that the server terminates; `stop` waits for that."""
        self._child.terminate()

    def _kill_server(self) -> None:
        self._child.terminate()
        self._child.kill(grace_s=_STOP_S)  # workers end with the server

    def stop(self) -> None:
        """Stop the server and all its workers, and remove the files that they wrote."""
        self.control.close()
        self._child.terminate()
        self._child.close(grace_s=_STOP_S)
        if self.kernel_log is not None:
            self.kernel_log.close()
        os.close(self._log_file)
        remove_tree(str(self._folder))
