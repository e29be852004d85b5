"""A worker that is started ahead, so that the next one that ends is replaced at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.execution.channel import ProtocolError
from ciguard.execution.worker_handle import WorkerOptions

if TYPE_CHECKING:
    from ciguard.execution.process import ServerProcess
    from ciguard.execution.worker_handle import WorkerHandle


class SpareWorker:
    """At most one worker of a target that waits without a job.

    A lane whose worker has ended takes the spare worker, which was forked and prepared while the
    lane was busy. The first one is started when a worker has ended for the first time, since
    workers of many targets never end. On a device there is none, as it would occupy memory there.
    """

    def __init__(self, server: ServerProcess, handle: WorkerHandle) -> None:
        """Prepare for a spare worker, without starting one.

        Args:
            server: fork server that starts the workers.
            handle: handle without a worker.
        """
        self._server = server
        self._is_useful = server.spec.device == "cpu"
        self.handle = handle
        """Handle of the spare worker; without a worker if there is none."""

    def exchange(self, used: WorkerHandle) -> WorkerHandle:
        """Return the handle of the spare worker for one whose worker has ended.

        Without a usable spare worker, the same handle is returned.
        """
        spare = self.handle
        if spare.channel is None or spare.killed_for:
            return used
        self.handle = used
        return spare

    def prepare(self) -> None:
        """Start a spare worker, if there is none.

        Raises:
            WorkerStartError: if the server is gone.
        """
        if self._is_useful and self.handle.is_released:
            self.handle.request(WorkerOptions())

    def read(self) -> None:
        """Read from the spare worker, which can only report that it has started."""
        channel = self.handle.channel
        if channel is None:
            return
        try:
            message = channel.receive()
        except ProtocolError:
            self.handle.kill_untrusted("protocol")
            return
        if channel.is_over:
            self.handle.disconnect()
        elif message is not None:
            self.handle.begin()

    def handle_exit(self) -> None:
        """Release a spare worker that has exited; the next worker that ends causes another one."""
        if not self.handle.is_ready:
            self._server.false_starts += 1
        self.handle.pid = 0
        self.handle.dismiss()

    def check(self, now: float) -> None:
        """Kill the spare worker if it does not start in time, or is silent."""
        if self.handle.survived_kill(now):
            self.handle_exit()
        self.handle.examine(now, has_batch=False)

    def close(self) -> None:
        """Release the worker and its memory."""
        self.handle.dismiss()
        self.handle.close()
