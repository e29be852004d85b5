"""The side that starts the process in which functions run, and outlives it.

One request is under way at a time, so whatever ends the process is charged to that request. The
next request finds a new process.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import ciguard
from ciguard.errors import WorkerStartError
from ciguard.execution import remove_tree, stack_line
from ciguard.functions.hosting.held import Held, Holding
from ciguard.functions.hosting.verdicts import Frame
from ciguard.functions.in_target.calling.caller import ORACLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from ciguard.domain import Json
    from ciguard.functions.specs.programs import Program

BOOTSTRAP = Path(ciguard.__file__).parent / "execution" / "worker" / "bootstrap.py"
START_S = 120.0
"""Seconds that an interpreter may take to start."""
IMPORT_S = 900.0
"""Seconds that the import of a program may take: libraries that compile kernels take minutes."""
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


@dataclass(frozen=True, slots=True)
class Answered:
    """The process has answered."""

    content: Json


@dataclass(frozen=True, slots=True)
class Died:
    """The process has ended."""

    cause: str
    """`SIGSEGV`, or `exit status 3`."""
    is_signal: bool
    frames: tuple[Frame, ...]
    """The Python stack at that time, outermost frame first; empty if nothing is known."""


@dataclass(frozen=True, slots=True)
class Overdue:
    """The process did not answer, and was ended."""

    frames: tuple[Frame, ...]


Answer: TypeAlias = Answered | Died | Overdue


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """How the process is started."""

    python: str = sys.executable
    path: Sequence[str] = ()
    """Its `sys.path`, before the folder of the program."""
    coverage: Mapping[str, Any] | None = None
    """Options of coverage.py's `[run]`; None: nothing is measured."""
    captured: bool = True
    """Whether what programs print is kept, and not shown."""
    oracles: frozenset[str] = ORACLES
    """Kinds of failures that count, of those that the process judges."""
    environment: Mapping[str, str] | None = None
    """All of its environment but `variables`; None: ciguard's own."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """More of its environment."""
    entry: str = "ciguard.functions.in_target.child"
    """Module that serves in it."""
    details: Mapping[str, Json] = field(default_factory=dict)
    """What else that module is told."""
    held: Held | None = None
    """What it may reach; None: it is not confined."""


class Host:
    """A process for programs that share an import path, started when it is needed."""

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings
        self._scratch = tempfile.TemporaryDirectory(prefix="ciguard-functions-")
        self._folder = Path(self._scratch.name)
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._received = bytearray()
        self._loaded: set[Path] = set()
        self._starts = 0
        self._holding: Holding | None = None
        self._broken = ""
        """Why the process has to be ended, in words."""
        self.confined_by: tuple[str, ...] = ()
        """Names of what holds the process, see `ciguard.execution.worker.confine`."""
        self.measuring_problem = ""
        """Why coverage is not measured though it should be."""

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

    # --- requests ---------------------------------------------------------------------------

    def load(self, program: Program) -> Answer:
        """Import a program and describe its functions."""
        answer = self._request({"op": "load", "program": program.to_json()}, IMPORT_S)
        if isinstance(answer, Answered) and "description" in answer.content:
            self._loaded.add(program.file)
        return answer

    def call(self, program: Program, call: Json, *, limit_s: float) -> Answer:
        """Call a function of a program.

        Args:
            program: is imported first where the process is new.
            call: see `ciguard.functions.Call.to_json`.
            limit_s: seconds that the call may take.
        """
        return self._request_of(program, {"op": "call", "call": call}, limit_s)

    def nested(self, program: Program, call: Json, *, limit_s: float) -> Answer:
        """Call a function that defines others, and describe those; see `call`."""
        return self._request_of(program, {"op": "nested", "call": call}, limit_s)

    def _request_of(self, program: Program, request: Json, limit_s: float) -> Answer:
        if program.file not in self._loaded or self._process is None:
            loaded = self.load(program)
            if program.file not in self._loaded:
                return loaded
        message = {**request, "file": str(program.file), "limit_s": limit_s}
        return self._request(message, limit_s + GRACE_S)

    def run_as_script(
        self, program: Program, arguments: Sequence[str], *, limit_s: float
    ) -> Answer:
        """Run a program as the main module, in a process of its own."""
        self.stop()
        request = {
            "op": "main",
            "program": program.to_json(),
            "arguments": list(arguments),
            "limit_s": limit_s,
        }
        answer = self._request(request, limit_s + GRACE_S)
        self.stop()
        return answer

    def ask(
        self,
        message: Json,
        *,
        limit_s: float,
        answering: Callable[[Json], Json] | None = None,
    ) -> Answer:
        """Send a request of the serving module's own kind.

        Args:
            message: what it understands.
            limit_s: seconds that its answer may take, and as many after each question.
            answering: takes what the module asks while it is at work, `{"wants": …}`.
        """
        answer = self._request(message, limit_s + GRACE_S)
        while answering and isinstance(answer, Answered) and "wants" in answer.content:
            given = {"given": answering(answer.content["wants"])}
            answer = self._request(given, limit_s + GRACE_S)
        return answer

    def save_coverage(self) -> None:
        """Have what was measured so far written to `coverage_files`."""
        if self._process is not None and self._settings.coverage is not None:
            self._request({"op": "save"}, START_S)

    def coverage_files(self) -> list[Path]:
        """Return the files with what was measured, one of each process."""
        return sorted(self._folder.glob("coverage.*"))

    def output(self) -> tuple[str, str]:
        """Return what the last request has printed, to standard output and to standard error."""
        return self._text("stdout"), self._text("stderr")

    def _text(self, name: str) -> str:
        path = self._folder / name
        if not path.is_file():
            return ""
        text = path.read_text(encoding="utf-8", errors="replace")
        cut = len(text) - _MAX_OUTPUT
        return f"[… {cut} characters]\n{text[cut:]}" if cut > 0 else text

    # --- the process ------------------------------------------------------------------------

    def _request(self, message: Json, limit_s: float) -> Answer:
        if self._process is None:
            self._start()
        channel = self._channel
        if channel is None:
            msg = "a process without a channel"
            raise RuntimeError(msg)
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
                channel.settimeout(limit_s)  # it may read nothing
                channel.sendall(json.dumps(message).encode() + b"\n")
            return self._answer(limit_s)
        except BaseException:  # an interrupt, or the limit of the whole test
            self.stop()
            raise

    def _answer(self, limit_s: float) -> Answer:
        line = self._line(time.monotonic() + limit_s)
        if line is None:
            return self._end_overdue()
        if not line:
            return self._died()
        content = _message(line)
        if content is None:
            self._broken = "breaks the protocol"
            return self._died()
        if "defect" in content:
            raise RuntimeError(content["defect"])
        return Answered(content)

    def _line(self, deadline: float) -> bytes | None:
        """Return the next line; empty if the process is gone, None if it is late."""
        channel, process = self._channel, self._process
        if channel is None or process is None:
            return b""
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            self._bound_output()
            if self._exceeds():
                return b""
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            ready, _, _ = select.select([channel], [], [], min(left, _STEP_S))
            # What it has started may outlive it, and holds the channel open.
            if not ready and process.poll() is not None:
                return b""
            if ready:
                try:
                    part = channel.recv(1 << 16)
                except ConnectionResetError:
                    part = b""
                if not part:
                    return b""
                self._received += part
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

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

    def _start(self) -> None:
        self._starts += 1
        self._received.clear()
        self._loaded.clear()
        self._broken = ""
        (self._folder / "stack").write_bytes(b"")
        self._hold()
        self._channel, theirs = socket.socketpair()
        with contextlib.ExitStack() as opened:
            opened.enter_context(theirs)
            streams: dict[str, Any] = {}
            if self._settings.captured:
                for name in _STREAMS:
                    path = self._folder / name
                    path.write_bytes(b"")
                    streams[name] = opened.enter_context(path.open("ab"))
            self._process = subprocess.Popen(
                [
                    self._settings.python,
                    # Nothing of the interpreter's environment runs before it is confined.
                    "-u" if self._holding is None else "-uSs",
                    BOOTSTRAP,
                    self._settings_file(),
                    str(theirs.fileno()),
                ],
                stdin=subprocess.DEVNULL,
                env=self._environment(),
                cwd=None if self._holding is None else self._home,
                pass_fds=[theirs.fileno(), *self._listening()],
                start_new_session=True,
                **streams,
            )
        self._wait_ready()

    @property
    def _home(self) -> Path:
        """The only folder that a confined process may write; ciguard reads nothing in it."""
        return self._folder / "home"

    def _hold(self) -> None:
        if self._settings.held is not None:
            remove_tree(str(self._home))
            self._home.mkdir()
            self._holding = Holding(self._settings.held, home=self._home)

    def _listening(self) -> list[int]:
        return [] if self._holding is None else [self._holding.listener.fileno()]

    def _settings_file(self) -> str:
        """Write what the process is told: an argument holds no more than 128 KiB."""
        file = self._folder / _SETTINGS
        file.write_text(json.dumps(self._child_settings()), encoding="utf-8")
        return f"@{file}"

    def _child_settings(self) -> Json:
        coverage = None
        if self._settings.coverage is not None:
            data_file = str(self._folder / f"coverage.{self._starts}")
            coverage = {**self._settings.coverage, "data_file": data_file}
        return {
            **self._settings.details,
            **self._held_settings(),
            "entry": self._settings.entry,
            "path": list(self._settings.path),
            "stack": str(self._folder / "stack"),
            "captured": self._settings.captured,
            "coverage": coverage,
            "oracles": sorted(self._settings.oracles),
        }

    def _held_settings(self) -> Json:
        holding = self._holding
        if holding is None:
            return {}
        settings = holding.settings(
            readable=self._folder / _SETTINGS, writable=self._folder / "stack"
        )
        return {"held": settings, "listener": holding.listener.fileno()}

    def _environment(self) -> dict[str, str]:
        # Sets are walked in the order of hashes: a failure is to recur in the next process.
        given = self._settings.environment
        around = os.environ if given is None else given
        own = {} if self._holding is None else self._holding.variables()
        return {"PYTHONHASHSEED": "0", **around, **self._settings.variables, **own}

    def _wait_ready(self) -> None:
        line = self._line(time.monotonic() + START_S)
        ready = _message(line) if line else None
        if ready is None:
            said = "".join(self.output()).strip()
            self.stop()
            msg = f"{self._settings.python} does not start: {said or 'no answer'}"
            raise WorkerStartError(msg)
        self.measuring_problem = str(ready.get("ready", ""))
        self.confined_by = tuple(map(str, ready.get("confined_by", ())))

    def _died(self) -> Died:
        if self._broken:
            self.stop()
            return Died(self._broken, is_signal=False, frames=())
        process = self._process
        status = 0
        try:
            status = process.wait(_SWEEP_S) if process is not None else 0
        except subprocess.TimeoutExpired:  # it has closed the channel, and lives on
            self._broken = "breaks the protocol"
            return self._died()
        frames = self._stack()
        self.stop()
        if status < 0:
            return Died(_signal_name(-status), is_signal=True, frames=frames)
        return Died(f"exit status {status}", is_signal=False, frames=frames)

    def _end_overdue(self) -> Overdue:
        process = self._process
        if process is not None:
            process.send_signal(signal.SIGUSR1)  # faulthandler writes the stack
            deadline = time.monotonic() + GRACE_S
            while not self._stack() and time.monotonic() < deadline and process.poll() is None:
                time.sleep(0.02)
        frames = self._stack()
        self.stop()
        return Overdue(frames)

    def _stack(self) -> tuple[Frame, ...]:
        """Return the stack that faulthandler wrote, of the thread that it names current."""
        text = (self._folder / "stack").read_text(encoding="utf-8", errors="replace")
        current = re.search(r"^(Current thread|Stack) .*:$", text, re.MULTILINE)
        frames = []
        for line in text[current.end() :].splitlines()[1:] if current else ():
            found = stack_line(line)
            if found is None:
                break
            frames.append(Frame(*found))
        return tuple(reversed(frames))

    def stop(self) -> None:
        """End the process and all that it has started; the next request starts a new one."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        process, self._process = self._process, None
        self._loaded.clear()
        holding, self._holding = self._holding, None
        if holding is not None:
            holding.listener.close()
        if process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            if holding is not None:
                process.terminate()  # the process above it ends all that it has started
                process.wait(_SWEEP_S)
            # With its channel closed it ends by itself and writes its coverage.
            process.wait(GRACE_S if self._settings.coverage is not None else 0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        """End the process and forget what it wrote."""
        self.stop()
        remove_tree(str(self._folder))  # the library's own removal gives up on deep folders
        self._scratch.cleanup()


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
