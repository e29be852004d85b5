"""One process that serves the requests of one module, from its start to its end."""

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
from ciguard.execution.holding import Held, Holding
from ciguard.execution.process import BOOTSTRAP
from ciguard.execution.stacks import StackLine, current_stack
from ciguard.execution.worker.removal import remove_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.values import Json

GRACE_S = 2.0
"""Seconds that a process has to answer after it has interrupted a call."""
_STEP_S = 0.2
_MAX_OUTPUT = 20_000
_MAX_ON_DISK = 16 << 20
"""Bytes of what a program prints that are kept, of each stream."""
_MAX_MESSAGE = 64 << 20
"""Bytes of one answer."""
_SWEEP_S = 15.0
"""Seconds until a confined process and all that it has started are ended."""
_STREAMS = ("stdout", "stderr")
_SETTINGS = "settings.json"
_STACK = "stack"


@dataclass(frozen=True, slots=True)
class Answered:
    """The process has answered."""

    content: Json


@dataclass(frozen=True, slots=True)
class ProcessEnded:
    """The process has ended."""

    cause: str
    """`SIGSEGV`, or `exit status 3`."""
    is_signal: bool
    frames: tuple[StackLine, ...]
    """The Python stack at that time, outermost frame first; empty if nothing is known."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The process did not answer, and was ended."""

    frames: tuple[StackLine, ...]


Answer: TypeAlias = Answered | ProcessEnded | TimedOut


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """How the process is started."""

    python: str = sys.executable
    entry: str
    """Module that serves in it."""
    path: Sequence[str] = ()
    """What that puts before its `sys.path`."""
    details: Mapping[str, Json] = field(default_factory=dict)
    """What else that module is given."""
    captured: bool = True
    """Whether what it prints is kept, and not shown."""
    environment: Mapping[str, str] | None = None
    """All of its environment but `variables`; None: ciguard's own."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """More of its environment."""
    held: Held | None = None
    """What it may reach; None: all that this process may, as tests of the user's do."""


class HostProcess:
    """A process with a channel on which it takes a request per line, and answers likewise."""

    def __init__(
        self, settings: HostSettings, details: Mapping[str, Json], *, folder: Path
    ) -> None:
        """Start it.

        Args:
            settings: how.
            details: what its module is given.
            folder: of what it leaves; that of an earlier one may be in there.

        Raises:
            OSError: if it cannot be started.
        """
        self._settings = settings
        self._folder = folder
        self._received = bytearray()
        self._broken = ""
        """Why it has to be ended, in words."""
        (folder / _STACK).write_bytes(b"")
        self._holding = self._held()
        self._channel, theirs = socket.socketpair()
        with contextlib.ExitStack() as opened:
            opened.enter_context(theirs)
            self._child = Child(self._launch(theirs.fileno(), details, opened))

    def _held(self) -> Holding | None:
        if self._settings.held is None:
            return None
        # The only folder that it may write; ciguard reads nothing in it.
        home = self._folder / "home"
        remove_tree(str(home))
        home.mkdir()
        return Holding(self._settings.held, home=home)

    def _launch(
        self, channel: int, details: Mapping[str, Json], opened: contextlib.ExitStack
    ) -> Launch:
        holding = self._holding
        output, errors = self._streams(opened)
        return Launch(
            argv=[
                self._settings.python,
                # Nothing of the interpreter's environment runs before it is confined.
                "-u" if holding is None else "-uSs",
                BOOTSTRAP,
                f"@{self._settings_file(details)}",
                str(channel),
            ],
            environment=self._environment(),
            folder=None if holding is None else holding.home,
            output=output,
            errors=errors,
            descriptors=[channel, *([] if holding is None else [holding.listener.fileno()])],
        )

    def _streams(self, opened: contextlib.ExitStack) -> tuple[int | None, int | None]:
        if not self._settings.captured:
            return None, None
        files = []
        for name in _STREAMS:
            path = self._folder / name
            path.write_bytes(b"")
            files.append(
                opened.enter_context(path.open("ab"))
            )  # it may be cut, see `_bound_output`
        return files[0].fileno(), files[1].fileno()

    def _settings_file(self, details: Mapping[str, Json]) -> Path:
        """Write what the process is given: an argument holds no more than 128 KiB."""
        file = self._folder / _SETTINGS
        stack = self._folder / _STACK
        holding = self._holding
        held = {} if holding is None else holding.settings(readable=file, writable=stack)
        given = {
            **details,
            **({} if holding is None else {"held": held, "listener": holding.listener.fileno()}),
            "entry": self._settings.entry,
            "path": list(self._settings.path),
            "stack": str(stack),
            "captured": self._settings.captured,
        }
        file.write_text(json.dumps(given), encoding="utf-8")
        return file

    def _environment(self) -> dict[str, str]:
        # Sets are walked in the order of hashes: a failure is to recur in the next process.
        given = self._settings.environment
        around = os.environ if given is None else given
        own = {} if self._holding is None else self._holding.variables()
        return {"PYTHONHASHSEED": "0", **around, **self._settings.variables, **own}

    # --- requests ---------------------------------------------------------------------------

    def ask(self, message: Json, *, limit_s: float) -> Answer | None:
        """Send a request; return what comes of it, None if nothing does in time."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
            self._channel.settimeout(limit_s)  # it may read nothing
            self._channel.sendall(json.dumps(message).encode() + b"\n")
        return self.answer(limit_s=limit_s)

    def answer(self, *, limit_s: float) -> Answer | None:
        """Return the next answer, or how the process has ended; None if neither comes in time."""
        line = self._line(time.monotonic() + limit_s)
        if line is None:
            return None
        content = _message(line) if line else None
        if content is None:
            self._broken = self._broken or ("breaks the protocol" if line else "")
            return self._died()
        return Answered(content)

    def _line(self, deadline: float) -> bytes | None:
        """Return the next line; empty if the process is gone, None if it is late."""
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            self._bound_output()
            if self._exceeds():
                return b""
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            ready, _, _ = select.select([self._channel], [], [], min(left, _STEP_S))
            # What it has started may outlive it, and holds the channel open.
            if not ready and not self._child.is_running:
                return b""
            if ready and not self._receive():
                return b""
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _receive(self) -> bool:
        """Take what it has sent; return whether it may send more."""
        try:
            part = self._channel.recv(1 << 16)
        except ConnectionResetError:
            part = b""
        self._received += part
        return bool(part)

    def _exceeds(self) -> bool:
        """Note what the process takes too much of."""
        if len(self._received) > _MAX_MESSAGE:
            self._broken = f"answers with more than {_MAX_MESSAGE >> 20} MiB"
        elif self._holding is not None:
            self._broken = self._holding.exceeded()
        return bool(self._broken)

    def _bound_output(self) -> None:
        """Forget what was printed where it is too much: a program may print for ever."""
        for path in (self._folder / name for name in _STREAMS):
            if self._settings.captured and path.stat().st_size > _MAX_ON_DISK:
                os.truncate(path, 0)  # the process appends, from the beginning again

    # --- its end ----------------------------------------------------------------------------

    def _died(self) -> ProcessEnded:
        status = None if self._broken else self._child.wait(_SWEEP_S)
        if status is None:  # it breaks a rule, or has closed the channel, and lives on
            return ProcessEnded(self._broken or "breaks the protocol", is_signal=False, frames=())
        if status < 0:
            return ProcessEnded(_signal_name(-status), is_signal=True, frames=self._stack())
        return ProcessEnded(f"exit status {status}", is_signal=False, frames=self._stack())

    def overdue(self) -> TimedOut:
        """Have it write where it is; return that."""
        self._child.send(signal.SIGUSR1)  # faulthandler writes the stack
        deadline = time.monotonic() + GRACE_S
        while not self._stack() and time.monotonic() < deadline and self._child.is_running:
            time.sleep(0.02)
        return TimedOut(self._stack())

    def _stack(self) -> tuple[StackLine, ...]:
        """Return the stack that faulthandler wrote, outermost frame first."""
        return current_stack((self._folder / _STACK).read_text("utf-8", errors="replace"))

    def end(self, *, patience_s: float) -> None:
        """End it and all that it has started.

        Args:
            patience_s: seconds in which it may end by itself, its channel closed, if it is not
                confined.
        """
        self._channel.close()
        if self._holding is None:
            self._child.close(patience_s=patience_s)
            return
        self._holding.listener.close()
        self._child.request_end()  # the process above it ends all that it has started
        self._child.close(patience_s=_SWEEP_S)


def printed(folder: Path) -> tuple[str, str]:
    """Return what the last process of a folder has printed, to standard output and to error."""
    return _text(folder / "stdout"), _text(folder / "stderr")


def _text(path: Path) -> str:
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace")
    cut = len(text) - _MAX_OUTPUT
    return f"[… {cut} characters]\n{text[cut:]}" if cut > 0 else text


def _message(line: bytes) -> Json | None:
    """Return an answer of the process; None if it is none: programs may write there too."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
