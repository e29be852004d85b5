"""Child processes that run untrusted code: start, input and termination.

Every process that runs a library under test, or a program or application of the user, is a `Child`:
a fork server (`process`), a host of one module (`host`), or a case under a debugger (`debugger`).
The bootstrap confines it, and is the first code that runs in it.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Command, environment and descriptors of a child; it inherits nothing else."""

    argv: Sequence[str | Path]
    """Program and arguments."""
    environment: Mapping[str, str]
    """Complete environment of the child."""
    folder: Path | None = None
    """Working folder of the child; None for that of this process."""
    output: int | None = subprocess.DEVNULL
    """Descriptor of standard output, or a constant of `subprocess`; None inherits it."""
    errors: int | None = subprocess.DEVNULL
    """Descriptor of standard error, or a constant of `subprocess`; None inherits it."""
    descriptors: Sequence[int] = ()
    """Further descriptors that the child inherits under the same numbers."""


class Child:
    """A child process without input, in its own session and process group."""

    def __init__(self, launch: Launch) -> None:
        """Start the child.

        Raises:
            OSError: if the program does not exist, or the machine cannot start a process.
        """
        self._process = subprocess.Popen(
            launch.argv,
            stdin=subprocess.DEVNULL,
            stdout=launch.output,
            stderr=launch.errors,
            env=launch.environment,
            cwd=launch.folder,
            pass_fds=launch.descriptors,
            start_new_session=True,
        )

    @property
    def process_id(self) -> int:
        """Process id of the child, which is also that of its group."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """True while the child has not exited."""
        return self._process.poll() is None

    def wait(self, limit_s: float | None = None) -> int | None:
        """Return the exit status, negative for a signal; None if the child is still running."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(limit_s)
        return None

    def output(self, limit_s: float) -> bytes:
        """Return what the child prints until it exits; nothing if it exceeds the time limit."""
        with suppress(subprocess.TimeoutExpired):
            printed, _ = self._process.communicate(timeout=limit_s)
            return printed or b""
        return b""

    def send(self, number: signal.Signals) -> None:
        """Send the child a signal, if it is running."""
        self._process.send_signal(number)

    def resume(self) -> None:
        """Continue the whole process group, in case it was stopped."""
        self._signal_group(signal.SIGCONT)

    def terminate(self) -> None:
        """Request that the child and all its descendants terminate."""
        if self.is_running:
            self._process.terminate()  # the child's first process ends all its descendants
            self.resume()  # a stopped process does not react to signals

    def kill(self, *, grace_s: float) -> None:
        """Kill the child and its group, if it does not exit within the grace period.

        A process that waits for a device's driver may survive; `wait` returns when it is gone.

        Args:
            grace_s: seconds that the child has to exit by itself.
        """
        if self.is_running and grace_s:
            self.wait(grace_s)
        self._signal_group(signal.SIGKILL)
        if self.is_running:
            self._process.kill()  # it may have left its group

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def close(self, *, grace_s: float = 0.0) -> None:
        """Kill the child as `kill` does, and wait until it is gone."""
        self.kill(grace_s=grace_s)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
