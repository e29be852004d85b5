"""The worker of a lane: request, input, supervision, termination, and the records it leaves."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.execution.channel import Channel
from ciguard.execution.decode import excerpt, read_bounded
from ciguard.execution.memory_files import append_file, sealed_file
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker_monitor import WorkerMonitor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.execution.assignment import AssignedBatch
    from ciguard.execution.job import Job
    from ciguard.execution.process import ServerProcess

_DISCONNECTED_S = 1.0
"""Seconds after which a worker is killed whose connection is closed."""
_WORKER_START_S = 60.0
"""Timeout of the start of a worker, in seconds."""
_KILL_TIMEOUT_S = 15.0
"""Seconds to wait for a killed process; one that waits for its device's driver may not exit."""

Hook: TypeAlias = "Callable[[socket.socket], object]"
WaitHook: TypeAlias = "Callable[[socket.socket, bool], object]"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """Properties in which the worker of a job differs from an ordinary one, see `Job`."""

    session: int = 0
    """Measuring session that the worker serves."""
    perturb: int = 0
    """Byte that fills newly allocated memory."""
    has_ample_memory: bool = False
    """True for a higher memory limit."""
    is_synchronous: bool = False
    """True for a device that runs each kernel before the call returns."""

    @classmethod
    def of(cls, job: Job | None) -> WorkerOptions:
        """Return what a job needs; an ordinary worker if there is no job."""
        if job is None:
            return cls()
        return cls(
            session=job.session,
            perturb=job.perturb,
            has_ample_memory=job.has_ample_memory,
            is_synchronous=job.is_synchronous,
        )


class WorkerHandle:
    """Handle of one worker at a time, with the memory for its records, log and stack."""

    def __init__(
        self, server: ServerProcess, *, on_open: Hook, on_close: Hook, on_wait: WaitHook
    ) -> None:
        """Allocate the memory for one worker at a time.

        Args:
            server: fork server that starts the workers.
            on_open: called with each new worker's socket.
            on_close: called with a socket that is about to be closed.
            on_wait: called with a socket, and True while data waits to be sent.
        """
        self._server = server
        self._on_open, self._on_close, self._on_wait = on_open, on_close, on_wait
        self._cell_file = sealed_file("ciguard-cell", cells.SIZE)
        self._log = append_file("ciguard-log")
        self._stack = append_file("ciguard-stack")
        self._cell = cells.Reader(self._cell_file)
        self._monitor = WorkerMonitor(server.spec.limits)
        self.channel: Channel | None = None
        """Channel to the worker; None if there is no worker, or its connection is closed."""
        self.ticket = 0
        """Ticket of the request for the worker, which distinguishes it from earlier ones."""
        self.pid = 0
        """Process id of the worker; 0 until it is known."""
        self.session = 0
        """Measuring session that the worker serves; 0 for an ordinary worker."""
        self.served = 0
        """Number of cases that were sent to the worker."""
        self.is_ready = False
        """True if the worker can take a case."""
        self.killed_for = ""
        """Reason why the worker was killed; empty if it was not."""
        self._killed_at = 0.0
        self._requested_at = 0.0
        self._disconnected_at = 0.0

    def request(self, needs: WorkerOptions) -> None:
        """Request a worker from the server, which reports when it is ready.

        Raises:
            WorkerStartError: if the server is gone.
        """
        self.session = needs.session
        self._monitor.expect(has_ample_memory=needs.has_ample_memory)
        self._cell.clear()
        os.ftruncate(self._log, 0)
        os.ftruncate(self._stack, 0)
        parent_end, worker_end = socket.socketpair()
        self.channel = Channel(parent_end, on_wait=self._on_wait)
        self._on_open(parent_end)
        self.served = self.pid = 0
        self.killed_for = ""
        self.is_ready = False
        self._requested_at = time.monotonic()
        with worker_end:
            descriptors = [worker_end.fileno(), self._cell_file, self._log, self._stack]
            operation = "measure" if needs.session else "fork"
            self.ticket = self._server.request(
                operation,
                descriptors,
                perturb=needs.perturb,
                has_ample_memory=needs.has_ample_memory,
                is_synchronous=needs.is_synchronous,
            )

    @property
    def is_released(self) -> bool:
        """True if there is no worker, and none was requested."""
        return self.channel is None and not self.ticket

    def flush(self) -> None:
        """Send as much as the worker can receive now."""
        if self.channel is not None:
            self.channel.flush()

    def adopt(self, pid: int) -> None:
        """Record the process id of the worker."""
        self.pid = pid
        self._monitor.watch(pid)
        if self.killed_for:
            self._server.kill(pid, dump=False)

    def begin(self) -> None:
        """Record that the worker can take a case."""
        self.is_ready = True
        self._monitor.record_initial_memory()

    @property
    def is_bloated(self) -> bool:
        """True if earlier cases leaked so much memory that later ones would suffer."""
        return self._monitor.is_bloated()

    @property
    def progress(self) -> tuple[int, int]:
        """Reported number of the running case (0 for none) and its start time, in ns."""
        return self._cell.progress()

    def send(self, job: Job | None, cases: Sequence[bytes], canaries: Sequence[bytes]) -> int:
        """Send cases of a job, followed by canaries; return the token of that batch.

        Raises:
            RuntimeError: if the worker is not connected.
        """
        if self.channel is None:
            msg = "cannot send cases: the worker is not connected"
            raise RuntimeError(msg)
        self.served += len(cases)
        self._monitor.start_batch(job, cases)
        return self.channel.send_batch([*cases, *canaries])

    def note_activity(self) -> None:
        """Record that the worker has just reported."""
        self._monitor.note_activity()

    def records(self, batch: AssignedBatch) -> list[cells.Record]:
        """Return the records of a batch that were not read yet.

        Raises:
            CorruptCellError: if the worker's records are malformed.
        """
        return self._cell.records(batch.token, after=batch.read, maximum=batch.unread)

    def disconnect(self) -> None:
        """Close the connection to the worker."""
        self._disconnected_at = time.monotonic()
        if self.channel is not None:
            self._on_close(self.channel.connection)
            self.channel.close()
            self.channel = None

    def dismiss(self) -> None:
        """Release the worker, which is killed unless it exits when its connection closes."""
        self.disconnect()
        if self.pid:
            self._server.dismiss(self.pid)
        self.pid = self.ticket = 0

    def kill_untrusted(self, reason: str) -> None:
        """Kill the worker at once, as its reports cannot be trusted any more."""
        self.killed_for, self._killed_at = reason, time.monotonic()
        self.disconnect()
        if self.pid:
            self._server.kill(self.pid, dump=False)

    def survived_kill(self, now: float) -> bool:
        """Return whether the worker was killed but did not exit; if so, stop waiting for it."""
        is_killed = bool(self.pid and self.killed_for)
        has_survived = is_killed and now - self._killed_at > _KILL_TIMEOUT_S
        if has_survived:
            self._server.stop_awaiting(self.pid)
        return has_survived

    def examine(self, now: float, *, has_batch: bool) -> None:
        """Kill the worker if its case exceeds a limit, or if it is silent.

        Args:
            now: current time of `time.monotonic`, in seconds.
            has_batch: whether the worker has unfinished cases.
        """
        if not self.pid or self.killed_for:
            return
        if self.channel is None:
            # The case closed the worker's descriptors: it cannot report any more.
            if now - self._disconnected_at > _DISCONNECTED_S:
                self._kill("silence", dump=True)
        elif not self.is_ready:
            if now - self._requested_at > _WORKER_START_S:
                self._kill("time", dump=True)
        elif has_batch:
            reason = self._monitor.kill_reason(now, *self._cell.progress())
            if reason:
                self._kill(reason, dump=reason == "time" and not self._monitor.is_preliminary)

    def _kill(self, reason: str, *, dump: bool) -> None:
        self.killed_for, self._killed_at = reason, time.monotonic()
        self._server.kill(self.pid, dump=dump)

    def log(self) -> str:
        """Return the excerpt of the worker's log."""
        return excerpt(read_bounded(self._log))

    def stack(self) -> str:
        """Return the Python stack that the worker wrote when it crashed."""
        return read_bounded(self._stack).decode("utf-8", "replace")

    def close(self) -> None:
        """Release all memory; the worker has been dismissed before."""
        self._cell.close()
        for descriptor in (self._cell_file, self._log, self._stack):
            os.close(descriptor)
