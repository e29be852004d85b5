"""Native stack of a crash, taken by gdb."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ciguard.domain.outcomes import Frame
from ciguard.execution.child import Child, Launch
from ciguard.execution.memory_files import append_file
from ciguard.execution.process import BOOTSTRAP, environment, settings
from ciguard.execution.worker.removal import remove_tree
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.execution.spec import WorkerSpec

_MAX_FRAMES = 60
_MAX_TEXT = 200_000
_SETUP = (
    # No settings of the user, no scripts of the debugged files, nothing from the network.
    "set auto-load off",
    "set auto-solib-add off",
    "set debuginfod enabled off",
    "set startup-with-shell off",
    "set confirm off",
    "set pagination off",
    "set width 0",
    "set print frame-arguments none",
    "set print demangle on",
    "set print asm-demangle on",
    "set filename-display basename",
)
_COMMANDS = (
    "handle SIGUSR1 SIGUSR2 SIGPIPE SIGCHLD SIGALRM nostop noprint pass",
    "run",
    "sharedlibrary",
    f"backtrace {_MAX_FRAMES}",
    "kill",
)
_FRAME = re.compile(
    r"^#\d+ +(?:0x[0-9a-f]+ in )?(?P<function>.+?)(?: \([^()]*\))?"
    r"(?: from (?P<object>\S.*)| at (?P<source>\S.*?):\d+)?$"
)


@dataclass(frozen=True, slots=True)
class NativeTrace:
    """Native stack of the thread that crashed."""

    frames: tuple[Frame, ...]
    """Frames with shared object or source file, and demangled function, innermost first."""
    text: str
    """Output of the debugger."""


def find_debugger() -> Path | None:
    """Return the path of the debugger; None if this machine has none."""
    path = shutil.which("gdb")
    return Path(path) if path else None


def run_under_tool(spec: WorkerSpec, case: bytes, *, limit_s: float, around: Sequence[str]) -> str:
    """Run a case in a separate process under an unconfined tool, and return the tool's output.

    Args:
        spec: specification of the target's workers.
        case: JSON text of the case, as in a `Job`.
        limit_s: total timeout, in seconds.
        around: command of the tool, which starts the confined process.
    """
    with ToolRun(spec, case, around=around) as run:
        run.wait(limit_s)
        return run.text()


class ToolRun:
    """A case that runs under a tool in a separate process, until the context ends."""

    def __init__(
        self,
        spec: WorkerSpec,
        case: bytes,
        *,
        debugger: Sequence[str] = (),
        around: Sequence[str] = (),
    ) -> None:
        """Start the process.

        Args:
            spec: specification of the target's workers.
            case: JSON text of the case, as in a `Job`.
            debugger: command of a tool that is confined together with the case.
            around: command of an unconfined tool that starts the confined process.
        """
        with ExitStack() as resources:
            folder = Path(tempfile.mkdtemp(prefix=scratch_prefix("debug")))
            resources.callback(remove_tree, str(folder))
            self._output = append_file("ciguard-debug-output")
            resources.callback(os.close, self._output)
            (folder / "case.json").write_bytes(case)
            bootstrap_settings = settings(spec, folder) | {
                "case": str(folder / "case.json"),
                "debugger": list(debugger),
                "holds_itself": bool(around),
            }
            # None of the target's code runs before the process is confined.
            interpreter = [str(spec.python), "-Ss", str(BOOTSTRAP)]
            self._child = Child(
                Launch(
                    argv=[*around, *interpreter, json.dumps(bootstrap_settings)],
                    environment=environment(spec, folder),
                    folder=folder,
                    output=self._output,
                )
            )
            resources.callback(self._child.close)  # the debugged process ends with it
            self._resources = resources.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        """True while the tool has not exited."""
        return self._child.is_running

    def wait(self, limit_s: float) -> None:
        """Wait until the tool exits, at most `limit_s` seconds."""
        self._child.wait(limit_s)

    def text(self) -> str:
        """Return the end of the tool's output; nothing while it is running."""
        if self.is_running:
            return ""
        size = os.fstat(self._output).st_size
        printed = os.pread(self._output, _MAX_TEXT, max(0, size - _MAX_TEXT))
        return printed.decode("utf-8", "backslashreplace")

    def close(self) -> None:
        """End the tool and the case, and remove their files."""
        self._resources.close()


class DebuggerRun(ToolRun):
    """A case that runs under the debugger in a separate process, confined like a worker."""

    def __init__(self, spec: WorkerSpec, case: bytes, *, debugger: Path) -> None:
        """Start the debugger.

        Args:
            spec: specification of the target's workers.
            case: JSON text of the case, as in a `Job`.
            debugger: path returned by `find_debugger`.
        """
        super().__init__(spec, case, debugger=_command(debugger))

    def trace(self, limit_s: float = 0.0) -> NativeTrace:
        """Return the stack, without frames if the case did not crash in time.

        Args:
            limit_s: timeout of loading the library and its symbols, and of the call, in seconds.
        """
        self.wait(limit_s)
        text = self.text()
        return NativeTrace(parse_trace(text), text)


def _command(debugger: Path) -> list[str]:
    setup = [word for line in _SETUP for word in ("-iex", line)]
    commands = [word for line in _COMMANDS for word in ("-ex", line)]
    return [str(debugger), "-nx", "-nh", "-batch", *setup, *commands, "--args"]


def parse_trace(text: str) -> tuple[Frame, ...]:
    """Return the frames of gdb's backtrace, innermost first."""
    matches = (_FRAME.match(line) for line in text.splitlines())
    return tuple(
        Frame((match["object"] or match["source"] or "").strip(), match["function"].strip())
        for match in matches
        if match
    )
