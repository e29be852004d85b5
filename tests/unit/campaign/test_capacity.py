"""The number of workers that a machine has room for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ciguard.campaign.capacity import free_memory_mib, lanes_for, lanes_of, usable_cores
from ciguard.config import Config

if TYPE_CHECKING:
    from pathlib import Path

CORES = len(os.sched_getaffinity(0))


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "ascii")
    return root


@pytest.mark.parametrize(
    ("targets", "cores", "free_mib", "lanes"),
    [
        (1, 2, 16_000, 3),
        (3, 2, 16_000, 1),
        (2, 4, 16_000, 3),
        (3, 8, 16_000, 4),
        (1, 0.5, 16_000, 1),
        (1, 64, 4096, 8),
        (2, 64, 4096, 4),
        (5, 4, 100, 1),
        (0, 2, 16_000, 3),
    ],
)
def test_workers_occupy_all_cores_and_fit_into_memory(
    targets: int, cores: float, free_mib: float, lanes: int
) -> None:
    assert lanes_for(targets, cores=cores, free_mib=free_mib) == lanes


def test_the_setting_decides_if_there_is_one() -> None:
    assert lanes_of(Config(targets=("current[torch]",), jobs=7)) == 7


def test_targets_with_a_device_have_one_worker() -> None:
    targets = ("current[torch]", "current[torch]@cuda")

    assert lanes_of(Config(targets=targets)) == 1


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, CORES),
        ({"sys/fs/cgroup/cpu.max": "max 100000\n"}, CORES),
        ({"sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        ({"sys/fs/cgroup/cpu.max": "garbage\n"}, CORES),
        (
            {
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "25000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            0.25,
        ),
        (
            {
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            CORES,
        ),
    ],
)
def test_a_control_group_limits_the_cores(
    tmp_path: Path, files: dict[str, str], cores: float
) -> None:
    assert usable_cores(written(tmp_path, files)) == cores


MEMINFO = "MemTotal: 16000000 kB\nMemAvailable:    2097152 kB\nBuffers: 3 kB\n"


@pytest.mark.parametrize(
    ("files", "mib"),
    [
        ({"proc/meminfo": MEMINFO}, 2048),
        (
            {
                "proc/meminfo": MEMINFO,
                "sys/fs/cgroup/memory.max": f"{2**30}",
                "sys/fs/cgroup/memory.current": f"{2**28}",
            },
            768,
        ),
        (
            {
                "proc/meminfo": MEMINFO,
                "sys/fs/cgroup/memory.max": f"{2**30}",
                "sys/fs/cgroup/memory.current": f"{2**29}",
                "sys/fs/cgroup/memory.stat": f"anon 3\ninactive_file {2**28}\nsock 0\n",
            },
            768,
        ),
        ({"proc/meminfo": MEMINFO, "sys/fs/cgroup/memory.max": "max"}, 2048),
        (
            {
                "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2**30}",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{2**31}",
            },
            0,
        ),
    ],
)
def test_free_memory_is_limited_by_the_control_group(
    tmp_path: Path, files: dict[str, str], mib: float
) -> None:
    assert free_memory_mib(written(tmp_path, files)) == mib
