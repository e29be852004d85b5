"""A lane: the place of one worker at a time, and everything known of the worker that is in it."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import Crashed, Hung, Outcome, holds_program
from ciguard.execution.decode import Death, contents, decode_death, decode_record, excerpt
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker.loop import DONE, FULL, GO_ON, LENGTH, STARTED

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from ciguard.execution.process import ServerProcess

_MOST_DEATHS_WITHOUT_PROGRESS = 3
_PATIENCE = 3.0
"""How many times its limit a case gets on a machine that does not let it run."""
_BUSY_SHARE = 0.5
_GRACE_S = 1.0
_WORKER_START_S = 60.0


@dataclass(frozen=True, slots=True)
class Job:
    """Cases for one target, in order."""

    target: str
    key: Hashable
    """The caller's name for it, given back with the result."""
    cases: tuple[bytes, ...]
    """Each the JSON text of `domain.case_to_json`."""
    fresh: bool = False
    """Run in a worker that ran nothing before, and that runs nothing after."""
    most_hangs: int = 0
    """Leave the remaining cases out after so many hangs; 0 runs them all, however long it takes."""
    perturb: int = 0
    """For a fresh worker: fill newly allocated memory with this byte, so that a result that
    depends on uninitialised memory shows itself. 0 leaves memory as it comes."""
    limit_s: float = 0.0
    """Time of one case; 0 for the target's own limit."""
    session: int = 0
    """Measure, see `measurement`, in the worker of this session, which is fresh when it begins.
    0 for an ordinary job."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a job: one outcome per case, in order; fewer after too many hangs."""

    job: Job
    outcomes: tuple[Outcome, ...]
    elapsed_s: float


@dataclass(slots=True)
class _Running:
    job: Job
    began: float
    outcomes: list[Outcome]
    sent_at: int = 0
    """How many outcomes there were when the cases were last sent: the worker counts from there."""
    deaths_without_progress: int = 0
    is_cautious: bool = False
    """Send one case at a time: the worker's records were found overwritten."""


Hook: TypeAlias = "Callable[[socket.socket], object]"


def _ignore(_connection: socket.socket) -> None:
    return None


class Lane:
    """Runs one job at a time in one worker after another."""

    def __init__(
        self, server: ServerProcess, *, on_open: Hook = _ignore, on_close: Hook = _ignore
    ) -> None:
        """Make an empty lane.

        Args:
            server: where its workers come from.
            on_open: called with each new worker's socket, to watch it.
            on_close: called with a socket that is about to be closed.
        """
        self._server = server
        self._on_open = on_open
        self._on_close = on_close
        self.ticket = 0
        """Names the request for the present worker: news of an earlier one is told apart."""
        self._limits = server.spec.limits
        self._cell_file = os.memfd_create("ciguard-cell", os.MFD_CLOEXEC)
        os.ftruncate(self._cell_file, cells.SIZE)
        self._log = _append_file("ciguard-log")
        self._stack = _append_file("ciguard-stack")
        self._cell = cells.Reader(self._cell_file)
        self.connection: socket.socket | None = None
        """The worker's socket; None while there is no worker."""
        self.pid = 0
        self._running: _Running | None = None
        self._served = 0
        self._session = 0
        """Of the present worker."""
        self._asked_at = 0.0
        self._lost_at = 0.0
        self._killed_for = ""
        self._is_ready = False
        self._data_at_start_mib = 0

    @property
    def is_free(self) -> bool:
        """Whether a job can be given to this lane."""
        return self._running is None

    def give(self, job: Job) -> None:
        """Take a job; starts a worker when there is none, or none that is fresh enough."""
        self._running = _Running(job, time.monotonic(), [])
        used_up = self._served + len(job.cases) > self._limits.cases_per_worker
        unfit = (
            job.perturb
            or job.session != self._session
            or (self._served and (used_up or job.fresh or self._is_bloated()))
        )
        if self.connection is not None and unfit:
            self.retire()
        if self.connection is None:
            self.request_worker()
        elif self._is_ready:
            self._send()

    def request_worker(self) -> None:
        """Ask the server for a worker; it says when it is ready."""
        perturb = self._running.job.perturb if self._running is not None else 0
        self._session = self._running.job.session if self._running is not None else 0
        self._cell.clear()
        os.ftruncate(self._log, 0)
        os.ftruncate(self._stack, 0)
        self.connection, theirs = socket.socketpair()
        self._on_open(self.connection)
        self._served = 0
        self._killed_for = ""
        self._is_ready = False
        self.pid = 0
        self._asked_at = time.monotonic()
        with theirs:
            given = [theirs.fileno(), self._cell_file, self._log, self._stack]
            operation = "measure" if self._session else "fork"
            self.ticket = self._server.request(operation, given, perturb=perturb)

    def retire(self) -> None:
        """Let go of the worker: it ends by itself when its connection closes."""
        self._hang_up()
        self.pid = 0

    def _hang_up(self) -> None:
        if self.connection is not None:
            self._on_close(self.connection)
            self.connection.close()
            self.connection = None

    def read(self) -> Result | None:
        """Take what the worker says; return the result when it completes the job.

        At the end of the connection nothing happens yet: the server tells how the worker died.
        """
        if self.connection is None:
            return None
        try:
            said = self.connection.recv(1)
        except ConnectionError:
            said = b""
        if said == STARTED:
            self._is_ready = True
            self._data_at_start_mib = self._memory_mib(_DATA)
            if self._running is not None:
                self._send()
        elif said == FULL:
            self._take_records()
            self.connection.sendall(GO_ON)
        elif said == DONE:
            return self._finish_sending()
        else:
            self._hang_up()
            self._lost_at = time.monotonic()
        return None

    def _finish_sending(self) -> Result | None:
        self._take_records()
        running = self._running
        if running is None or len(running.outcomes) == len(running.job.cases):
            return self._complete()
        self._send()
        return None

    def _send(self) -> None:
        if self._running is None or self.connection is None:
            return
        running = self._running
        running.sent_at = len(running.outcomes)
        remaining = running.job.cases[running.sent_at :]
        if running.is_cautious:
            remaining = remaining[:1]
        body = b"[" + b",".join(remaining) + b"]"
        self._served += len(remaining)
        try:
            self.connection.sendall(LENGTH.pack(len(body)) + body)
        except ConnectionError:
            return  # it died while idle; the server reports that, and the job is sent again

    def _take_records(self) -> None:
        if self._running is not None:
            self._running.outcomes += map(decode_record, self._cell.records())

    def _complete(self) -> Result | None:
        running = self._running
        if running is None:
            return None
        self._running = None
        if running.job.fresh:
            self.retire()
        elapsed_s = time.monotonic() - running.began
        return Result(running.job, tuple(running.outcomes), elapsed_s)

    def bury(self, death: Death) -> Result | None:
        """Take note of the worker's death, blame the case it died in, go on with the rest."""
        self.retire()
        running = self._running
        if running is None:
            return None
        self._blame(running, replace(death, killed_for=self._killed_for))
        if len(running.outcomes) == len(running.job.cases) or _hangs_too_often(running):
            return self._complete()
        self.request_worker()
        return None

    def _blame(self, running: _Running, death: Death) -> None:
        before = len(running.outcomes)
        number, _ = self._cell.progress()
        try:
            self._take_records()
            is_in_case = number and running.sent_at + number - 1 == len(running.outcomes)
        except cells.CorruptCellError:
            is_in_case = running.is_cautious
            running.is_cautious = True
        log = excerpt(contents(self._log))
        stack = contents(self._stack).decode("utf-8", "replace")
        if is_in_case:
            limit_s = self._limit_s(running, len(running.outcomes))
            outcome = decode_death(death, log=log, stack=stack, limit_s=limit_s)
            running.outcomes.append(outcome)
        if len(running.outcomes) > before:
            running.deaths_without_progress = 0
            return
        running.deaths_without_progress += 1
        if running.deaths_without_progress >= _MOST_DEATHS_WITHOUT_PROGRESS:
            # Its argument alone ends a worker before the case is announced: so it is the case.
            running.outcomes.append(Crashed("worker cannot start the case", (), log))
            running.deaths_without_progress = 0

    def check(self, now: float) -> None:
        """End the worker if its case takes too long or too much memory."""
        if not self.pid or self._killed_for or self._running is None:
            return
        if self.connection is None:
            # The case closed the worker's descriptors: it can tell nothing any more.
            if now - self._lost_at > _GRACE_S:
                self._kill("silence", dump=True)
            return
        if not self._is_ready:
            if now - self._asked_at > _WORKER_START_S:
                self._kill("time", dump=True)
            return
        number, began_ns = self._cell.progress()
        if not number:
            return
        if self._memory_mib(_RESIDENT) > self._limits.memory_mib + _LIBRARY_MIB:
            self._kill("memory", dump=False)
            return
        limit_s = self._limit_s(self._running, self._running.sent_at + number - 1)
        if self._is_hung(now - began_ns / 1e9, limit_s):
            self._kill("time", dump=True)

    def _limit_s(self, running: _Running, place: int) -> float:
        """Return the time that the case at a place of a job has."""
        # The place is what a worker says, which may be out of its mind.
        is_program = any(map(holds_program, running.job.cases[place : place + 1]))
        usual_s = self._limits.program_s if is_program else self._limits.case_s
        return running.job.limit_s or usual_s

    def _is_hung(self, spent_s: float, limit_s: float) -> bool:
        if spent_s < limit_s:
            return False
        return spent_s >= _PATIENCE * limit_s or not self._is_starved(limit_s)

    def _is_starved(self, limit_s: float) -> bool:
        """Tell whether the worker wants to run and the machine did not let it."""
        try:
            with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123 - hot
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return False
        ticks = int(fields[11]) + int(fields[12])
        cpu_s = ticks / os.sysconf("SC_CLK_TCK")
        return fields[0] == "R" and cpu_s < _BUSY_SHARE * limit_s

    def _is_bloated(self) -> bool:
        """Tell whether earlier cases left so much behind that a later one would pay for it.

        Libraries that compile keep what they compiled: thousands of kernels fill the limit.
        """
        grown_mib = self._memory_mib(_DATA) - self._data_at_start_mib
        return grown_mib > self._limits.memory_mib * _MOST_LEFT_BEHIND

    def _memory_mib(self, field: int) -> int:
        try:
            with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:  # noqa: PTH123 - hot
                return int(file.read().split()[field]) * os.sysconf("SC_PAGESIZE") // 2**20
        except (OSError, IndexError):
            return 0

    def _kill(self, reason: str, *, dump: bool) -> None:
        self._killed_for = reason
        self._server.kill(self.pid, dump=dump)

    def abandon(self) -> None:
        """Give up the job and the worker: the server is gone."""
        self._running = None
        self.retire()

    def close(self) -> None:
        """Release everything."""
        self.retire()
        self._cell.close()
        for descriptor in (self._cell_file, self._log, self._stack):
            os.close(descriptor)


_RESIDENT, _DATA = 1, 5
"""Fields of /proc/PID/statm; the second is what RLIMIT_DATA counts."""
_MOST_LEFT_BEHIND = 0.5
_LIBRARY_MIB = 2048
"""Resident memory that a loaded library may take on top of the limit."""


def _hangs_too_often(running: _Running) -> bool:
    most = running.job.most_hangs
    return bool(most) and sum(isinstance(o, Hung) for o in running.outcomes) >= most


def _append_file(name: str) -> int:
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    return descriptor
