"""A host of one module: its processes, one after the other, and the side that outlives them.

One request is under way at a time, so whatever ends the process is charged to that request. The
next request finds a new process.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ciguard.errors import WorkerStartError
from ciguard.execution.host_process import GRACE_S, Answered, HostProcess, printed
from ciguard.execution.worker.removal import remove_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from ciguard.domain.values import Json
    from ciguard.execution.host_process import Answer, HostSettings

START_S = 120.0
"""Seconds that an interpreter may take to start."""


class Host:
    """A process for requests, started when one is made."""

    patience_s: float = 0.0
    """Seconds that an unconfined process has to end by itself once its channel is closed."""

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings
        self._scratch = tempfile.TemporaryDirectory(prefix="ciguard-host-")
        self.folder = Path(self._scratch.name)
        """Of all that its processes leave; `close` removes it."""
        self._process: HostProcess | None = None
        self.starts = 0
        """Processes so far."""
        self.confined_by: tuple[str, ...] = ()
        """Names of what holds the process, see `ciguard.execution.worker.confine`."""
        self.remark = ""
        """What the module reports of itself when it is ready."""

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
        """Whether there is a process."""
        return self._process is not None

    def ask(
        self,
        message: Json,
        *,
        limit_s: float,
        answering: Callable[[Json], Json] | None = None,
    ) -> Answer:
        """Send a request that the process itself is to interrupt when its limit is over.

        Args:
            message: what the module understands.
            limit_s: seconds that its answer may take, and as many after each question.
            answering: takes what the module asks while it is at work, `{"wants": …}`.

        Raises:
            WorkerStartError: if the interpreter does not start.
        """
        answer = self.request(message, limit_s + GRACE_S)
        while answering and isinstance(answer, Answered) and "wants" in answer.content:
            given = {"given": answering(answer.content["wants"])}
            answer = self.request(given, limit_s + GRACE_S)
        return answer

    def request(self, message: Json, limit_s: float) -> Answer:
        """Send a request; end a process that has not answered in time.

        Raises:
            WorkerStartError: if the interpreter does not start.
            RuntimeError: if the module reports a defect of its own.
        """
        process = self._process or self._start()
        try:
            answer = process.ask(message, limit_s=limit_s) or process.overdue()
        except BaseException:  # an interrupt, or the limit of the whole test
            self.stop()
            raise
        if not isinstance(answer, Answered):
            self.stop()
        elif "defect" in answer.content:
            self.stop()
            raise RuntimeError(answer.content["defect"])
        return answer

    def output(self) -> tuple[str, str]:
        """Return what the last request has printed, to standard output and to standard error."""
        return printed(self.folder)

    def _start(self) -> HostProcess:
        self.starts += 1
        process = HostProcess(self._settings, self.details(), folder=self.folder)
        self._process = process
        try:
            ready = process.answer(limit_s=START_S)
        except BaseException:  # an interrupt: the process must not outlive it
            self.stop()
            raise
        if not isinstance(ready, Answered):
            output = "".join(self.output()).strip()
            self.stop()
            msg = f"{self._settings.python} does not start: {output or 'no answer'}"
            raise WorkerStartError(msg)
        self.remark = str(ready.content.get("ready", ""))
        self.confined_by = tuple(map(str, ready.content.get("confined_by", ())))
        return process

    def details(self) -> dict[str, Any]:
        """Return what the module of the process that starts now is given, beside the usual."""
        return dict(self._settings.details)

    def stop(self) -> None:
        """End the process and all that it has started; the next request starts a new one."""
        process, self._process = self._process, None
        if process is not None:
            process.end(patience_s=self.patience_s)

    def close(self) -> None:
        """End the process and forget what it wrote."""
        self.stop()
        remove_tree(str(self.folder))  # the library's own removal gives up on deep folders
        self._scratch.cleanup()
