"""Number of workers that fit the cores and the memory of this machine."""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.config import Config

_WORKERS_PER_CORE = 1.5
"""Workers of all targets per core: some wait for their next batch, or sleep in a call."""
_MIB_PER_WORKER = 512
"""Memory that a worker needs besides the pages that it shares with its fork server, in MiB."""
_MIB_PER_DEBUGGER = 2048
"""Memory for a debugger with the symbols of a library, and for the process that it runs, in MiB."""
_MAX_DEVICE_LANES = 1
"""Maximum workers of a target if any target uses a device, whose memory they would share."""
_AMPLE_FACTOR = 4
_NO_LIMIT = 1 << 60
"""Bytes above which a limit of a control group means that there is none."""


def lanes_of(config: Config) -> int:
    """Return the number of workers per target: that of the settings, or all cores divided."""
    targets = len(config.base) + len(config.targets)
    if config.jobs:
        return config.jobs
    lanes = _automatic_lanes(targets)
    has_device = any("@" in text for text in (*config.base, *config.targets))
    return min(lanes, _MAX_DEVICE_LANES) if has_device else lanes


@cache
def _automatic_lanes(targets: int) -> int:
    """Return the number of workers, which stays the same while the run uses up the memory."""
    return lanes_for(targets, cores=usable_cores(), free_mib=free_memory_mib())


def lanes_for(targets: int, *, cores: float, free_mib: float) -> int:
    """Return the number of workers per target, at least one, that occupy all cores.

    Args:
        targets: number of targets.
        cores: number of cores, possibly a fraction.
        free_mib: free memory, in MiB.
    """
    targets = max(1, targets)
    by_cores = math.ceil(_WORKERS_PER_CORE * cores / targets)
    by_memory = int(free_mib / _MIB_PER_WORKER / targets)
    return max(1, min(by_cores, by_memory))


def debuggers_at_once() -> int:
    """Return the number of debuggers, at least one, that occupy all cores."""
    by_memory = int(free_memory_mib() / _MIB_PER_DEBUGGER)
    return max(1, min(math.ceil(usable_cores()), by_memory))


@cache
def _free_memory_at_start_mib() -> int:
    """Return the free memory when the run begins, before its workers use any."""
    return int(free_memory_mib())


def ample_memory_mib(config: Config) -> int:
    """Return the memory for a case whose end the usual limit may have caused, in MiB."""
    return min(_AMPLE_FACTOR * config.memory_mib, _free_memory_at_start_mib())


def usable_cores(root: Path = Path("/")) -> float:
    """Return the number of cores that this process may use, as its control group limits them.

    Args:
        root: root of the file system.
    """
    cores = float(len(os.sched_getaffinity(0)))
    with suppress(OSError, ValueError):
        quota, period = (root / "sys/fs/cgroup/cpu.max").read_text("ascii").split()
        return min(cores, int(quota) / int(period))  # quota is `max` without a limit
    with suppress(OSError, ValueError):
        version_1 = root / "sys/fs/cgroup/cpu"
        quota_us = int((version_1 / "cpu.cfs_quota_us").read_text("ascii"))
        period_us = int((version_1 / "cpu.cfs_period_us").read_text("ascii"))
        return min(cores, quota_us / period_us) if quota_us > 0 else cores
    return cores


def free_memory_mib(root: Path = Path("/")) -> float:
    """Return the memory that this process may still use, in MiB.

    Args:
        root: root of the file system.
    """
    free = [_NO_LIMIT]
    with suppress(OSError, ValueError, IndexError):
        text = (root / "proc/meminfo").read_text("ascii")
        free.append(int(text.split("MemAvailable:")[1].split()[0]) * 1024)
    for folder, limit, used in (
        ("sys/fs/cgroup", "memory.max", "memory.current"),
        ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        with suppress(OSError, ValueError):
            limit_bytes = int((root / folder / limit).read_text("ascii"))
            used_bytes = int((root / folder / used).read_text("ascii"))
            free.append(limit_bytes - used_bytes + _reclaimable_bytes(root / folder))
    return max(0, min(free)) / 2**20


def _reclaimable_bytes(folder: Path) -> int:
    """Return the bytes of a control group's page cache, which the kernel frees when needed."""
    with suppress(OSError):
        line = re.search(
            r"^inactive_file (\d{1,18})$", (folder / "memory.stat").read_text(), re.MULTILINE
        )
        return int(line[1]) if line else 0
    return 0
