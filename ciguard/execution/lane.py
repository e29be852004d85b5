"""A lane: a slot for one worker at a time, which runs one job after another."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import CRASHED_AFTERWARDS, Crashed
from ciguard.errors import WorkerStartError
from ciguard.execution.assignment import AssignedBatch, Assignment
from ciguard.execution.canaries import (
    Ledger,
    fatal_canary,
    is_proof,
    is_reported_fault,
    may_be_external,
)
from ciguard.execution.channel import ProtocolError
from ciguard.execution.decode import (
    WorkerExit,
    decode_exit,
    decode_record,
    explained_by_guard,
)
from ciguard.execution.job import JobResult
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker.messages import FULL, STARTED
from ciguard.execution.worker_handle import WorkerOptions
from ciguard.execution.worker_monitor import limit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution.canaries import Canary
    from ciguard.execution.channel import Channel
    from ciguard.execution.job import Job
    from ciguard.execution.process import ServerProcess
    from ciguard.execution.spare import SpareWorker
    from ciguard.execution.worker_handle import WorkerHandle

_MAX_EXITS_WITHOUT_PROGRESS = 3
_MAX_FALSE_STARTS = 5
"""Maximum consecutive false starts of a target's workers; a full device may free memory later."""
_UNTRUSTED = frozenset({"protocol", "canary"})
"""Reasons to kill a worker that invalidate all its unproven records."""


class Lane:
    """Runs one job at a time in one worker after another."""

    def __init__(self, server: ServerProcess, worker: WorkerHandle, spare: SpareWorker) -> None:
        """Make an empty lane.

        Args:
            server: fork server that starts the workers.
            worker: handle without a worker.
            spare: spare worker of all lanes of the target.
        """
        self._server = server
        self._limits = server.spec.limits
        self.worker = worker
        """Present worker of the lane; another handle takes its place when the worker ends."""
        self._spare = spare
        self.ledger = Ledger()
        self._running: Assignment | None = None
        self._batch = AssignedBatch()

    @property
    def is_free(self) -> bool:
        """True if the lane can take a job."""
        return self._running is None and not self._batch.is_last

    @property
    def is_proven(self) -> bool:
        """True if every result that was returned is proven."""
        return not self.ledger.unproven

    def give(self, job: Job) -> None:
        """Run a job; start a worker if there is none, or none that is fit for it."""
        now = time.monotonic()
        self._running = Assignment(job, now, [], is_cautious=job.is_careful)
        used_up = self.worker.served + len(job.cases) > self._limits.cases_per_worker
        is_unfit = (
            job.perturb
            or job.has_ample_memory
            or job.is_synchronous
            or job.session != self.worker.session
            or self.ledger.is_due(now)
            or (self.worker.served and (used_up or job.fresh or self.worker.is_bloated))
            or self.ledger.needs_own_worker(job)
        )
        if self.worker.channel is not None and is_unfit:
            if self.ledger.unproven and self.worker.is_ready:
                self._send_last()
                return
            self.retire()
        if self.worker.channel is None:
            self.request_worker()
        elif self.worker.is_ready:
            self._send()

    def prove(self) -> None:
        """Make an idle worker crash on purpose, which proves its results."""
        if self.is_free and not self.is_proven:
            self._send_last()

    def request_worker(self) -> None:
        """Take the spare worker, or request one from the server, which reports when it is ready."""
        job = self._running.job if self._running is not None else None
        fitting = WorkerOptions.of(job)
        is_replacement = self.worker.served > 0
        self.retire()
        if fitting == WorkerOptions():
            self.worker = self._spare.exchange(self.worker)
        if self.worker.channel is None:
            self.worker.request(fitting)
        elif self.worker.is_ready and self._running is not None:
            self._send()
        if is_replacement:
            self._spare.prepare()

    def retire(self) -> None:
        """Release the worker, and invalidate its results, which no other worker can prove."""
        self.ledger.invalidate()
        self.worker.dismiss()
        self._batch = AssignedBatch()

    def read(self) -> JobResult | None:
        """Read from the worker; return the result if the job is complete.

        A closed connection has no effect yet, as the server reports how the worker exited.
        """
        channel = self.worker.channel
        try:
            message = channel.receive() if channel is not None else None
            if message is not None and message.kind != STARTED:
                self._take_records(announced=message.records)
        except (ProtocolError, cells.CorruptCellError):
            self.worker.kill_untrusted("protocol")
            return None
        if channel is not None and channel.is_over:
            self.worker.disconnect()
        elif channel is not None and message is not None:
            return self._react(channel, message.kind)
        return None

    def _react(self, channel: Channel, kind: bytes) -> JobResult | None:
        self.worker.note_activity()
        self._server.false_starts = 0
        if kind == STARTED:
            self._start()
        elif kind == FULL:
            channel.resume()
        else:
            return self._finish_batch()
        return None

    def _start(self) -> None:
        self.worker.begin()
        if self._running is not None:
            self._send()

    def _finish_batch(self) -> JobResult | None:
        batch = self._batch
        if batch.is_last or not self.ledger.accept(batch.canaries, batch.canary_outcomes):
            self.worker.kill_untrusted("canary")
            return None
        self._batch = AssignedBatch()
        running = self._running
        if running is not None and len(running.outcomes) < len(running.job.cases):
            self._send()
        elif running is not None and running.is_alone and self.ledger.is_usable:
            self._send_last()
        else:
            return self._complete()
        return None

    def _send(self) -> None:
        if self._running is None or self.worker.channel is None:
            return
        running = self._running
        running.batch_start = len(running.outcomes)
        canaries: Sequence[Canary] = ()
        if not self.worker.session:
            is_alone = running.is_cautious or running.job.fresh
            canaries = self.ledger.canaries(is_alone=is_alone)
        remaining: Sequence[bytes] = running.job.cases[running.batch_start :]
        if running.is_cautious:
            remaining = remaining[:1]
        if canaries and self.ledger.is_usable is None:
            remaining = ()
        token = self.worker.send(running.job, remaining, [canary.case for canary in canaries])
        self._batch = AssignedBatch(token, len(remaining), canaries)

    def _send_last(self) -> None:
        """Make the worker crash, which proves its results; another one replaces it."""
        if self.worker.channel is None:
            self.ledger.invalidate()
            return
        token = self.worker.send(None, (), [fatal_canary()])
        self._batch = AssignedBatch(token, is_last=True)

    def _take_records(self, *, announced: int | None = None) -> None:
        batch = self._batch
        if not batch.token:
            return
        records = self.worker.records(batch)
        outcomes = list(map(decode_record, records))
        job_outcomes = outcomes[: max(0, batch.cases - batch.read)]
        batch.read += len(outcomes)
        batch.canary_outcomes += outcomes[len(job_outcomes) :]
        if self._running is not None:
            self._running.outcomes += job_outcomes
        if announced is not None and announced != batch.read:
            msg = f"announced {announced} records but wrote {batch.read}"
            raise ProtocolError(msg)

    def _complete(self) -> JobResult | None:
        running = self._running
        if running is None:
            return None
        self._running = None
        now = time.monotonic()
        if running.job.fresh:
            self.retire()
        elif running.is_invalidated:
            self.ledger.invalidated.append(running.job)
        elif self.worker.channel is not None and not running.job.session and self.ledger.is_usable:
            self.ledger.note(running.job, now)
        return JobResult(running.job, tuple(running.outcomes), now - running.began)

    def handle_exit(self, worker_exit: WorkerExit) -> JobResult | None:
        """Attribute the worker's exit to the case that was running, and continue with the rest.

        Raises:
            WorkerStartError: if several consecutive workers exited before they took a case.
        """
        worker_exit = replace(worker_exit, killed_for=self.worker.killed_for)
        if not self.worker.is_ready:
            self._count_false_start()
        batch, running = self._batch, self._running
        if batch.is_last:
            self._judge_last(worker_exit)
        elif running is not None and self.worker.is_ready:
            self._attribute(running, worker_exit)
        self.worker.pid = 0
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
            log = self.worker.log().strip()
            msg = f"{self._server.spec.name}: its workers exit before they can take a case.\n{log}"
            raise WorkerStartError(msg)

    def _judge_last(self, worker_exit: WorkerExit) -> None:
        """Prove the worker's results if it crashed in the canary; see `canaries`.

        A worker that ran a single case and crashed before the canary was harmed by the case.
        """
        number, _ = self.worker.progress
        is_fault = is_reported_fault(worker_exit)
        running = self._running
        if number == 1 and is_fault:
            self.ledger.prove()
        elif running is None or not running.is_complete:
            return  # these results are of earlier jobs
        elif is_fault:
            running.outcomes[-1] = Crashed(CRASHED_AFTERWARDS, (), self.worker.log())
        else:
            running.invalidate()

    def _attribute(self, running: Assignment, worker_exit: WorkerExit) -> None:
        previous_count = len(running.outcomes)
        try:
            is_trusted = worker_exit.killed_for not in _UNTRUSTED
            if is_trusted:
                self._take_records()
        except cells.CorruptCellError:
            is_trusted = False
        if not is_trusted:
            self._discard_batch(running, worker_exit)
        elif self._is_in_case():
            self._charge(running, worker_exit)
        else:
            self._exit_outside_cases(running, worker_exit)
        if len(running.outcomes) > previous_count:
            running.exits_without_progress = 0
            return
        running.exits_without_progress += 1
        if running.exits_without_progress >= _MAX_EXITS_WITHOUT_PROGRESS:
            # Building the arguments crashes workers before they announce the case: it is to blame.
            log = self.worker.log()
            running.outcomes.append(Crashed("worker cannot start the case", (), log))
            running.exits_without_progress = 0

    def _is_in_case(self) -> bool:
        number, _ = self.worker.progress
        return number == self._batch.read + 1 and number <= self._batch.cases

    def _charge(self, running: Assignment, worker_exit: WorkerExit) -> None:
        """Attribute an exit to the running case, unless an external signal may have caused it."""
        index = len(running.outcomes)
        if may_be_external(worker_exit) and running.may_retry(index):
            # A case that crashes its worker does so again.
            del running.outcomes[running.batch_start :]
            running.exits_without_progress -= 1  # no case is to blame yet
            return
        if is_proof(worker_exit):
            self.ledger.prove()
        elif self.ledger.is_usable:
            running.invalidate()
        running.outcomes.append(self._outcome(running, worker_exit))

    def _exit_outside_cases(self, running: Assignment, worker_exit: WorkerExit) -> None:
        """Handle an exit between two cases or in a canary, which invalidates earlier outcomes."""
        number, _ = self.worker.progress
        running.invalidate()
        if number and not may_be_external(worker_exit):
            self._discard_batch(running, replace(worker_exit, killed_for="canary"))

    def _discard_batch(self, running: Assignment, worker_exit: WorkerExit) -> None:
        """Discard the outcomes of the last batch, and run it again one case at a time."""
        del running.outcomes[running.batch_start :]
        if running.is_cautious:
            running.outcomes.append(self._outcome(running, worker_exit))
        running.is_cautious = True

    def _outcome(self, running: Assignment, worker_exit: WorkerExit) -> Outcome:
        log = self.worker.log()
        stack = self.worker.stack()
        case = running.job.cases[len(running.outcomes)]
        limit_s = limit_of(running.job, case, self._limits)
        spec = self._server.spec
        on_device = spec.device != "cpu"
        outcome = decode_exit(
            worker_exit, log=log, stack=stack, limit_s=limit_s, on_device=on_device
        )
        if isinstance(outcome, Crashed) and outcome.is_device_error and self._server.kernel_log:
            lines = self._server.kernel_log.xid_lines(self.worker.pid)
            return replace(outcome, log="\n".join([outcome.log, *lines]))
        return outcome if spec.guard is None else explained_by_guard(outcome)

    def check(self, now: float) -> JobResult | None:
        """Kill the worker if its case exceeds a limit, or if it is silent.

        Returns:
            Result of a job whose worker was killed but did not exit; None otherwise.
        """
        if self.worker.survived_kill(now):
            return self.handle_exit(WorkerExit(signal.SIGKILL, 0))
        if not self.is_free:
            self.worker.examine(now, has_batch=bool(self._batch.token))
        return None

    def abandon(self) -> None:
        """Drop the job and the worker, as the server is gone."""
        self._running = None
        self.retire()
        self.ledger.invalidated.clear()  # cannot run again here: the target's failure is reported

    def close(self) -> None:
        """Release the worker and its memory."""
        self.retire()
        self.worker.close()
