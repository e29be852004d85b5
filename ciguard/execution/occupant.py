"""The worker in a lane: asked for, heard, watched and ended, and what it leaves behind."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING, TypeAlias

from ciguard.execution.channel import Channel
from ciguard.execution.decode import contents, excerpt
from ciguard.execution.memory_files import append_file, sealed_file
from ciguard.execution.vitals import Vitals
from ciguard.execution.worker import cell as cells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.execution.assignment import AssignedBatch
    from ciguard.execution.job import Job
    from ciguard.execution.process import ServerProcess

_GRACE_S = 1.0
_WORKER_START_S = 60.0
_UNDYING_S = 15.0
"""A process that waits for its device's driver may not end when it is killed."""

Hook: TypeAlias = "Callable[[socket.socket], object]"
WaitHook: TypeAlias = "Callable[[socket.socket, bool], object]"


def ignore(*_: object) -> None:
    """Do nothing: the hook of a lane that nobody watches."""
    return


class Occupant:
    """One worker at a time, with the memory that it writes its records, log and stack to."""

    def __init__(
        self, server: ServerProcess, *, on_open: Hook, on_close: Hook, on_wait: WaitHook
    ) -> None:
        """Make a place for workers; see `Lane`."""
        self._server = server
        self._on_open, self._on_close, self._on_wait = on_open, on_close, on_wait
        self._cell_file = sealed_file("ciguard-cell", cells.SIZE)
        self._log = append_file("ciguard-log")
        self._stack = append_file("ciguard-stack")
        self._cell = cells.Reader(self._cell_file)
        self._vitals = Vitals(server.spec.limits)
        self.channel: Channel | None = None
        """To the worker; None while there is none, or it has hung up."""
        self.ticket = 0
        """Names the request for it: news of an earlier one is told apart."""
        self.pid = 0
        """Its process; 0 until that is known."""
        self.session = 0
        """Of the measurements that it makes; 0 for an ordinary worker."""
        self.served = 0
        """Cases that it was given."""
        self.is_ready = False
        """Whether it can take a case."""
        self.killed_for = ""
        """Why it was killed; empty if it was not."""
        self._killed_at = 0.0
        self._asked_at = 0.0
        self._lost_at = 0.0

    def request(self, *, session: int, perturb: int) -> None:
        """Ask the server for a worker; it reports when it is ready.

        Raises:
            WorkerStartError: if the server is gone.
        """
        self.session = session
        self._vitals.adopt(0)
        self._cell.clear()
        os.ftruncate(self._log, 0)
        os.ftruncate(self._stack, 0)
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours, on_wait=self._on_wait)
        self._on_open(ours)
        self.served = self.pid = 0
        self.killed_for = ""
        self.is_ready = False
        self._asked_at = time.monotonic()
        with theirs:
            given = [theirs.fileno(), self._cell_file, self._log, self._stack]
            operation = "measure" if session else "fork"
            self.ticket = self._server.request(operation, given, perturb=perturb)

    def adopt(self, pid: int) -> None:
        """Take note of the worker's process."""
        self.pid = pid
        self._vitals.adopt(pid)
        if self.killed_for:
            self._server.kill(pid, dump=False)

    def begin(self) -> None:
        """Take note that it can take a case."""
        self.is_ready = True
        self._vitals.begin()

    @property
    def is_bloated(self) -> bool:
        """Whether what it ran left so much behind that what follows would pay for it."""
        return self._vitals.is_bloated()

    @property
    def progress(self) -> tuple[int, int]:
        """Number of the case that it gives as running, 0 for none, and when that began, in ns."""
        return self._cell.progress()

    def send(self, job: Job | None, cases: Sequence[bytes], canaries: Sequence[bytes]) -> int:
        """Give it cases of a job, and then canaries; return the token of that batch.

        Raises:
            RuntimeError: if there is no connection to it.
        """
        if self.channel is None:
            msg = "a worker without a channel"
            raise RuntimeError(msg)
        self.served += len(cases)
        self._vitals.expect(job, cases)
        return self.channel.send_batch([*cases, *canaries])

    def hear(self) -> None:
        """Take note that it has reported something."""
        self._vitals.hear()

    def records(self, batch: AssignedBatch) -> list[cells.Record]:
        """Return the records of a batch that were not taken yet.

        Raises:
            CorruptCellError: if what it wrote is no such thing.
        """
        return self._cell.records(batch.token, after=batch.read, most=batch.unread)

    def hang_up(self) -> None:
        """Close the connection to it."""
        self._lost_at = time.monotonic()
        if self.channel is not None:
            self._on_close(self.channel.connection)
            self.channel.close()
            self.channel = None

    def dismiss(self) -> None:
        """Let go of it: one that does not end when its connection closes is killed."""
        self.hang_up()
        if self.pid:
            self._server.dismiss(self.pid)
        self.pid = self.ticket = 0

    def distrust(self, reason: str) -> None:
        """End it at once: its word does not count any more."""
        self.killed_for, self._killed_at = reason, time.monotonic()
        self.hang_up()
        if self.pid:
            self._server.kill(self.pid, dump=False)

    def is_undying(self, now: float) -> bool:
        """Return whether it was killed and does not die; it is not waited for from then on."""
        is_undying = bool(self.pid and self.killed_for) and now - self._killed_at > _UNDYING_S
        if is_undying:
            self._server.forsake(self.pid)
        return is_undying

    def examine(self, now: float, *, has_batch: bool) -> None:
        """Kill it if its case takes long, takes too much memory, or nothing is heard.

        Args:
            now: on the clock of `time.monotonic`.
            has_batch: whether it was given cases that it has not finished.
        """
        if not self.pid or self.killed_for:
            return
        if self.channel is None:
            # The case closed the worker's descriptors: it can tell nothing any more.
            if now - self._lost_at > _GRACE_S:
                self._kill("silence", dump=True)
        elif not self.is_ready:
            if now - self._asked_at > _WORKER_START_S:
                self._kill("time", dump=True)
        elif has_batch:
            reason = self._vitals.ailment(now, *self._cell.progress())
            if reason:
                self._kill(reason, dump=reason == "time")

    def _kill(self, reason: str, *, dump: bool) -> None:
        self.killed_for, self._killed_at = reason, time.monotonic()
        self._server.kill(self.pid, dump=dump)

    def log(self) -> str:
        """Return the part of what it printed that is kept."""
        return excerpt(contents(self._log))

    def stack(self) -> str:
        """Return the Python stack that it wrote when it died."""
        return contents(self._stack).decode("utf-8", "replace")

    def close(self) -> None:
        """Release everything; the worker is dismissed already."""
        self._cell.close()
        for descriptor in (self._cell_file, self._log, self._stack):
            os.close(descriptor)
