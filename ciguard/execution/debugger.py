"""A crash seen by gdb: the native stack of the thread that died, innermost frame first."""

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
    # Nothing of the user's, nothing that the debugged files bring, nothing from the network.
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
    """What the debugger saw."""

    frames: tuple[Frame, ...]
    """Shared object or source file, and demangled function; every frame."""
    text: str
    """The debugger's own words."""


def find_debugger() -> Path | None:
    """Return the debugger of this machine, None where there is none."""
    found = shutil.which("gdb")
    return Path(found) if found else None


def trace(spec: WorkerSpec, case: bytes, *, debugger: Path, limit_s: float) -> NativeTrace:
    """Run a case under the debugger in a process of its own, confined as a worker is.

    Args:
        spec: of the target.
        case: JSON text, as in a `Job`.
        debugger: what `find_debugger` found.
        limit_s: time for all of it: loading the library, its symbols and the call.

    Returns:
        No frames if the case did not die, or not in time.
    """
    text = watched(spec, case, limit_s=limit_s, debugger=_command(debugger))
    return NativeTrace(parse_trace(text), text)


def watched(
    spec: WorkerSpec,
    case: bytes,
    *,
    limit_s: float,
    debugger: Sequence[str] = (),
    around: Sequence[str] = (),
) -> str:
    """Run a case under a tool, in a process of its own; return what the tool prints.

    Args:
        spec: of the target.
        case: JSON text, as in a `Job`.
        limit_s: time for all of it.
        debugger: command of a tool that is confined as the case is.
        around: command of a tool that is not, and starts the confined process.
    """
    with tempfile.TemporaryDirectory(prefix="ciguard-debug-") as name:
        folder = Path(name)
        (folder / "case.json").write_bytes(case)
        given = settings(spec, folder) | {
            "case": str(folder / "case.json"),
            "debugger": list(debugger),
            "holds_itself": bool(around),
        }
        # Nothing of the target's runs before the process is confined.
        argv = [*around, str(spec.python), "-Ss", str(BOOTSTRAP), json.dumps(given)]
        text = _output(argv, spec, folder, limit_s)
        remove_tree(name)  # the library's own removal gives up on deep folders
    return text


def _command(debugger: Path) -> list[str]:
    before = [word for line in _SETUP for word in ("-iex", line)]
    after = [word for line in _COMMANDS for word in ("-ex", line)]
    return [str(debugger), "-nx", "-nh", "-batch", *before, *after, "--args"]


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
        child.close()  # what it debugs dies with it
    return printed.decode("utf-8", "backslashreplace")[-_MAX_TEXT:]


def parse_trace(text: str) -> tuple[Frame, ...]:
    """Return the frames of gdb's backtrace, innermost first."""
    found = (_FRAME.match(line) for line in text.splitlines())
    return tuple(
        Frame((match["object"] or match["source"] or "").strip(), match["function"].strip())
        for match in found
        if match
    )
