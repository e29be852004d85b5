"""Processes of other people's code: how each is started, what it is given, and how it ends.

Whatever runs a library under test, a program or an application of the user's, or a tool around one
of these, is a `Child`: a fork server (`process`), a host of one module (`host`), a case under a
debugger (`debugger`). What confines it is up to the bootstrap, which is the first that runs in it.
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
    """What a child is, and all that it gets: nothing of this process is handed on by itself."""

    argv: Sequence[str | Path]
    environment: Mapping[str, str]
    folder: Path | None = None
    """Where it runs; None for where this process does."""
    output: int | None = subprocess.DEVNULL
    """Descriptor of its standard output, or a constant of `subprocess`; None for this process's."""
    errors: int | None = subprocess.DEVNULL
    descriptors: Sequence[int] = ()
    """Further ones that it inherits, by the same numbers."""


class Child:
    """A child in a session and a process group of its own, without input."""

    def __init__(self, launch: Launch) -> None:
        """Start it.

        Raises:
            OSError: if there is no such program, or no room for a process.
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
        """Its process, which is also its group."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def wait(self, limit_s: float | None = None) -> int | None:
        """Return its exit status, negative for a signal; None if it lives on after this time."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(limit_s)
        return None

    def output(self, limit_s: float) -> bytes:
        """Return what it prints until it ends; nothing if that takes longer than the limit."""
        with suppress(subprocess.TimeoutExpired):
            printed, _ = self._process.communicate(timeout=limit_s)
            return printed or b""
        return b""

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, if it is there."""
        self._process.send_signal(number)

    def go_on(self) -> None:
        """Let the whole group go on, where somebody has stopped it."""
        self._signal_group(signal.SIGCONT)

    def request_end(self) -> None:
        """Ask it to end, and all that it has started with it."""
        if self.is_running:
            self._process.terminate()  # its first process ends all that the others have left
            self.go_on()  # one that is stopped hears nothing

    def end(self, *, patience_s: float) -> None:
        """End it and its group; wait so long for it to end by itself.

        What waits for the driver of a device may live on: `wait` for what has to be gone.
        """
        if self.is_running and patience_s:
            self.wait(patience_s)
        self._signal_group(signal.SIGKILL)
        if self.is_running:
            self._process.kill()  # it may have left its group

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def close(self, *, patience_s: float = 0.0) -> None:
        """End it as `end` does, and wait until it is gone."""
        self.end(patience_s=patience_s)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
