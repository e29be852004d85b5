"""The NVIDIA driver of this machine and the job's visible GPUs, without initialising CUDA.

A process that has initialised CUDA cannot fork. Besides, the driver's version is needed before a
library that could report it is installed.
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
"""CUDA version, e.g. `(12, 8)`."""

VERSION_FILE = Path("/proc/driver/nvidia/version")
"""File with the version of the kernel module; absent on WSL and in some containers."""
WSL_PROGRAMS = Path("/usr/lib/wsl/lib")
"""Folder of `nvidia-smi` on WSL; often not on `PATH`."""

CONTROL = Path("/dev/nvidiactl")
"""Device file that exists once the kernel module is loaded."""
UNIFIED_MEMORY = Path("/dev/nvidia-uvm")
"""Device file that root's first CUDA process creates; a confined worker cannot create it."""

_QUERY = ("--query-gpu=driver_version", "--format=csv,noheader")
_QUERY_LIMIT_S = 30.0
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_MODULE = re.compile(rf"Kernel Module\s+(?:for \S+\s+)?({_VERSION.pattern})")
_VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"
_DEVICE_ENTRY = re.compile(r"\d+|(?:GPU|MIG)-.+")

_NEWEST_CUDA: tuple[tuple[int, Cuda], ...] = (
    (580, (13, 0)),
    (570, (12, 8)),
    (525, (12, 0)),
    (450, (11, 0)),
)
"""First driver branch that supports a CUDA version, and that version; newest first.

A driver supports all minor versions of a major CUDA version. Minor versions matter only where
builds differ: builds for CUDA 12.8 and later have code for GPUs of the Blackwell generation.
    Source:
NVIDIA, CUDA Toolkit release notes, driver versions for minor version compatibility.
"""


def driver_version() -> str | None:
    """Return the version of the NVIDIA driver, e.g. `580.159.03`; None without a driver."""
    try:
        text = VERSION_FILE.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    module = _MODULE.search(text)
    return module[1] if module else _version_by_nvidia_smi()


def cuda_of_driver(version: str) -> Cuda | None:
    """Return the newest CUDA version that a driver supports; None if it is older than CUDA 11."""
    branch = int(version.partition(".")[0])
    return next((cuda for oldest, cuda in _NEWEST_CUDA if branch >= oldest), None)


def oldest_driver(major: int) -> int:
    """Return the first driver branch that supports a major version of CUDA, e.g. 525 for 12."""
    return min(branch for branch, cuda in _NEWEST_CUDA if cuda[0] >= major)


def required_cuda(target: Target) -> Cuda:
    """Return the newest CUDA version that this machine's driver supports.

    Raises:
        ProvisioningError: if there is no driver, or the driver is too old; the message names
            the target.
    """
    version = driver_version()
    if version is None:
        msg = (
            f"target {target.name!r}: no NVIDIA driver on this machine: {VERSION_FILE} does not "
            "exist, and nvidia-smi reports no version. Use a machine or runner with an NVIDIA GPU "
            "and its driver, or write @cpu."
        )
        raise ProvisioningError(msg)
    cuda = cuda_of_driver(version)
    if cuda is None:
        oldest, (major, _) = _NEWEST_CUDA[-1]
        msg = (
            f"target {target.name!r}: the NVIDIA driver {version} is too old. Install driver "
            f"{oldest} or newer, which supports CUDA {major}, or write @cpu."
        )
        raise ProvisioningError(msg)
    return cuda


def make_device_files() -> None:
    """Run the driver's program that creates device files, if they are missing.

    If the program is missing or fails, the worker later reports that the device cannot be used.
    """
    program = shutil.which("nvidia-modprobe")
    if program is None or UNIFIED_MEMORY.exists() or not CONTROL.exists():
        return
    with contextlib.suppress(OSError):
        run_program([program, "-u", "-c=0"], limit_s=_QUERY_LIMIT_S)


def visible_device(target: Target, outer: Mapping[str, str]) -> str:
    """Return the GPU of a `cuda` target as an entry of CUDA_VISIBLE_DEVICES.

    Args:
        target: the target; the number of its device is an index into the job's visible GPUs.
        outer: the job's environment variables. Without CUDA_VISIBLE_DEVICES, GPUs are numbered in
            PCI bus order.

    Raises:
        ProvisioningError: if the job has too few visible GPUs for the device's number.
    """
    number = target.device_number
    visible = outer.get(_VISIBLE_DEVICES)
    if visible is None:
        return str(number)
    entries = _visible_gpus(visible)
    if number >= len(entries):
        msg = (
            f"target {target.name!r}: {target.device} is not among the {len(entries)} GPUs of "
            f"{_VISIBLE_DEVICES}={visible!r}. Use a lower number, or make more GPUs visible."
        )
        raise ProvisioningError(msg)
    return entries[number]


def _visible_gpus(visible: str) -> list[str]:
    """Return the GPUs of a list up to its first invalid entry, such as `-1`, as CUDA does."""
    entries = []
    for entry in map(str.strip, visible.split(",")):
        if not _DEVICE_ENTRY.fullmatch(entry):
            break
        entries.append(entry)
    return entries


def _version_by_nvidia_smi() -> str | None:
    """Return the driver version that nvidia-smi reports; None if it reports none."""
    folders = os.pathsep.join([*os.get_exec_path(), os.fspath(WSL_PROGRAMS)])
    program = shutil.which("nvidia-smi", path=folders)
    if program is None:
        return None
    try:
        result = run_program([program, *_QUERY], limit_s=_QUERY_LIMIT_S)
    except OSError:
        return None
    version = result.text.strip().partition("\n")[0].strip()  # one line per GPU
    return version if result.code == 0 and _VERSION.fullmatch(version) else None
