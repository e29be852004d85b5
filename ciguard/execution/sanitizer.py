"""Errors in CUDA kernels, located by compute-sanitizer.

A lost context does not name the faulty kernel, as the error surfaces in a later call. The sanitizer
checks every access of every kernel, and is about ten times slower. It also finds reads of memory
that nothing has written, and races in shared memory, which make results vary without any error.

Source: NVIDIA, Compute Sanitizer User Manual.
"""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import UNKNOWN_FUNCTION, Frame
from ciguard.execution.debugger import NativeTrace, run_under_tool

if TYPE_CHECKING:
    from ciguard.execution.spec import WorkerSpec

TOOLS = ("memcheck", "initcheck", "racecheck")
"""Tools of the sanitizer, in the order in which they run until one reports an error."""

_OPTIONS = {"memcheck": ("--report-api-errors", "no")}
"""Further options by tool. Libraries try calls of the driver that may fail, which is no defect."""
_MAX_NAME = 200
_INSTALLED = Path("/usr/local/cuda/bin/compute-sanitizer")
_NAME = "compute-sanitizer"
_LINE = re.compile(r"^========= ?(?P<text>.*)$", re.MULTILINE)
_ERROR = re.compile(
    r"(?:Error: )?(?P<what>(?:Invalid|Misaligned|Uninitialized) .+?|Race reported between .+?)"
    r"(?: at (?P<place>.+))?"
)
_DETAIL = re.compile(r"by thread \(.+|(?:Access|Address) .+|and (?:Read|Write|Atomic) access\b.*")
"""Lines about the thread, the address, and the other access of a race."""
_PLACE = re.compile(r"(?P<kernel>.+?)(?:\+0x[0-9a-f]+)?(?: in (?P<source>.+))?")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_LINE_OF_SOURCE = re.compile(r".+?:\d+")


def find_sanitizer() -> Path | None:
    """Return the path of the sanitizer; None if this machine has none."""
    path = shutil.which(_NAME) or (str(_INSTALLED) if _INSTALLED.exists() else None)
    return Path(path) if path else None


def run_sanitizer(
    spec: WorkerSpec,
    case: bytes,
    *,
    sanitizer: Path,
    limit_s: float,
    tools: tuple[str, ...] = TOOLS,
) -> NativeTrace:
    """Run a case under each tool of the sanitizer until one finds an error, confined like a worker.

    The sanitizer itself is not confined, as it communicates with the process by sockets.

    Args:
        spec: specification of the target's workers.
        case: JSON text of the case, as in a `Job`.
        sanitizer: path returned by `find_sanitizer`.
        limit_s: total timeout of loading the library and of the call, for all tools, in seconds.
        tools: names of the tools, in order.

    Returns:
        One frame with the error and its kernel; no frames if no error was found in time.
    """
    until = time.monotonic() + limit_s
    seen = NativeTrace((), "")
    for tool in tools:
        left_s = until - time.monotonic()
        if seen.frames or left_s <= 0:
            break
        options = ["--tool", tool, *_OPTIONS.get(tool, ()), "--print-limit", "1"]
        text = run_under_tool(spec, case, limit_s=left_s, around=[str(sanitizer), *options])
        seen = NativeTrace(parse_report(text), text)
    return seen


def parse_report(text: str) -> tuple[Frame, ...]:
    """Return the first error of a report as a frame.

    Its `function` is the kernel, and its `file` describes the error with thread and address.
    """
    lines = [match["text"] for match in _LINE.finditer(text)]
    for number, line in enumerate(lines):
        error = _ERROR.fullmatch(line.strip())
        if error is None:
            continue
        details = []
        place = error["place"] or ""
        for detail in lines[number + 1 :]:
            if not detail.startswith(" "):
                break
            shown = detail.strip()
            place = place or shown.removeprefix("at ") * shown.startswith("at ")
            details += [shown] if _DETAIL.fullmatch(shown) else []
        description = ", ".join([error["what"], *details])
        return (Frame(description[:_MAX_NAME], _kernel_at(place)),)
    return ()


def _kernel_at(place: str) -> str:
    """Return the kernel in the text after `at`, such as `far(float *)+0x80 in far.cu:7`."""
    match = _PLACE.fullmatch(place)
    if match is None:
        return UNKNOWN_FUNCTION
    if not _ADDRESS.fullmatch(match["kernel"]):
        return match["kernel"].strip()[:_MAX_NAME]
    # Older versions print the kernel behind the address, or behind file and line.
    source = match["source"] or ""
    line = _LINE_OF_SOURCE.match(source)
    kernel = source[line.end() :].removeprefix(":") if line else source
    return kernel.strip()[:_MAX_NAME] or UNKNOWN_FUNCTION
