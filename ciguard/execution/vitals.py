"""Signs of life of one worker: how long its case has run, what memory it takes, what it reports.

What a worker writes about itself may be a lie: a case that moves its own beginning forward would
never take too long. So times are also taken here, and positions only ever advance.
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

_PATIENCE = 3.0
"""How many times its limit a case gets on a machine that does not let it run."""
_BUSY_SHARE = 0.5
_SILENCE_S = 60.0
"""Time that a worker may take between two cases, and to read a batch."""
_RESIDENT, _DATA = 1, 5
"""Fields of /proc/PID/statm; the second is what RLIMIT_DATA counts."""
_MAX_LEFT_BEHIND = 0.5
_LIBRARY_MIB = 2048
"""Resident memory that a loaded library may take on top of the limit, unless it began with more."""


def limit_of(job: Job, case: bytes, limits: Limits) -> float:
    """Return the time that a case of a job has."""
    usual_s = limits.program_s if holds_program(case) else limits.case_s
    return job.limit_s or usual_s


class Vitals:
    """Watches one worker after another."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pid = 0
        self._job: Job | None = None
        self._cases: Sequence[bytes] = ()
        self._heard_at = 0.0
        self._number = 0
        """Of the case that was last seen to run."""
        self._seen_at = 0.0
        self._data_at_start_mib = 0
        self._resident_at_start_mib = 0

    def adopt(self, pid: int) -> None:
        """Watch another worker."""
        self._pid = pid
        self._data_at_start_mib = self._resident_at_start_mib = 0

    def begin(self) -> None:
        """Take note that the worker has run nothing yet."""
        self._data_at_start_mib = self._memory_mib(_DATA)
        self._resident_at_start_mib = self._memory_mib(_RESIDENT)

    def expect(self, job: Job | None, cases: Sequence[bytes]) -> None:
        """Take note that a batch was sent: these cases of a job, then perhaps canaries."""
        self._job, self._cases = job, cases
        self._number = 0
        self.hear()

    def hear(self) -> None:
        """Take note that the worker has reported something."""
        self._heard_at = time.monotonic()

    def ailment(self, now: float, number: int, began_ns: int) -> str:
        """Return why the worker must end: `time`, `memory`, `silence`, `protocol`; else nothing.

        Args:
            now: on the clock of `time.monotonic`.
            number: what the worker gives as the number of the running case, 0 for none.
            began_ns: what it gives as the beginning of that case.
        """
        if not number:
            return "silence" if now - self._heard_at > _SILENCE_S else ""
        if number != self._number:
            if number < self._number:
                return "protocol"
            # Its beginning may not be written yet: memory holds zero for some nanoseconds.
            self._number, self._seen_at, began_ns = number, now, int(now * 1e9)
            self._heard_at = now
        if not self._data_at_start_mib:  # it was heard of before its process was known
            self.begin()
        library_mib = max(_LIBRARY_MIB, self._resident_at_start_mib)
        if self._memory_mib(_RESIDENT) > self._limits.memory_mib + library_mib:
            return "memory"
        limit_s = self._limit_s(number)
        spent_s = max(now - began_ns / 1e9, now - self._seen_at)
        return "time" if self._is_hung(spent_s, limit_s) else ""

    def _limit_s(self, number: int) -> float:
        if self._job is None or number > len(self._cases):
            return self._limits.case_s
        return limit_of(self._job, self._cases[number - 1], self._limits)

    def _is_hung(self, spent_s: float, limit_s: float) -> bool:
        if spent_s < limit_s:
            return False
        return spent_s >= _PATIENCE * limit_s or not self._is_starved(limit_s)

    def _is_starved(self, limit_s: float) -> bool:
        """Return whether the worker wants to run and the machine did not let it."""
        try:
            with open(f"/proc/{self._pid}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123 - hot
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return False
        ticks = int(fields[11]) + int(fields[12])
        cpu_s = ticks / os.sysconf("SC_CLK_TCK")
        return fields[0] == "R" and cpu_s < _BUSY_SHARE * limit_s

    def is_bloated(self) -> bool:
        """Return whether earlier cases left so much behind that a later one would pay for it.

        Libraries that compile keep what they compiled: thousands of kernels fill the limit.
        """
        if not self._data_at_start_mib:  # it was heard of before its process was known
            self.begin()
        grown_mib = self._memory_mib(_DATA) - self._data_at_start_mib
        return grown_mib > self._limits.memory_mib * _MAX_LEFT_BEHIND

    def _memory_mib(self, field: int) -> int:
        try:
            with open(f"/proc/{self._pid}/statm", encoding="ascii") as file:  # noqa: PTH123 - hot
                return int(file.read().split()[field]) * os.sysconf("SC_PAGESIZE") // 2**20
        except (OSError, IndexError):
            return 0
