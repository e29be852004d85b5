"""The NVIDIA driver of this machine and the GPUs that the job offers, without initialising CUDA.

A process that has initialised CUDA cannot fork, and what is installed is decided before any
library is there to ask.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ciguard.errors import ProvisioningError
from ciguard.programs import run_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.targets.target import Target

Cuda: TypeAlias = tuple[int, int]
"""A version of CUDA, e.g. `(12, 8)`."""

VERSION_FILE = Path("/proc/driver/nvidia/version")
"""Written by the kernel's module; absent on Windows' Linux and in some containers."""
WSL_PROGRAMS = Path("/usr/lib/wsl/lib")
"""Where Windows' Linux has `nvidia-smi`; not on every shell's `PATH`."""

CONTROL = Path("/dev/nvidiactl")
"""Made when the kernel's module is loaded."""
UNIFIED_MEMORY = Path("/dev/nvidia-uvm")
"""Made when the first process of root starts CUDA; a confined worker cannot make it."""

_QUERY = ("--query-gpu=driver_version", "--format=csv,noheader")
_QUERY_LIMIT_S = 30.0
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_MODULE = re.compile(rf"Kernel Module\s+(?:for \S+\s+)?({_VERSION.pattern})")
_VISIBLE = "CUDA_VISIBLE_DEVICES"
_ENTRY = re.compile(r"\d+|(?:GPU|MIG)-.+")

_NEWEST_CUDA: tuple[tuple[int, Cuda], ...] = (
    (580, (13, 0)),
    (570, (12, 8)),
    (525, (12, 0)),
    (450, (11, 0)),
)
"""The first branch of drivers that runs a CUDA, newest first.

A driver runs every minor version of a major one, so minor versions count only where builds differ:
GPUs of the Blackwell generation have code in builds for CUDA 12.8 and later. Source: NVIDIA, CUDA
Toolkit release notes, tables of driver versions for minor version compatibility.
"""


def driver_version() -> str | None:
    """Return the version of the NVIDIA driver, e.g. `580.159.03`; None where there is none."""
    try:
        text = VERSION_FILE.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    module = _MODULE.search(text)
    return module[1] if module else _version_by_program()


def cuda_of_driver(version: str) -> Cuda | None:
    """Return the newest CUDA that a driver runs builds for; None if it is too old for CUDA 11."""
    branch = int(version.partition(".")[0])
    return next((cuda for oldest, cuda in _NEWEST_CUDA if branch >= oldest), None)


def oldest_driver(major: int) -> int:
    """Return the first branch of drivers that runs a major version of CUDA, e.g. 525 for 12."""
    return min(branch for branch, cuda in _NEWEST_CUDA if cuda[0] >= major)


def required_cuda(target: Target) -> Cuda:
    """Return the newest CUDA that the driver runs, for a target that needs one.

    Raises:
        ProvisioningError: if there is no driver, or if it is too old.
    """
    version = driver_version()
    if version is None:
        msg = (
            f"target {target.name!r}: no NVIDIA driver on this machine: {VERSION_FILE} does not "
            "exist, and nvidia-smi does not name one. Use a machine or runner with an NVIDIA GPU "
            "and its driver, or write @cpu."
        )
        raise ProvisioningError(msg)
    cuda = cuda_of_driver(version)
    if cuda is None:
        oldest, (major, _) = _NEWEST_CUDA[-1]
        msg = (
            f"target {target.name!r}: the NVIDIA driver {version} is too old. Install driver "
            f"{oldest} or newer, which runs CUDA {major}, or write @cpu."
        )
        raise ProvisioningError(msg)
    return cuda


def make_device_files() -> None:
    """Have the driver's own program make the device files that no process has needed yet.

    Where it is not installed or fails, starting the device fails, and says so.
    """
    program = shutil.which("nvidia-modprobe")
    if program is None or UNIFIED_MEMORY.exists() or not CONTROL.exists():
        return
    with contextlib.suppress(OSError):
        run_program([program, "-u", "-c=0"], limit_s=_QUERY_LIMIT_S)


def visible_device(target: Target, outer: Mapping[str, str]) -> str:
    """Return the GPU of a `cuda` target as an entry of CUDA_VISIBLE_DEVICES.

    Args:
        target: its device counts among the GPUs that the job may use, in their order.
        outer: the job's environment. Without CUDA_VISIBLE_DEVICES, numbers are those of the bus.

    Raises:
        ProvisioningError: if the job may use fewer GPUs.
    """
    number = int(target.device.partition(":")[2])
    given = outer.get(_VISIBLE)
    if given is None:
        return str(number)
    entries = _entries(given)
    if number >= len(entries):
        msg = (
            f"target {target.name!r}: {target.device} is beyond {_VISIBLE}={given!r}, which offers "
            f"{len(entries)} GPUs. Name a lower number, or offer the job more GPUs."
        )
        raise ProvisioningError(msg)
    return entries[number]


def _entries(given: str) -> list[str]:
    """Return the GPUs of a list; what follows an invalid entry, such as `-1`, does not count."""
    entries = []
    for entry in map(str.strip, given.split(",")):
        if not _ENTRY.fullmatch(entry):
            break
        entries.append(entry)
    return entries


def _version_by_program() -> str | None:
    folders = os.pathsep.join([*os.get_exec_path(), os.fspath(WSL_PROGRAMS)])
    program = shutil.which("nvidia-smi", path=folders)
    if program is None:
        return None
    try:
        asked = run_program([program, *_QUERY], limit_s=_QUERY_LIMIT_S)
    except OSError:
        return None
    first = asked.text.strip().partition("\n")[0].strip()  # one line per GPU
    return first if asked.code == 0 and _VERSION.fullmatch(first) else None
