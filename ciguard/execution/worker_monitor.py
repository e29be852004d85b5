"""Supervision of one worker: run time of its case, memory, and time since its last report.

A worker's own progress data may be forged: a case that changes its start time would never time out.
So times are also measured here, and the number of the case may only increase.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ciguard.domain.case import holds_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.execution.job import Job
    from ciguard.execution.spec import Limits

_STARVED_FACTOR = 3.0
"""Factor by which the timeout of a case is extended on a starved machine."""
_BUSY_SHARE = 0.5
_SILENCE_S = 60.0
"""Seconds that a worker may take between two cases, and to read a batch."""
_RESIDENT, _DATA = 1, 5
"""Fields of /proc/PID/statm: resident memory, and the data that RLIMIT_DATA limits."""
_MAX_LEAKED_SHARE = 0.5
_TIMES_OF_SLOW_CASES = 8
"""Factor of the preliminary timeout of a case that compiles or traces its call."""
_LIBRARY_MIB = 2048
"""Resident memory of a loaded library that does not count, in MiB, or its initial memory."""


def limit_of(job: Job, case: bytes, limits: Limits) -> float:
    """Return the timeout of a case of a job, in seconds."""
    default_s = limits.program_s if holds_program(case) else limits.case_s
    full_s = job.limit_s or default_s
    if not job.first_limit_s:
        return full_s
    factor = _TIMES_OF_SLOW_CASES if case in job.slow_cases else 1
    return min(factor * job.first_limit_s, full_s)


class WorkerMonitor:
    """Supervises one worker at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._memory_limit_mib = limits.memory_mib
        self._pid = 0
        self._job: Job | None = None
        self._cases: Sequence[bytes] = ()
        self._reported_at = 0.0
        self._number = 0
        """Number of the case that was last observed to run."""
        self._observed_at = 0.0
        self._data_at_start_mib = 0
        self._resident_at_start_mib = 0

    def expect(self, *, has_ample_memory: bool) -> None:
        """Prepare for another worker, which may have a higher memory limit."""
        self.watch(0)
        self._memory_limit_mib = self._limits.memory_limit_mib(is_ample=has_ample_memory)

    def watch(self, pid: int) -> None:
        """Supervise the process of the expected worker."""
        self._pid = pid
        self._data_at_start_mib = self._resident_at_start_mib = 0

    def record_initial_memory(self) -> None:
        """Record the memory of the worker before its first case."""
        self._data_at_start_mib = self._memory_mib(_DATA)
        self._resident_at_start_mib = self._memory_mib(_RESIDENT)

    def start_batch(self, job: Job | None, cases: Sequence[bytes]) -> None:
        """Record that a batch was sent: cases of a job, possibly followed by canaries."""
        self._job, self._cases = job, cases
        self._number = 0
        self.note_activity()

    @property
    def is_preliminary(self) -> bool:
        """True if the timeout of the running job is preliminary, so that no stack is needed."""
        return self._job is not None and self._job.first_limit_s > 0

    def note_activity(self) -> None:
        """Record that the worker has just reported."""
        self._reported_at = time.monotonic()

    def kill_reason(self, now: float, number: int, began_ns: int) -> str:
        """Return why to kill the worker (see `WorkerExit.killed_for`); empty if it is healthy.

        Args:
            now: current time of `time.monotonic`, in seconds.
            number: number of the running case that the worker reports; 0 for none.
            began_ns: start time of that case that the worker reports, in ns.
        """
        if not number:
            return "silence" if now - self._reported_at > _SILENCE_S else ""
        if number != self._number:
            if number < self._number:
                return "protocol"
            # The start time may not be written yet: the worker writes it after the number.
            self._number, self._observed_at, began_ns = number, now, int(now * 1e9)
            self._reported_at = now
        if not self._data_at_start_mib:  # it reported before its process id was known
            self.record_initial_memory()
        library_mib = max(_LIBRARY_MIB, self._resident_at_start_mib)
        if self._memory_mib(_RESIDENT) > self._memory_limit_mib + library_mib:
            return "memory"
        limit_s = self._limit_s(number)
        spent_s = max(now - began_ns / 1e9, now - self._observed_at)
        return "time" if self._is_hung(spent_s, limit_s) else ""

    def _limit_s(self, number: int) -> float:
        if self._job is None or number > len(self._cases):
            return self._limits.case_s
        return limit_of(self._job, self._cases[number - 1], self._limits)

    def _is_hung(self, spent_s: float, limit_s: float) -> bool:
        if spent_s < limit_s:
            return False
        return spent_s >= _STARVED_FACTOR * limit_s or not self._is_starved(limit_s)

    def _is_starved(self, limit_s: float) -> bool:
        """Return whether the worker is ready to run but gets too little CPU time."""
        try:
            with open(f"/proc/{self._pid}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123 - hot
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return False
        ticks = int(fields[11]) + int(fields[12])
        cpu_s = ticks / os.sysconf("SC_CLK_TCK")
        return fields[0] == "R" and cpu_s < _BUSY_SHARE * limit_s

    def is_bloated(self) -> bool:
        """Return whether earlier cases leaked so much memory that later ones would suffer.

        Libraries keep what they compile, so that thousands of kernels reach the memory limit.
        """
        if not self._data_at_start_mib:  # it reported before its process id was known
            self.record_initial_memory()
        grown_mib = self._memory_mib(_DATA) - self._data_at_start_mib
        return grown_mib > self._limits.memory_mib * _MAX_LEAKED_SHARE

    def _memory_mib(self, field: int) -> int:
        try:
            with open(f"/proc/{self._pid}/statm", encoding="ascii") as file:  # noqa: PTH123 - hot
                return int(file.read().split()[field]) * os.sysconf("SC_PAGESIZE") // 2**20
        except (OSError, IndexError):
            return 0
