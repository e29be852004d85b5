"""Native stack of a crash, taken by gdb."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Frame
from ciguard.execution.child import Child, Launch
from ciguard.execution.process import BOOTSTRAP, environment, settings
from ciguard.execution.worker.removal import remove_tree

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


def run_debugger(spec: WorkerSpec, case: bytes, *, debugger: Path, limit_s: float) -> NativeTrace:
    """Run a case under the debugger in a separate process, confined like a worker.

    Args:
        spec: specification of the target's workers.
        case: JSON text of the case, as in a `Job`.
        debugger: path returned by `find_debugger`.
        limit_s: total timeout of loading the library and its symbols, and of the call, in seconds.

    Returns:
        The stack, without frames if the case did not crash in time.
    """
    text = run_under_tool(spec, case, limit_s=limit_s, debugger=_command(debugger))
    return NativeTrace(parse_trace(text), text)


def run_under_tool(
    spec: WorkerSpec,
    case: bytes,
    *,
    limit_s: float,
    debugger: Sequence[str] = (),
    around: Sequence[str] = (),
) -> str:
    """Run a case under a tool in a separate process, and return the tool's output.

    Args:
        spec: specification of the target's workers.
        case: JSON text of the case, as in a `Job`.
        limit_s: total timeout, in seconds.
        debugger: command of a tool that is confined together with the case.
        around: command of an unconfined tool that starts the confined process.
    """
    with tempfile.TemporaryDirectory(prefix="ciguard-debug-") as name:
        folder = Path(name)
        (folder / "case.json").write_bytes(case)
        bootstrap_settings = settings(spec, folder) | {
            "case": str(folder / "case.json"),
            "debugger": list(debugger),
            "holds_itself": bool(around),
        }
        # None of the target's code runs before the process is confined.
        interpreter = [str(spec.python), "-Ss", str(BOOTSTRAP)]
        argv = [*around, *interpreter, json.dumps(bootstrap_settings)]
        text = _output(argv, spec, folder, limit_s)
        remove_tree(name)  # `TemporaryDirectory` cannot remove very deep folders
    return text


def _command(debugger: Path) -> list[str]:
    setup = [word for line in _SETUP for word in ("-iex", line)]
    commands = [word for line in _COMMANDS for word in ("-ex", line)]
    return [str(debugger), "-nx", "-nh", "-batch", *setup, *commands, "--args"]


def _output(argv: list[str], spec: WorkerSpec, folder: Path, limit_s: float) -> str:
    child = Child(
        Launch(
            argv=argv,
            environment=environment(spec, folder),
            folder=folder,
            output=subprocess.PIPE,
        )
    )
    try:
        printed = child.output(limit_s)
    finally:
        child.close()  # the debugged process ends with it
    return printed.decode("utf-8", "backslashreplace")[-_MAX_TEXT:]


def parse_trace(text: str) -> tuple[Frame, ...]:
    """Return the frames of gdb's backtrace, innermost first."""
    matches = (_FRAME.match(line) for line in text.splitlines())
    return tuple(
        Frame((match["object"] or match["source"] or "").strip(), match["function"].strip())
        for match in matches
        if match
    )
