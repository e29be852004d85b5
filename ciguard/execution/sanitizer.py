"""Memory errors of CUDA kernels, located by compute-sanitizer.

A lost context does not name the faulty kernel, as the error surfaces in a later call. The sanitizer
checks every access of every kernel, and is about ten times slower.

Source: NVIDIA, Compute Sanitizer User Manual.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Frame
from ciguard.execution.debugger import NativeTrace, run_under_tool

if TYPE_CHECKING:
    from ciguard.execution.spec import WorkerSpec

_MAX_NAME = 200
_INSTALLED = Path("/usr/local/cuda/bin/compute-sanitizer")
_NAME = "compute-sanitizer"
_MARK = r"^=========\s"
_ERROR = re.compile(
    rf"{_MARK}(?P<what>(?:Invalid|Misaligned)[^\n]*?)(?: at [^\n]*)?\n"
    rf"(?P<rest>(?:{_MARK}[^\n]*\n)*)",
    re.MULTILINE,
)
_KERNEL = re.compile(
    rf"{_MARK}\s+at (?P<kernel>[^\n]+?)(?:\+0x[0-9a-f]+)?(?: in [^\n]*)?$", re.MULTILINE
)
_ADDRESS = re.compile(r"0x|$")
"""Start of the kernel text of older versions: the address, followed by the kernel's name."""


def find_sanitizer() -> Path | None:
    """Return the path of the sanitizer; None if this machine has none."""
    path = shutil.which(_NAME) or (str(_INSTALLED) if _INSTALLED.exists() else None)
    return Path(path) if path else None


def run_sanitizer(spec: WorkerSpec, case: bytes, *, sanitizer: Path, limit_s: float) -> NativeTrace:
    """Run a case under the sanitizer, confined like a worker.

    The sanitizer itself is not confined, as it communicates with the process by sockets.

    Args:
        spec: specification of the target's workers.
        case: JSON text of the case, as in a `Job`.
        sanitizer: path returned by `find_sanitizer`.
        limit_s: total timeout of loading the library and of the call, in seconds.

    Returns:
        One frame with the error and its kernel; no frames if no error was found in time.
    """
    around = [str(sanitizer), "--tool", "memcheck", "--print-limit", "1"]
    text = run_under_tool(spec, case, limit_s=limit_s, around=around)
    return NativeTrace(parse_report(text), text)


def parse_report(text: str) -> tuple[Frame, ...]:
    """Return the first error of a report as a frame, whose `file` describes the error."""
    error = _ERROR.search(text)
    if error is None:
        return ()
    kernel = _KERNEL.search(error["rest"])
    name = kernel["kernel"].strip()[:_MAX_NAME] if kernel else ""
    return (Frame(error["what"].strip()[:_MAX_NAME], "?" if _ADDRESS.match(name) else name),)
