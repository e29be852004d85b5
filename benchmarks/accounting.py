"""CPU time of a whole family of processes: what a benchmark divides by."""

from __future__ import annotations

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def family_cpu_s(first: int) -> float:
    """Return the CPU time of a process, all that descends from it, and all they have buried."""
    used: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        used[int(entry.name)] = sum(map(int, fields[11:15]))
        children.setdefault(int(fields[1]), []).append(int(entry.name))
    family, total = [first], 0
    while family:
        member = family.pop()
        total += used.get(member, 0)
        family += children.get(member, [])
    return total / TICKS


def children_cpu_s() -> float:
    """Return the CPU time of this process's living children, as `family_cpu_s` counts it."""
    own = str(os.getpid())
    total = 0.0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _parent(entry) == own:
            total += family_cpu_s(int(entry.name))
    return total


def _parent(process: Path) -> str:
    try:
        return (process / "stat").read_text("ascii", "replace").rpartition(")")[2].split()[1]
    except OSError:
        return ""
