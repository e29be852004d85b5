"""A process that runs under Valgrind's callgrind and counts the instructions of calls."""

from __future__ import annotations

import json
import os
import platform
import select
import shutil
import socket
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.domain.outcomes import Passed
from ciguard.errors import WorkerStartError
from ciguard.execution.child import Child, Launch
from ciguard.execution.decode import decode_record, excerpt, read_bounded
from ciguard.execution.measurement import Measurement, Quantity, decode_measured
from ciguard.execution.memory_files import append_file
from ciguard.execution.process import BOOTSTRAP, environment, settings
from ciguard.execution.reports import ReportError, decode_start
from ciguard.execution.worker.counting import MAX_MESSAGE, files_in
from ciguard.execution.worker.removal import remove_tree

if TYPE_CHECKING:
    from ciguard.execution.spec import WorkerSpec

_STOP_S = 5.0
_GRACE_S = 2.0
"""Time that a process has to report a timeout, in seconds, beyond that of the request."""
_MACHINE = "x86_64"
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
}
"""Variables for a single thread: threads that wait for each other execute instructions, too."""


def find_valgrind() -> Path | None:
    """Return the path of Valgrind; None if it is not installed, or the processor is unknown."""
    path = shutil.which("valgrind") if platform.machine() == _MACHINE else None
    # Debian's is a script that starts the program beside it, so that a link to it does not work.
    return Path(path).resolve() if path else None


def instructions_request(case: bytes, *, repetitions: int) -> bytes:
    """Return the request for the instructions per call, for `CountingProcess.send`."""
    plan = json.dumps([Quantity.INSTRUCTIONS.value, repetitions])
    return b"[" + plan.encode("ascii") + b"," + case + b"]"


def _command(valgrind: Path, files: str) -> list[str]:
    """Return the command under which an interpreter runs, without counting yet.

    Args:
        valgrind: path returned by `find_valgrind`.
        files: prefix of the files that callgrind writes.
    """
    return [
        str(valgrind),
        "--tool=callgrind",
        "--instr-atstart=no",
        "--vgdb=no",
        "--trace-children=no",
        f"--callgrind-out-file={files}.%p",
    ]


class CountingProcess:
    """One target's interpreter under callgrind, which counts the instructions of calls."""

    def __init__(self, spec: WorkerSpec, *, valgrind: Path, scratch: Path) -> None:
        """Start the process; `wait_ready` returns once it can be used.

        Args:
            spec: specification of the target's workers.
            valgrind: path returned by `find_valgrind`.
            scratch: an existing folder, in which the process's own folder is made.

        Raises:
            OSError: if the process cannot be started.
        """
        self.spec = spec
        self.confined_by: tuple[str, ...] = ()
        """Names of the mechanisms that confine the process."""
        self._until = 0.0
        """Deadline of the report that is awaited."""
        self._folder = Path(tempfile.mkdtemp(dir=scratch))
        self._log_file = append_file("ciguard-counting-log")
        self._control, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = _command(valgrind, files_in(str(self._folder)))
        described = {**settings(spec, self._folder), "counted_by": command}
        with child_end:
            self._child = Child(
                Launch(
                    argv=[
                        *(spec.python, "-Ss", BOOTSTRAP),
                        *(json.dumps(described), str(child_end.fileno())),
                    ],
                    environment={**environment(spec, self._folder), **_ONE_THREAD},
                    folder=self._folder,
                    output=self._log_file,
                    errors=self._log_file,
                    descriptors=[child_end.fileno()],
                )
            )

    def wait_ready(self, until: float) -> None:
        """Wait until the library is imported.

        Args:
            until: deadline on the clock of `time.monotonic`.

        Raises:
            WorkerStartError: if the import fails or exceeds its time limit.
        """
        message = self._receive(until)
        if message is None:
            msg = f"{self.spec.name}: no start under Valgrind in time. {self._log()}"
            raise WorkerStartError(msg)
        try:
            start = decode_start(message)
        except ReportError as error:
            msg = f"{self.spec.name}: no start under Valgrind: {error}. {self._log()}"
            raise WorkerStartError(msg) from error
        if start.failure:
            msg = f"{self.spec.name}: the library cannot be loaded under Valgrind: {start.failure}"
            raise WorkerStartError(msg)
        self.confined_by = start.confined_by

    def send(self, request: bytes, *, shift: int, limit_s: float) -> bool:
        """Request a count; `receive` returns it.

        Args:
            request: request of `instructions_request`.
            shift: number that determines the layout of the memory.
            limit_s: timeout in seconds.

        Returns:
            False if the request is too large, or the process is gone.
        """
        message = json.dumps({"case": json.loads(request), "shift": shift, "limit_s": limit_s})
        self._until = time.monotonic() + limit_s + _GRACE_S
        try:
            return len(message) <= MAX_MESSAGE and self._control.send(message.encode()) > 0
        except OSError:
            return False

    def receive(self) -> Measurement | None:
        """Return the count that was requested last; None if the call did not pass in time.

        Raises:
            WorkerStartError: if the process is gone, or violates the protocol.
        """
        message = self._receive(self._until)
        if message is None:
            msg = f"{self.spec.name}: its process under Valgrind is gone. {self._log()}"
            raise WorkerStartError(msg)
        return decode_count(message)

    def _receive(self, until: float) -> bytes | None:
        ready, _, _ = select.select([self._control], [], [], max(0.0, until - time.monotonic()))
        try:
            return (self._control.recv(MAX_MESSAGE) or None) if ready else None
        except ConnectionError:
            return None

    def _log(self) -> str:
        return "Its log:\n" + excerpt(read_bounded(self._log_file)).strip()

    def close(self) -> None:
        """End the process and all that it started, and remove its files."""
        self._control.close()
        self._child.terminate()
        self._child.close(grace_s=_STOP_S)
        os.close(self._log_file)
        remove_tree(str(self._folder))


def decode_count(message: bytes) -> Measurement | None:
    """Return the instructions per call in a report of a process; None if it has none."""
    try:
        report: Any = json.loads(message)
        status, record = report["status"], report["record"]
        outcome = decode_record((int(status), 0, str(record).encode("ascii")))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    measured = decode_measured(outcome.encoded) if isinstance(outcome, Passed) else None
    is_count = measured is not None and measured.quantity is Quantity.INSTRUCTIONS
    return measured if is_count else None
