"""The end of all that a target has left."""

from __future__ import annotations

import subprocess
import sys

_LEAVE_AND_END = """
import os, time
from ciguard.execution.worker import reaper

for _ in range(600):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
looks = []
listed = reaper.processes
reaper.processes = lambda: (looks.append(1), listed())[1]
reaper.end_all()
print(len(looks))
"""


def test_many_children_are_killed_with_few_listings_of_processes() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _LEAVE_AND_END], capture_output=True, check=True, timeout=60
    )

    assert int(ended.stdout) < 100
