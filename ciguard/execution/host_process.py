"""One process of a host: it starts, answers the requests to its module, and ends."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ciguard.execution.child import Child, Launch
from ciguard.execution.confinement import Confinement, FileAccess
from ciguard.execution.decode import signal_name
from ciguard.execution.process import BOOTSTRAP
from ciguard.execution.stacks import StackLine, current_stack
from ciguard.execution.worker.removal import remove_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.values import Json

GRACE_S = 2.0
"""Seconds that a process has to answer after it interrupted a call."""
_POLL_S = 0.2
_MAX_OUTPUT = 20_000
"""Maximum length of the output that is returned, per stream, in characters."""
_MAX_ON_DISK = 16 << 20
"""Maximum size of the output that is kept on disk, per stream, in bytes."""
_MAX_MESSAGE = 64 << 20
"""Maximum size of one answer, in bytes."""
_STOP_S = 15.0
"""Seconds within which a confined process and its descendants end."""
_STREAMS = ("stdout", "stderr")
_SETTINGS = "settings.json"
_STACK = "stack"


@dataclass(frozen=True, slots=True)
class Answered:
    """Answer of a process."""

    content: Json
    """Object that the module sent."""


@dataclass(frozen=True, slots=True)
class ProcessEnded:
    """End of a process that did not answer."""

    cause: str
    """Signal or exit status, such as `SIGSEGV` or `exit status 3`."""
    is_signal: bool
    """True if the process crashed with a signal."""
    frames: tuple[StackLine, ...]
    """Python stack at that time, outermost frame first; empty if unknown."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """Timeout of a process, which was then stopped."""

    frames: tuple[StackLine, ...]
    """Python stack at that time, outermost frame first; empty if unknown."""


Answer: TypeAlias = Answered | ProcessEnded | TimedOut


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """Settings of a host's process."""

    python: str = sys.executable
    """Path of the interpreter."""
    entry: str
    """Module that serves the requests."""
    path: Sequence[str] = ()
    """Folders that the module puts before its `sys.path`."""
    details: Mapping[str, Json] = field(default_factory=dict)
    """Additional settings of the module."""
    captured: bool = True
    """True if the output is kept instead of shown."""
    environment: Mapping[str, str] | None = None
    """Base of the environment; None for that of ciguard."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that are added to the base."""
    held: FileAccess | None = None
    """Files that a confined process may access; None leaves the process unconfined."""


class HostProcess:
    """A process that reads requests from its channel and writes answers, one per line."""

    def __init__(
        self, settings: HostSettings, details: Mapping[str, Json], *, folder: Path
    ) -> None:
        """Start the process.

        Args:
            settings: interpreter, module and environment.
            details: additional settings of the module.
            folder: folder of all files that the process writes; may hold those of an earlier one.

        Raises:
            OSError: if the process cannot be started.
        """
        self._settings = settings
        self._folder = folder
        self._received = bytearray()
        self._broken = ""
        """Reason to end the process, as a phrase; empty while there is none."""
        (folder / _STACK).write_bytes(b"")
        self._confinement = self._confine()
        self._channel, child_end = socket.socketpair()
        with contextlib.ExitStack() as opened:
            opened.enter_context(child_end)
            self._child = Child(self._launch(child_end.fileno(), details, opened))

    def _confine(self) -> Confinement | None:
        if self._settings.held is None:
            return None
        # The process may write to this folder only; ciguard reads nothing from it.
        home = self._folder / "home"
        remove_tree(str(home))
        home.mkdir()
        return Confinement(self._settings.held, home=home)

    def _launch(
        self, channel: int, details: Mapping[str, Json], opened: contextlib.ExitStack
    ) -> Launch:
        confinement = self._confinement
        output, errors = self._streams(opened)
        return Launch(
            argv=[
                self._settings.python,
                # No code of the interpreter's environment runs before it is confined.
                "-u" if confinement is None else "-uSs",
                BOOTSTRAP,
                f"@{self._settings_file(details)}",
                str(channel),
            ],
            environment=self._environment(),
            folder=None if confinement is None else confinement.home,
            output=output,
            errors=errors,
            descriptors=[
                channel,
                *([] if confinement is None else [confinement.listener.fileno()]),
            ],
        )

    def _streams(self, opened: contextlib.ExitStack) -> tuple[int | None, int | None]:
        if not self._settings.captured:
            return None, None
        files = []
        for name in _STREAMS:
            path = self._folder / name
            path.write_bytes(b"")
            # Append mode, as `_bound_output` may truncate the file.
            files.append(opened.enter_context(path.open("ab")))
        return files[0].fileno(), files[1].fileno()

    def _settings_file(self, details: Mapping[str, Json]) -> Path:
        """Write the settings of the process to a file, as an argument holds only 128 KiB."""
        file = self._folder / _SETTINGS
        stack = self._folder / _STACK
        confinement = self._confinement
        confined: dict[str, Json] = {}
        if confinement is not None:
            confined["held"] = confinement.settings(readable=file, writable=stack)
            confined["listener"] = confinement.listener.fileno()
        content = {
            **details,
            **confined,
            "entry": self._settings.entry,
            "path": list(self._settings.path),
            "stack": str(stack),
            "captured": self._settings.captured,
        }
        file.write_text(json.dumps(content), encoding="utf-8")
        return file

    def _environment(self) -> dict[str, str]:
        # Sets are iterated in the order of hashes: a failure must recur in the next process.
        settings = self._settings
        base = os.environ if settings.environment is None else settings.environment
        home = {} if self._confinement is None else self._confinement.variables()
        return {"PYTHONHASHSEED": "0", **base, **settings.variables, **home}

    # --- requests ---------------------------------------------------------------------------

    def ask(self, message: Json, *, limit_s: float) -> Answer | None:
        """Send a request and return its answer, or the end of the process; None on a timeout."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
            self._channel.settimeout(limit_s)  # the process may not read
            self._channel.sendall(json.dumps(message).encode() + b"\n")
        return self.answer(limit_s=limit_s)

    def answer(self, *, limit_s: float) -> Answer | None:
        """Return the next answer, or the end of the process; None on a timeout."""
        line = self._line(time.monotonic() + limit_s)
        if line is None:
            return None
        content = _message(line) if line else None
        if content is None:
            self._broken = self._broken or ("breaks the protocol" if line else "")
            return self._process_end()
        return Answered(content)

    def _line(self, deadline: float) -> bytes | None:
        """Return the next line; empty if the process is gone, None on a timeout."""
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            self._bound_output()
            if self._exceeds():
                return b""
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0:
                return None
            ready, _, _ = select.select([self._channel], [], [], min(remaining_s, _POLL_S))
            # A descendant may outlive the process, and keep the channel open.
            if not ready and not self._child.is_running:
                return b""
            if ready and not self._receive():
                return b""
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _receive(self) -> bool:
        """Receive data from the process; return whether it may send more."""
        try:
            part = self._channel.recv(1 << 16)
        except ConnectionResetError:
            part = b""
        self._received += part
        return bool(part)

    def _exceeds(self) -> bool:
        """Return whether the process exceeds a limit, and record which."""
        if len(self._received) > _MAX_MESSAGE:
            self._broken = f"answers with more than {_MAX_MESSAGE >> 20} MiB"
        elif self._confinement is not None:
            self._broken = self._confinement.exceeded()
        return bool(self._broken)

    def _bound_output(self) -> None:
        """Truncate captured output that is too large, as a program may print without end."""
        for path in (self._folder / name for name in _STREAMS):
            if self._settings.captured and path.stat().st_size > _MAX_ON_DISK:
                os.truncate(path, 0)  # the process appends, so it continues at the beginning

    # --- end of the process -----------------------------------------------------------------

    def _process_end(self) -> ProcessEnded:
        status = None if self._broken else self._child.wait(_STOP_S)
        if status is None:  # it violates the protocol, or closed its channel and still runs
            return ProcessEnded(self._broken or "breaks the protocol", is_signal=False, frames=())
        if status < 0:
            return ProcessEnded(signal_name(-status), is_signal=True, frames=self._stack())
        return ProcessEnded(f"exit status {status}", is_signal=False, frames=self._stack())

    def time_out(self) -> TimedOut:
        """Make the process dump its stack, and return the timeout with that stack."""
        self._child.send(signal.SIGUSR1)  # faulthandler writes the stack
        deadline = time.monotonic() + GRACE_S
        while not self._stack() and time.monotonic() < deadline and self._child.is_running:
            time.sleep(0.02)
        return TimedOut(self._stack())

    def _stack(self) -> tuple[StackLine, ...]:
        """Return the stack that faulthandler wrote, outermost frame first."""
        return current_stack((self._folder / _STACK).read_text("utf-8", errors="replace"))

    def stop(self, *, grace_s: float) -> None:
        """Stop the process and its descendants.

        Args:
            grace_s: seconds that an unconfined process has to exit after its channel is closed.
        """
        self._channel.close()
        if self._confinement is None:
            self._child.close(grace_s=grace_s)
            return
        self._confinement.listener.close()
        self._child.terminate()  # the reaper above the process ends all its descendants
        self._child.close(grace_s=_STOP_S)


def captured_output(folder: Path) -> tuple[str, str]:
    """Return the standard output and standard error of the last process of a folder."""
    return _text(folder / "stdout"), _text(folder / "stderr")


def _text(path: Path) -> str:
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace")
    cut = len(text) - _MAX_OUTPUT
    return f"[… {cut} characters]\n{text[cut:]}" if cut > 0 else text


def _message(line: bytes) -> Json | None:
    """Return the JSON object in a line; None for any other output of the program."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
