"""Canaries: calls with known outcomes, by which a worker that was tampered with gives itself away.

Code under test can change its worker's memory, on purpose or by accident, so that every later case
seems to pass. So calls whose outcomes are known are mixed in: one that returns a value and one that
is refused, about once a second and whenever a worker runs cases one by one; and one that crashes,
as the end of every worker that is replaced, at least once a minute. Their arguments are random.

The results of a worker count as proven once its crash was reported as one. Until then the lane
remembers its jobs. When a canary comes out wrong, or the worker ends in a way that proves nothing,
these jobs are void: the caller has them done again.

Canaries are no cases of the campaign: nobody but the lane sees them, and nothing depends on them
that is kept. They show carelessness and simple forgeries. Code that recognises them by their form
can still deceive; that is why findings are confirmed, and workers confined.
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

    from ciguard.execution.decode import Death
    from ciguard.execution.job import Job

MAX_UNPROVEN_S = 60.0
"""Time after which a worker must crash to prove what it did."""
MAX_UNPROVEN_CASES = 50_000
"""Cases that may have to be done again, and are kept until then."""
_EVERY_S = 1.0
_MAX_SHARE = 0.005
"""Of a worker's time, for canaries that do not end it: compiling modes make them dear."""
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
"""Signals that come of what a process itself does; any other may have been sent from outside."""
_OF_LIMITS = frozenset((signal.SIGXFSZ, signal.SIGXCPU))
"""Those of them by which the kernel or a quota ends a process."""


@dataclass(frozen=True, slots=True)
class Canary:
    """One call and how it must end."""

    case: bytes
    expected: Outcome


def harmless() -> list[Canary]:
    """Return a call that returns a value and a call that is refused."""
    left, right = secrets.randbits(32), secrets.randbits(32)
    name, compute = secrets.choice(list(_OPERATIONS.items()))
    value = f'["i","{compute(left, right)}"]'.encode()
    word = f"x{secrets.token_hex(8)}"
    message = f"invalid literal for int() with base 10: '{word}'"
    return [
        Canary(_call(name, left, right), Passed(value, 0.0)),
        Canary(_call("builtins.int", word), Rejected("ValueError", message)),
    ]


def fatal() -> bytes:
    """Return a call that ends its process by one of `FAULTS`."""
    name, arguments = secrets.choice(_FATAL)
    return _call(name, *arguments)


def _call(name: str, *arguments: int | str) -> bytes:
    values = tuple(LiteralValue(argument) for argument in arguments)
    call = ApiCall(api=name, kind=CallKind.FUNCTION, arguments=values)
    return json.dumps(case_to_json(call), separators=(",", ":")).encode()


def is_wrong(canary: Canary, outcome: Outcome) -> bool:
    """Return whether a canary ended as in no healthy worker; without memory, any call fails."""
    if isinstance(canary.expected, Passed) and isinstance(outcome, Passed):
        return outcome.encoded != canary.expected.encoded
    return outcome != canary.expected and not isinstance(outcome, Exhausted)


def is_reported_fault(death: Death) -> bool:
    """Return whether a worker has reported a fault of its own; a limit's signal is sent to it."""
    if death.killed_for or not os.WIFSIGNALED(death.status):
        return False
    return os.WTERMSIG(death.status) in FAULTS - _OF_LIMITS


def is_proof(death: Death) -> bool:
    """Return whether a death in a case proves what its worker did before.

    A hang does, by choice: it shows in the report as a crash does, and each would cost the results
    of up to a minute otherwise. What is merely exhausted, or exits, shows nothing.
    """
    return is_reported_fault(death) or death.killed_for == "time"


def may_come_from_outside(death: Death) -> bool:
    """Return whether the user, or a machine out of memory, may have ended a worker."""
    if death.killed_for or not os.WIFSIGNALED(death.status):
        return False
    return os.WTERMSIG(death.status) not in FAULTS


class Ledger:
    """What the workers of a lane did since one of them was last proven sound."""

    def __init__(self) -> None:
        self.unproven: list[Job] = []
        self.void: list[Job] = []
        """Jobs that must be done again; the caller takes them out."""
        self.is_usable: bool | None = None
        """Whether a worker that ran nothing yet gets canaries right; None until that was tried."""
        self._cases = 0
        self._began = 0.0
        self._tried_at = 0.0
        self._every_s = _EVERY_S

    def note(self, job: Job, now: float) -> None:
        """Take note of a job whose result was handed on."""
        if not self.unproven:
            self._began, self._cases = now, 0
        self.unproven.append(job)
        self._cases += len(job.cases)

    def is_due(self, now: float) -> bool:
        """Return whether it is time that the worker proves itself by a crash."""
        is_long = now - self._began > MAX_UNPROVEN_S or self._cases > MAX_UNPROVEN_CASES
        return bool(self.unproven) and is_long

    def is_apart(self, job: Job) -> bool:
        """Return whether a job must not share a worker with what waits for its proof.

        What runs again may be hostile: it is proven by itself, and puts nothing else in doubt.
        """
        return bool(self.unproven) and (job.is_careful or self.unproven[-1].is_careful)

    def canaries(self, *, is_alone: bool) -> Sequence[Canary]:
        """Return those that a worker survives and that are to go with a batch.

        Args:
            is_alone: whether a case of the batch runs by itself; others have them now and then.
        """
        is_due = is_alone or time.monotonic() - self._tried_at > self._every_s
        return harmless() if is_due and self.is_usable is not False else ()

    def accept(self, canaries: Sequence[Canary], outcomes: Sequence[Outcome]) -> bool:
        """Return whether canaries came out right; take note of it, and of what they cost."""
        if not canaries:
            return True
        pairs = zip(canaries, outcomes, strict=True)
        is_sound = not any(is_wrong(canary, outcome) for canary, outcome in pairs)
        if is_sound:
            cost_s = sum(outcome.cost_s for outcome in outcomes if isinstance(outcome, Passed))
            self._tried_at = time.monotonic()
            self._every_s = max(_EVERY_S, 2 * cost_s / _MAX_SHARE)
        if self.is_usable is None:
            # Nothing ran here before: an adapter that cannot make these calls has no canaries.
            self.is_usable = is_sound
        return is_sound or not self.is_usable

    def prove(self) -> None:
        """Take note that everything so far can be relied upon."""
        self.unproven.clear()

    def doubt(self) -> None:
        """Take note that what was not proven never will be."""
        self.void += self.unproven
        self.unproven.clear()
