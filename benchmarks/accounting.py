"""CPU time of a whole family of processes: what a benchmark divides by."""

from __future__ import annotations

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def family_cpu_s(server: int) -> float:
    """Return the CPU time of a server, its living children and all it has buried."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(entry.name) == server:
            total += sum(map(int, fields[11:15]))
        elif int(fields[1]) == server:
            total += sum(map(int, fields[11:13]))
    return total / TICKS
