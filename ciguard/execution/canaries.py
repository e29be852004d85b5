"""Canaries: calls with known outcomes, which reveal a worker with corrupted memory.

Code under test can corrupt its worker's memory, on purpose or by accident, so that later cases seem
to pass. Three canaries with random arguments detect that. One returns a value and one is rejected;
both run about once a second, and whenever a worker runs cases one by one. The third crashes the
worker; it is the last call of every replaced worker, and runs at least four times a minute.

The results of a worker are proven once it reports this crash. Until then the lane keeps its jobs.
If a canary has a wrong outcome, or the worker exits in another way, these jobs are invalidated and
the caller runs them again. A worker that runs a single case crashes before its result is returned.
If it crashes between the case and the canary, the case corrupted its memory: it crashed.

Canaries are not cases of the campaign: only the lane sees them, and they change no stored result.
They detect accidents and simple forgeries. Code that recognises canaries can still deceive, which
is why findings are confirmed and workers are confined.
"""

from __future__ import annotations

import json
import operator
import os
import secrets
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import case_to_json
from ciguard.domain.outcomes import Exhausted, Outcome, Passed, Rejected
from ciguard.domain.values import LiteralValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.execution.decode import WorkerExit
    from ciguard.execution.job import Job

MAX_UNPROVEN_S = 15.0
"""Seconds after which a worker must crash to prove its results."""
MAX_UNPROVEN_CASES = 10_000
"""Maximum number of unproven cases, which may have to run again."""
_INTERVAL_S = 1.0
_MAX_SHARE = 0.005
"""Maximum share of a worker's time for canaries, which are slow in compiling modes."""
_OPERATIONS = {"operator.xor": operator.xor, "operator.sub": operator.sub}
_FATAL = (("ctypes.string_at", (0,)), ("os.abort", ()))
FAULTS = frozenset(
    (
        signal.SIGSEGV,
        signal.SIGBUS,
        signal.SIGILL,
        signal.SIGFPE,
        signal.SIGABRT,
        signal.SIGTRAP,
        signal.SIGSYS,
        signal.SIGXFSZ,
        signal.SIGXCPU,
    )
)
"""Signals that a process causes itself; any other signal may come from another process."""
_LIMIT_SIGNALS = frozenset((signal.SIGXFSZ, signal.SIGXCPU))
"""Signals by which the kernel or a quota ends a process."""


@dataclass(frozen=True, slots=True)
class Canary:
    """One call and its expected outcome."""

    case: bytes
    """JSON text of the call."""
    expected: Outcome
    """Outcome in a healthy worker."""


def harmless_canaries() -> list[Canary]:
    """Return a call that returns a value and a call that is rejected."""
    left, right = secrets.randbits(32), secrets.randbits(32)
    name, compute = secrets.choice(list(_OPERATIONS.items()))
    value = f'["i","{compute(left, right)}"]'.encode()
    word = f"x{secrets.token_hex(8)}"
    message = f"invalid literal for int() with base 10: '{word}'"
    return [
        Canary(_call(name, left, right), Passed(value, 0.0)),
        Canary(_call("builtins.int", word), Rejected("ValueError", message)),
    ]


def fatal_canary() -> bytes:
    """Return a call that crashes its process with one of `FAULTS`."""
    name, arguments = secrets.choice(_FATAL)
    return _call(name, *arguments)


def _call(name: str, *arguments: int | str) -> bytes:
    values = tuple(LiteralValue(argument) for argument in arguments)
    call = ApiCall(api=name, kind=CallKind.FUNCTION, arguments=values)
    return json.dumps(case_to_json(call), separators=(",", ":")).encode()


def is_wrong(canary: Canary, outcome: Outcome) -> bool:
    """Return whether a canary's outcome is wrong; exhaustion is not, as it affects any call."""
    if isinstance(canary.expected, Passed) and isinstance(outcome, Passed):
        return outcome.encoded != canary.expected.encoded
    return outcome != canary.expected and not isinstance(outcome, Exhausted)


def is_reported_fault(worker_exit: WorkerExit) -> bool:
    """Return whether a worker crashed with a signal that it caused itself, not by a limit."""
    if worker_exit.killed_for or not os.WIFSIGNALED(worker_exit.status):
        return False
    return os.WTERMSIG(worker_exit.status) in FAULTS - _LIMIT_SIGNALS


def is_proof(worker_exit: WorkerExit) -> bool:
    """Return whether an exit during a case proves the worker's earlier results.

    A hang counts as proof, as it is reported like a crash, and would otherwise cost the results of
    up to 15 seconds. Exhaustion and a normal exit prove nothing.
    """
    return is_reported_fault(worker_exit) or worker_exit.killed_for == "time"


def may_be_external(worker_exit: WorkerExit) -> bool:
    """Return whether the user, or a kernel out of memory, may have killed a worker."""
    if worker_exit.killed_for or not os.WIFSIGNALED(worker_exit.status):
        return False
    return os.WTERMSIG(worker_exit.status) not in FAULTS


class Ledger:
    """Jobs that a lane ran since its results were last proven."""

    def __init__(self) -> None:
        self.unproven: list[Job] = []
        self.invalidated: list[Job] = []
        """Jobs that must run again; the caller removes them."""
        self.is_usable: bool | None = None
        """True if canaries succeed in a fresh worker; None until one was tried."""
        self._cases = 0
        self._oldest_at = 0.0
        self._last_canary_at = 0.0
        self._interval_s = _INTERVAL_S

    def note(self, job: Job, now: float) -> None:
        """Add a job whose result was returned."""
        if not self.unproven:
            self._oldest_at, self._cases = now, 0
        self.unproven.append(job)
        self._cases += len(job.cases)

    def is_due(self, now: float) -> bool:
        """Return whether the worker must now prove its results by a crash."""
        is_over_limit = now - self._oldest_at > MAX_UNPROVEN_S or self._cases > MAX_UNPROVEN_CASES
        return bool(self.unproven) and is_over_limit

    def needs_own_worker(self, job: Job) -> bool:
        """Return whether a job must not share a worker with the unproven jobs.

        A job that runs again may be hostile, so it must not put other results at risk.
        """
        return bool(self.unproven) and (job.is_careful or self.unproven[-1].is_careful)

    def canaries(self, *, is_alone: bool) -> Sequence[Canary]:
        """Return the canaries that are sent with a batch, and do not crash the worker.

        Args:
            is_alone: whether the batch has a single case; other batches get canaries at intervals.
        """
        is_due = is_alone or time.monotonic() - self._last_canary_at > self._interval_s
        return harmless_canaries() if is_due and self.is_usable is not False else ()

    def accept(self, canaries: Sequence[Canary], outcomes: Sequence[Outcome]) -> bool:
        """Return whether the canaries had the expected outcomes, and record their cost."""
        if not canaries:
            return True
        pairs = zip(canaries, outcomes, strict=True)
        is_sound = not any(is_wrong(canary, outcome) for canary, outcome in pairs)
        if is_sound:
            cost_s = sum(outcome.cost_s for outcome in outcomes if isinstance(outcome, Passed))
            self._last_canary_at = time.monotonic()
            self._interval_s = max(_INTERVAL_S, 2 * cost_s / _MAX_SHARE)
        if self.is_usable is None:
            # The first canaries of a lane: an adapter may be unable to make these calls at all.
            self.is_usable = is_sound
        return is_sound or not self.is_usable

    def prove(self) -> None:
        """Record that all results so far are proven."""
        self.unproven.clear()

    def invalidate(self) -> None:
        """Record that the unproven results never will be proven."""
        self.invalidated += self.unproven
        self.unproven.clear()
