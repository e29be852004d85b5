"""Simulated time while an application waits."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import asyncio
import time

before = [time.time(), time.monotonic(), time.perf_counter(), time.time_ns()]
from ciguard.levels.app.in_target.waiting import shorten_waiting
shorten_waiting()
for _ in range(40):
    time.sleep(15)
deadline, naps = time.monotonic() + 100, 0
while time.monotonic() < deadline:
    time.sleep(10)
    naps += 1
after = [time.time(), time.monotonic(), time.perf_counter(), time.time_ns()]
gone = [b - a for a, b in zip(before, after)]
assert all(690 < one < 720 for one in gone[:3]), gone
assert 690e9 < gone[3] < 720e9 and isinstance(gone[3], int)
assert naps in (10, 11)
for wrong in (-1, "x"):
    try:
        time.sleep(wrong)
    except (ValueError, TypeError):
        pass
    else:
        raise AssertionError(wrong)

async def slept():
    await asyncio.sleep(0.01)
    return "done"

assert asyncio.run(slept()) == "done"
"""


def test_sleep_returns_early_and_the_clock_advances() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=60)
