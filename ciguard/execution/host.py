"""A host, which serves requests to one module in a child process and restarts it when needed.

Only one request runs at a time, so a crash of the process is attributed to that request. The next
request starts a new process.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ciguard.errors import WorkerStartError
from ciguard.execution.abandoned import sweep_once
from ciguard.execution.host_process import GRACE_S, Answered, HostProcess, captured_output
from ciguard.execution.worker.removal import remove_tree
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from ciguard.domain.values import Json
    from ciguard.execution.host_process import Answer, HostSettings

START_TIMEOUT_S = 120.0
"""Timeout of the start of an interpreter, in seconds."""


class HostedDefectError(RuntimeError):
    """A defect of ciguard in the process of a host; its message is the traceback there."""


class Host:
    """A process that serves requests, started with the first one."""

    patience_s: float = 0.0
    """Seconds that an unconfined process has to exit once its channel is closed."""

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings
        sweep_once()
        self._scratch = tempfile.TemporaryDirectory(prefix=scratch_prefix("host"))
        self.folder = Path(self._scratch.name)
        """Folder of all files that the processes write; `close` removes it."""
        self._process: HostProcess | None = None
        self.starts = 0
        """Number of processes that were started so far."""
        self.confined_by: tuple[str, ...] = ()
        """Names of the mechanisms that confine the process, see `execution.worker.confine`."""
        self.remark = ""
        """Text that the module reports when it is ready."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        """True while there is a process."""
        return self._process is not None

    def ask(
        self,
        message: Json,
        *,
        limit_s: float,
        answering: Callable[[Json], Json] | None = None,
    ) -> Answer:
        """Send a request that the process itself interrupts when its time limit is over.

        Args:
            message: request in the form that the module expects.
            limit_s: timeout of each answer, in seconds.
            answering: returns the answer to a request of the module, sent as `{"wants": …}`.

        Raises:
            WorkerStartError: if the interpreter does not start.
        """
        answer = self.request(message, limit_s + GRACE_S)
        while answering and isinstance(answer, Answered) and "wants" in answer.content:
            reply = {"given": answering(answer.content["wants"])}
            answer = self.request(reply, limit_s + GRACE_S)
        return answer

    def request(self, message: Json, limit_s: float) -> Answer:
        """Send a request, and stop a process that does not answer in time.

        Raises:
            WorkerStartError: if the interpreter does not start.
            HostedDefectError: if the module reports an internal error.
        """
        process = self._process or self._start()
        try:
            answer = process.ask(message, limit_s=limit_s) or process.time_out()
        except BaseException:  # an interrupt, or the limit of the whole test
            self.stop()
            raise
        if not isinstance(answer, Answered):
            self.stop()
        elif "defect" in answer.content:
            self.stop()
            raise HostedDefectError(answer.content["defect"])
        return answer

    def output(self) -> tuple[str, str]:
        """Return the last request's standard output and standard error."""
        return captured_output(self.folder)

    def _start(self) -> HostProcess:
        self.starts += 1
        process = HostProcess(self._settings, self.details(), folder=self.folder)
        self._process = process
        try:
            ready = process.answer(limit_s=START_TIMEOUT_S)
        except BaseException:  # an interrupt: the process must not outlive it
            self.stop()
            raise
        if not isinstance(ready, Answered):
            output = "".join(self.output()).strip()
            self.stop()
            msg = f"The interpreter {self._settings.python} does not start: {output or 'no answer'}"
            raise WorkerStartError(msg)
        self.remark = str(ready.content.get("ready", ""))
        self.confined_by = tuple(map(str, ready.content.get("confined_by", ())))
        return process

    def details(self) -> dict[str, Any]:
        """Return the additional settings for the module of the next process."""
        return dict(self._settings.details)

    def stop(self) -> None:
        """Stop the process and its descendants; the next request starts a new one."""
        process, self._process = self._process, None
        if process is not None:
            process.stop(grace_s=self.patience_s)

    def close(self) -> None:
        """Stop the process and remove the files that it wrote."""
        self.stop()
        remove_tree(str(self.folder))  # the library's own removal gives up on deep folders
        self._scratch.cleanup()
