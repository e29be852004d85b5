"""A kernel's error seen by compute-sanitizer: which kernel touched what, and in which thread.

A context that was lost says no more than that it was: the error surfaces in whatever call comes
next. The sanitizer checks every access of every kernel, some ten times slower.

Source: NVIDIA, Compute Sanitizer User Manual.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Frame
from ciguard.execution.debugger import NativeTrace, watched

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
"""Older versions give where in the kernel, and its name behind that."""


def find_sanitizer() -> Path | None:
    """Return the sanitizer of this machine, None where there is none."""
    found = shutil.which(_NAME) or (str(_INSTALLED) if _INSTALLED.exists() else None)
    return Path(found) if found else None


def sanitized(spec: WorkerSpec, case: bytes, *, sanitizer: Path, limit_s: float) -> NativeTrace:
    """Run a case under the sanitizer, confined as a worker is.

    The sanitizer itself is not: it talks to what it has put into the process by sockets.

    Args:
        spec: of the target.
        case: JSON text, as in a `Job`.
        sanitizer: what `find_sanitizer` found.
        limit_s: time for all of it: loading the library and the call.

    Returns:
        One frame: what went wrong, in which kernel; none if no access was wrong, or not in time.
    """
    around = [str(sanitizer), "--tool", "memcheck", "--print-limit", "1"]
    text = watched(spec, case, limit_s=limit_s, around=around)
    return NativeTrace(parse_report(text), text)


def parse_report(text: str) -> tuple[Frame, ...]:
    """Return the first error of a report as a frame; its file says what went wrong."""
    error = _ERROR.search(text)
    if error is None:
        return ()
    kernel = _KERNEL.search(error["rest"])
    name = kernel["kernel"].strip()[:_MAX_NAME] if kernel else ""
    return (Frame(error["what"].strip()[:_MAX_NAME], "?" if _ADDRESS.match(name) else name),)
