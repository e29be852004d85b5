"""A lane: the place of one worker at a time, and everything known of the worker that is in it."""

from __future__ import annotations

import os
import signal
import socket
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import Crashed, Hung, Outcome
from ciguard.errors import WorkerStartError
from ciguard.execution.canaries import (
    Canary,
    Ledger,
    fatal,
    harmless,
    is_proof,
    is_reported_fault,
    is_wrong,
    may_come_from_outside,
)
from ciguard.execution.channel import Channel, ProtocolError
from ciguard.execution.decode import Death, contents, decode_death, decode_record, excerpt
from ciguard.execution.job import Job, Result
from ciguard.execution.memory_files import append_file, sealed_file
from ciguard.execution.vitals import Vitals, limit_of
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker.messages import FULL, STARTED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.execution.process import ServerProcess

_MAX_DEATHS_WITHOUT_PROGRESS = 3
_MAX_RETRIES = 2
"""Of a job after deaths that may come from outside; the last of them runs case by case."""
_GRACE_S = 1.0
_WORKER_START_S = 60.0
_MAX_FALSE_STARTS = 5
"""In a row, of one target: once another worker reports, a full device may have room again."""
_UNDYING_S = 15.0
"""A process that waits for its device's driver may not end when it is killed."""
_UNTRUSTED = frozenset({"protocol", "canary"})
"""Reasons to end a worker after which none of its records counts that is not proven."""


@dataclass(slots=True)
class _Running:
    job: Job
    began: float
    outcomes: list[Outcome]
    sent_at: int = 0
    """How many outcomes there were when the cases were last sent: the worker counts from there."""
    deaths_without_progress: int = 0
    is_cautious: bool = False
    """Send one case at a time: the worker's records or canaries were found to be wrong."""
    suspect: int = -1
    """Place of the case that a signal ended which may have come from outside."""
    retries: int = 0
    """How often it ran again after such a signal since a case was last charged with one."""
    is_void: bool = False
    """Whether a worker ended in a way that proves nothing of what it did."""

    def may_retry(self, place: int) -> bool:
        """Return whether to run again from the last case sent; scattered deaths end, too."""
        if place == self.suspect or self.retries >= _MAX_RETRIES:
            self.suspect, self.retries = -1, 0
            return False
        self.suspect = place
        self.retries += 1
        self.is_cautious |= self.retries == _MAX_RETRIES
        return True

    def doubt(self) -> None:
        """Take note that what the last worker did of the job remains unproven."""
        self.is_void |= not self.job.fresh and len(self.outcomes) > self.sent_at


@dataclass(slots=True)
class _Batch:
    """What the worker was last given: cases of the job, then canaries."""

    token: int = 0
    cases: int = 0
    canaries: Sequence[Canary] = ()
    seen: list[Outcome] = field(default_factory=list)
    """Outcomes of the canaries so far."""
    read: int = 0
    """Records that were taken."""
    is_last: bool = False
    """Whether it holds the canary that a worker does not survive."""

    @property
    def size(self) -> int:
        return self.cases + len(self.canaries) + self.is_last

    @property
    def unread(self) -> int:
        return self.size - self.read


Hook: TypeAlias = "Callable[[socket.socket], object]"
WaitHook: TypeAlias = "Callable[[socket.socket, bool], object]"


def _ignore(*_: object) -> None:
    return None


class Lane:
    """Runs one job at a time in one worker after another."""

    def __init__(
        self,
        server: ServerProcess,
        *,
        on_open: Hook = _ignore,
        on_close: Hook = _ignore,
        on_wait: WaitHook = _ignore,
    ) -> None:
        """Make an empty lane.

        Args:
            server: where its workers come from.
            on_open: called with each new worker's socket, to watch it.
            on_close: called with a socket that is about to be closed.
            on_wait: called with a socket and whether to watch for room to send, too.
        """
        self._server = server
        self._on_open, self._on_close, self._on_wait = on_open, on_close, on_wait
        self.ticket = 0
        """Names the request for the present worker: news of an earlier one is told apart."""
        self._limits = server.spec.limits
        self._cell_file = sealed_file("ciguard-cell", cells.SIZE)
        self._log = append_file("ciguard-log")
        self._stack = append_file("ciguard-stack")
        self._cell = cells.Reader(self._cell_file)
        self._vitals = Vitals(self._limits)
        self._channel: Channel | None = None
        """To the worker; None while there is no worker."""
        self.pid = 0
        self.ledger = Ledger()
        self._running: _Running | None = None
        self._batch = _Batch()
        self._served = 0
        self._session = 0
        """Of the present worker."""
        self._asked_at = 0.0
        self._lost_at = 0.0
        self._killed_for = ""
        self._killed_at = 0.0
        self._is_ready = False

    @property
    def is_free(self) -> bool:
        """Whether a job can be given to this lane."""
        return self._running is None and not self._batch.is_last

    @property
    def is_proven(self) -> bool:
        """Whether every result that was handed on can be relied upon."""
        return not self.ledger.unproven

    def give(self, job: Job) -> None:
        """Take a job; starts a worker when there is none, or none that is fresh enough."""
        now = time.monotonic()
        self._running = _Running(job, now, [], is_cautious=job.is_careful)
        used_up = self._served + len(job.cases) > self._limits.cases_per_worker
        unfit = (
            job.perturb
            or job.session != self._session
            or self.ledger.is_due(now)
            or (self._served and (used_up or job.fresh or self._vitals.is_bloated()))
            or self.ledger.is_apart(job)
        )
        if self._channel is not None and unfit:
            if self.ledger.unproven and self._is_ready:
                self._send_last()
                return
            self.retire()
        if self._channel is None:
            self.request_worker()
        elif self._is_ready:
            self._send()

    def prove(self) -> None:
        """Let a worker that has nothing to do show that its results can be relied upon."""
        if self.is_free and not self.is_proven:
            self._send_last()

    def request_worker(self) -> None:
        """Ask the server for a worker; it says when it is ready."""
        perturb = self._running.job.perturb if self._running is not None else 0
        self._session = self._running.job.session if self._running is not None else 0
        self.ledger.doubt()  # no other worker can prove what the last one did
        self._vitals.adopt(0)
        self._cell.clear()
        os.ftruncate(self._log, 0)
        os.ftruncate(self._stack, 0)
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours, on_wait=self._on_wait)
        self._on_open(ours)
        self._served = 0
        self._killed_for = ""
        self._is_ready = False
        self._batch = _Batch()
        self.pid = 0
        self._asked_at = time.monotonic()
        with theirs:
            given = [theirs.fileno(), self._cell_file, self._log, self._stack]
            operation = "measure" if self._session else "fork"
            self.ticket = self._server.request(operation, given, perturb=perturb)

    def adopt(self, pid: int) -> None:
        """Take note of the worker's process."""
        self.pid = pid
        self._vitals.adopt(pid)
        if self._killed_for:
            self._server.kill(pid, dump=False)

    def retire(self) -> None:
        """Let go of the worker: one that does not end when its connection closes is killed."""
        self.ledger.doubt()
        self._hang_up()
        if self.pid:
            self._server.dismiss(self.pid)
        self.pid = self.ticket = 0
        self._batch = _Batch()

    def _hang_up(self) -> None:
        self._lost_at = time.monotonic()
        if self._channel is not None:
            self._on_close(self._channel.connection)
            self._channel.close()
            self._channel = None

    def flush(self) -> None:
        """Send what the worker has room for now."""
        if self._channel is not None:
            self._channel.flush()

    def read(self) -> Result | None:
        """Take what the worker says; return the result when it completes the job.

        At the end of the connection nothing happens yet: the server tells how the worker died.
        """
        channel = self._channel
        try:
            message = channel.receive() if channel is not None else None
            if message is not None and message.kind != STARTED:
                self._take_records(announced=message.records)
        except (ProtocolError, cells.CorruptCellError):
            self._distrust("protocol")
            return None
        if channel is not None and channel.is_over:
            self._hang_up()
        elif channel is not None and message is not None:
            return self._react(channel, message.kind)
        return None

    def _react(self, channel: Channel, kind: bytes) -> Result | None:
        self._vitals.hear()
        self._server.false_starts = 0
        if kind == STARTED:
            self._start()
        elif kind == FULL:
            channel.go_on()
        else:
            return self._finish_sending()
        return None

    def _start(self) -> None:
        self._is_ready = True
        self._vitals.begin()
        if self._running is not None:
            self._send()

    def _finish_sending(self) -> Result | None:
        if self._batch.is_last or not self._accept(self._batch):
            self._distrust("canary")
            return None
        self._batch = _Batch()
        running = self._running
        if running is None or len(running.outcomes) == len(running.job.cases):
            return self._complete()
        self._send()
        return None

    def _accept(self, batch: _Batch) -> bool:
        """Return whether a batch's canaries came out right; take note of it."""
        if not batch.canaries:
            return True
        pairs = zip(batch.canaries, batch.seen, strict=True)
        is_sound = not any(is_wrong(canary, outcome) for canary, outcome in pairs)
        if is_sound:
            self.ledger.note_harmless(batch.seen, time.monotonic())
        if self.ledger.is_usable is None:
            # Nothing ran here before: an adapter that cannot make these calls has no canaries.
            self.ledger.is_usable = is_sound
        return is_sound or not self.ledger.is_usable

    def _distrust(self, reason: str) -> None:
        """End a worker whose word does not count any more; `bury` does the rest."""
        self._killed_for, self._killed_at = reason, time.monotonic()
        self._hang_up()
        if self.pid:
            self._server.kill(self.pid, dump=False)

    def _send(self) -> None:
        if self._running is None or self._channel is None:
            return
        running = self._running
        running.sent_at = len(running.outcomes)
        canaries = self._canaries(running)
        remaining: Sequence[bytes] = running.job.cases[running.sent_at :]
        if running.is_cautious:
            remaining = remaining[:1]
        if canaries and self.ledger.is_usable is None:
            remaining = ()
        self._served += len(remaining)
        self._vitals.expect(running.job, remaining)
        token = self._channel.send_batch([*remaining, *(canary.case for canary in canaries)])
        self._batch = _Batch(token, len(remaining), canaries)

    def _canaries(self, running: _Running) -> Sequence[Canary]:
        if self.ledger.is_usable is False or self._session:
            return ()
        is_alone = running.is_cautious or running.job.fresh
        is_due = is_alone or self.ledger.is_harmless_due(time.monotonic())
        return harmless() if is_due else ()

    def _send_last(self) -> None:
        """Let the worker crash: that proves what it did before, and another takes its place."""
        if self._channel is None:
            self.ledger.doubt()
            return
        self._vitals.expect(None, ())
        token = self._channel.send_batch([fatal()])
        self._batch = _Batch(token, is_last=True)

    def _take_records(self, *, announced: int | None = None) -> None:
        batch = self._batch
        if not batch.token:
            return
        records = self._cell.records(batch.token, after=batch.read, most=batch.unread)
        outcomes = list(map(decode_record, records))
        of_job = outcomes[: max(0, batch.cases - batch.read)]
        batch.read += len(outcomes)
        batch.seen += outcomes[len(of_job) :]
        if self._running is not None:
            self._running.outcomes += of_job
        if announced is not None and announced != batch.read:
            msg = f"announced {announced} records and wrote {batch.read}"
            raise ProtocolError(msg)

    def _complete(self) -> Result | None:
        running = self._running
        if running is None:
            return None
        self._running = None
        now = time.monotonic()
        if running.job.fresh:
            self.retire()
        elif running.is_void:
            self.ledger.void.append(running.job)
        elif self._channel is not None and not running.job.session and self.ledger.is_usable:
            self.ledger.note(running.job, now)
        return Result(running.job, tuple(running.outcomes), now - running.began)

    def bury(self, death: Death) -> Result | None:
        """Take note of the worker's death, blame the case it died in, go on with the rest.

        Raises:
            WorkerStartError: if several in a row died before they could take a case.
        """
        death = replace(death, killed_for=self._killed_for)
        if not self._is_ready:
            self._count_false_start()
        batch, running = self._batch, self._running
        if batch.is_last:
            self._judge_last(death)
        elif running is not None and self._is_ready:
            self._blame(running, death)
        self.pid = 0
        self.retire()
        if running is None:
            return None
        if len(running.outcomes) == len(running.job.cases) or _hangs_too_often(running):
            return self._complete()
        self.request_worker()
        return None

    def _count_false_start(self) -> None:
        self._server.false_starts += 1
        if self._server.false_starts >= _MAX_FALSE_STARTS:
            log = excerpt(contents(self._log)).strip()
            msg = f"{self._server.spec.name}: its workers end before they can take a case.\n{log}"
            raise WorkerStartError(msg)

    def _judge_last(self, death: Death) -> None:
        number, _ = self._cell.progress()
        if number == 1 and is_reported_fault(death):
            self.ledger.prove()

    def _blame(self, running: _Running, death: Death) -> None:
        before = len(running.outcomes)
        try:
            if death.killed_for not in _UNTRUSTED:
                self._take_records()
            is_trusted = death.killed_for not in _UNTRUSTED
        except cells.CorruptCellError:
            is_trusted = False
        if not is_trusted:
            self._reject(running, death)
        elif self._is_in_case():
            self._charge(running, death)
        else:
            self._lose_canary(running, death)
        if len(running.outcomes) > before:
            running.deaths_without_progress = 0
            return
        running.deaths_without_progress += 1
        if running.deaths_without_progress >= _MAX_DEATHS_WITHOUT_PROGRESS:
            # Its argument alone ends a worker before the case is announced: so it is the case.
            log = excerpt(contents(self._log))
            running.outcomes.append(Crashed("worker cannot start the case", (), log))
            running.deaths_without_progress = 0

    def _is_in_case(self) -> bool:
        number, _ = self._cell.progress()
        return number == self._batch.read + 1 and number <= self._batch.cases

    def _charge(self, running: _Running, death: Death) -> None:
        """Charge a death to the case that was running, unless it may have come from outside."""
        place = len(running.outcomes)
        if may_come_from_outside(death) and running.may_retry(place):
            # Once more: a case that kills its worker does so again.
            del running.outcomes[running.sent_at :]
            running.deaths_without_progress -= 1  # nor is it the fault of any other case
            return
        if is_proof(death):
            self.ledger.prove()
        elif self.ledger.is_usable:
            running.doubt()
        running.outcomes.append(self._outcome(running, death))

    def _lose_canary(self, running: _Running, death: Death) -> None:
        """Take note of a death between two cases, or in a canary: what came before is in doubt."""
        number, _ = self._cell.progress()
        running.doubt()
        if number and not may_come_from_outside(death):
            self._reject(running, replace(death, killed_for="canary"))

    def _reject(self, running: _Running, death: Death) -> None:
        """Forget what the last batch came to; do it again, one case at a time."""
        del running.outcomes[running.sent_at :]
        if running.is_cautious:
            running.outcomes.append(self._outcome(running, death))
        running.is_cautious = True

    def _outcome(self, running: _Running, death: Death) -> Outcome:
        log = excerpt(contents(self._log))
        stack = contents(self._stack).decode("utf-8", "replace")
        case = running.job.cases[len(running.outcomes)]
        limit_s = limit_of(running.job, case, self._limits)
        on_device = self._server.spec.device != "cpu"
        return decode_death(death, log=log, stack=stack, limit_s=limit_s, on_device=on_device)

    def check(self, now: float) -> Result | None:
        """End the worker if its case takes long, takes too much memory, or nothing is heard.

        Returns:
            The result of a job that ends with a worker which was killed and does not die.
        """
        if self.pid and self._killed_for and now - self._killed_at > _UNDYING_S:
            self._server.forsake(self.pid)
            return self.bury(Death(signal.SIGKILL, 0))
        self._examine(now)
        return None

    def _examine(self, now: float) -> None:
        if not self.pid or self._killed_for or self.is_free:
            return
        if self._channel is None:
            # The case closed the worker's descriptors: it can tell nothing any more.
            if now - self._lost_at > _GRACE_S:
                self._kill("silence", dump=True)
        elif not self._is_ready:
            if now - self._asked_at > _WORKER_START_S:
                self._kill("time", dump=True)
        elif self._batch.token:
            reason = self._vitals.ailment(now, *self._cell.progress())
            if reason:
                self._kill(reason, dump=reason == "time")

    def _kill(self, reason: str, *, dump: bool) -> None:
        self._killed_for, self._killed_at = reason, time.monotonic()
        self._server.kill(self.pid, dump=dump)

    def abandon(self) -> None:
        """Give up the job and the worker: the server is gone."""
        self._running = None
        self.retire()
        self.ledger.void.clear()  # nothing can be done again here: the target's failure is reported

    def close(self) -> None:
        """Release everything."""
        self.retire()
        self._cell.close()
        for descriptor in (self._cell_file, self._log, self._stack):
            os.close(descriptor)


def _hangs_too_often(running: _Running) -> bool:
    most = running.job.most_hangs
    return bool(most) and sum(isinstance(o, Hung) for o in running.outcomes) >= most
