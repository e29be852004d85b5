"""A lane: the place of one worker at a time, and everything known of the worker that is in it."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Crashed
from ciguard.errors import WorkerStartError
from ciguard.execution.assignment import AssignedBatch, Assignment
from ciguard.execution.canaries import (
    Ledger,
    fatal,
    is_proof,
    is_reported_fault,
    may_come_from_outside,
)
from ciguard.execution.channel import ProtocolError
from ciguard.execution.decode import Death, decode_death, decode_record
from ciguard.execution.job import JobResult
from ciguard.execution.occupant import Occupant, ignore
from ciguard.execution.vitals import limit_of
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker.messages import FULL, STARTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution.canaries import Canary
    from ciguard.execution.channel import Channel
    from ciguard.execution.job import Job
    from ciguard.execution.occupant import Hook, WaitHook
    from ciguard.execution.process import ServerProcess

_MAX_DEATHS_WITHOUT_PROGRESS = 3
_MAX_FALSE_STARTS = 5
"""In a row, of one target: once another worker reports, a full device may have room again."""
_UNTRUSTED = frozenset({"protocol", "canary"})
"""Reasons to end a worker after which none of its records counts that is not proven."""


class Lane:
    """Runs one job at a time in one worker after another."""

    def __init__(
        self,
        server: ServerProcess,
        *,
        on_open: Hook = ignore,
        on_close: Hook = ignore,
        on_wait: WaitHook = ignore,
    ) -> None:
        """Make an empty lane.

        Args:
            server: where its workers come from.
            on_open: called with each new worker's socket, to watch it.
            on_close: called with a socket that is about to be closed.
            on_wait: called with a socket and whether to watch for room to send, too.
        """
        self._server = server
        self._limits = server.spec.limits
        self._worker = Occupant(server, on_open=on_open, on_close=on_close, on_wait=on_wait)
        self.ledger = Ledger()
        self._running: Assignment | None = None
        self._batch = AssignedBatch()

    @property
    def ticket(self) -> int:
        """Names the request for the present worker: news of an earlier one is told apart."""
        return self._worker.ticket

    @property
    def pid(self) -> int:
        """The present worker's process; 0 until it is known."""
        return self._worker.pid

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
        self._running = Assignment(job, now, [], is_cautious=job.is_careful)
        used_up = self._worker.served + len(job.cases) > self._limits.cases_per_worker
        unfit = (
            job.perturb
            or job.session != self._worker.session
            or self.ledger.is_due(now)
            or (self._worker.served and (used_up or job.fresh or self._worker.is_bloated))
            or self.ledger.is_apart(job)
        )
        if self._worker.channel is not None and unfit:
            if self.ledger.unproven and self._worker.is_ready:
                self._send_last()
                return
            self.retire()
        if self._worker.channel is None:
            self.request_worker()
        elif self._worker.is_ready:
            self._send()

    def prove(self) -> None:
        """Let a worker that has nothing to do show that its results can be relied upon."""
        if self.is_free and not self.is_proven:
            self._send_last()

    def request_worker(self) -> None:
        """Ask the server for a worker; it says when it is ready."""
        job = self._running.job if self._running is not None else None
        self.ledger.doubt()  # no other worker can prove what the last one did
        self._batch = AssignedBatch()
        self._worker.request(
            session=job.session if job is not None else 0,
            perturb=job.perturb if job is not None else 0,
        )

    def adopt(self, pid: int) -> None:
        """Take note of the worker's process."""
        self._worker.adopt(pid)

    def retire(self) -> None:
        """Let go of the worker."""
        self.ledger.doubt()
        self._worker.dismiss()
        self._batch = AssignedBatch()

    def flush(self) -> None:
        """Send what the worker has room for now."""
        if self._worker.channel is not None:
            self._worker.channel.flush()

    def read(self) -> JobResult | None:
        """Take what the worker says; return the result when it completes the job.

        At the end of the connection nothing happens yet: the server tells how the worker died.
        """
        channel = self._worker.channel
        try:
            message = channel.receive() if channel is not None else None
            if message is not None and message.kind != STARTED:
                self._take_records(announced=message.records)
        except (ProtocolError, cells.CorruptCellError):
            self._worker.distrust("protocol")
            return None
        if channel is not None and channel.is_over:
            self._worker.hang_up()
        elif channel is not None and message is not None:
            return self._react(channel, message.kind)
        return None

    def _react(self, channel: Channel, kind: bytes) -> JobResult | None:
        self._worker.hear()
        self._server.false_starts = 0
        if kind == STARTED:
            self._start()
        elif kind == FULL:
            channel.go_on()
        else:
            return self._finish_sending()
        return None

    def _start(self) -> None:
        self._worker.begin()
        if self._running is not None:
            self._send()

    def _finish_sending(self) -> JobResult | None:
        batch = self._batch
        if batch.is_last or not self.ledger.accept(batch.canaries, batch.seen):
            self._worker.distrust("canary")
            return None
        self._batch = AssignedBatch()
        running = self._running
        if running is None or len(running.outcomes) == len(running.job.cases):
            return self._complete()
        self._send()
        return None

    def _send(self) -> None:
        if self._running is None or self._worker.channel is None:
            return
        running = self._running
        running.sent_at = len(running.outcomes)
        canaries: Sequence[Canary] = ()
        if not self._worker.session:
            is_alone = running.is_cautious or running.job.fresh
            canaries = self.ledger.canaries(is_alone=is_alone)
        remaining: Sequence[bytes] = running.job.cases[running.sent_at :]
        if running.is_cautious:
            remaining = remaining[:1]
        if canaries and self.ledger.is_usable is None:
            remaining = ()
        token = self._worker.send(running.job, remaining, [canary.case for canary in canaries])
        self._batch = AssignedBatch(token, len(remaining), canaries)

    def _send_last(self) -> None:
        """Let the worker crash: that proves what it did before, and another takes its place."""
        if self._worker.channel is None:
            self.ledger.doubt()
            return
        token = self._worker.send(None, (), [fatal()])
        self._batch = AssignedBatch(token, is_last=True)

    def _take_records(self, *, announced: int | None = None) -> None:
        batch = self._batch
        if not batch.token:
            return
        records = self._worker.records(batch)
        outcomes = list(map(decode_record, records))
        of_job = outcomes[: max(0, batch.cases - batch.read)]
        batch.read += len(outcomes)
        batch.seen += outcomes[len(of_job) :]
        if self._running is not None:
            self._running.outcomes += of_job
        if announced is not None and announced != batch.read:
            msg = f"announced {announced} records and wrote {batch.read}"
            raise ProtocolError(msg)

    def _complete(self) -> JobResult | None:
        running = self._running
        if running is None:
            return None
        self._running = None
        now = time.monotonic()
        if running.job.fresh:
            self.retire()
        elif running.is_void:
            self.ledger.void.append(running.job)
        elif self._worker.channel is not None and not running.job.session and self.ledger.is_usable:
            self.ledger.note(running.job, now)
        return JobResult(running.job, tuple(running.outcomes), now - running.began)

    def bury(self, death: Death) -> JobResult | None:
        """Take note of the worker's death, blame the case it died in, go on with the rest.

        Raises:
            WorkerStartError: if several in a row died before they could take a case.
        """
        death = replace(death, killed_for=self._worker.killed_for)
        if not self._worker.is_ready:
            self._count_false_start()
        batch, running = self._batch, self._running
        if batch.is_last:
            self._judge_last(death)
        elif running is not None and self._worker.is_ready:
            self._blame(running, death)
        self._worker.pid = 0
        self.retire()
        if running is None:
            return None
        if running.is_complete:
            return self._complete()
        self.request_worker()
        return None

    def _count_false_start(self) -> None:
        self._server.false_starts += 1
        if self._server.false_starts >= _MAX_FALSE_STARTS:
            log = self._worker.log().strip()
            msg = f"{self._server.spec.name}: its workers end before they can take a case.\n{log}"
            raise WorkerStartError(msg)

    def _judge_last(self, death: Death) -> None:
        number, _ = self._worker.progress
        if number == 1 and is_reported_fault(death):
            self.ledger.prove()

    def _blame(self, running: Assignment, death: Death) -> None:
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
            log = self._worker.log()
            running.outcomes.append(Crashed("worker cannot start the case", (), log))
            running.deaths_without_progress = 0

    def _is_in_case(self) -> bool:
        number, _ = self._worker.progress
        return number == self._batch.read + 1 and number <= self._batch.cases

    def _charge(self, running: Assignment, death: Death) -> None:
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

    def _lose_canary(self, running: Assignment, death: Death) -> None:
        """Take note of a death between two cases, or in a canary: what came before is in doubt."""
        number, _ = self._worker.progress
        running.doubt()
        if number and not may_come_from_outside(death):
            self._reject(running, replace(death, killed_for="canary"))

    def _reject(self, running: Assignment, death: Death) -> None:
        """Forget what the last batch came to; do it again, one case at a time."""
        del running.outcomes[running.sent_at :]
        if running.is_cautious:
            running.outcomes.append(self._outcome(running, death))
        running.is_cautious = True

    def _outcome(self, running: Assignment, death: Death) -> Outcome:
        log = self._worker.log()
        stack = self._worker.stack()
        case = running.job.cases[len(running.outcomes)]
        limit_s = limit_of(running.job, case, self._limits)
        on_device = self._server.spec.device != "cpu"
        return decode_death(death, log=log, stack=stack, limit_s=limit_s, on_device=on_device)

    def check(self, now: float) -> JobResult | None:
        """End the worker if its case takes long, takes too much memory, or nothing is heard.

        Returns:
            The result of a job that ends with a worker which was killed and does not die.
        """
        if self._worker.is_undying(now):
            return self.bury(Death(signal.SIGKILL, 0))
        if not self.is_free:
            self._worker.examine(now, has_batch=bool(self._batch.token))
        return None

    def abandon(self) -> None:
        """Give up the job and the worker: the server is gone."""
        self._running = None
        self.retire()
        self.ledger.void.clear()  # nothing can be done again here: the target's failure is reported

    def close(self) -> None:
        """Release everything."""
        self.retire()
        self._worker.close()
