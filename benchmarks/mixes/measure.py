"""Calls a mix in one of three ways and prints calls and CPU seconds. Runs in the target.

`loop`: in this process. `fork`: a child per call. `once`: each call once, then end; the caller
measures the whole process.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from typing import Callable, Mapping  # noqa: UP035 - Python 3.9 in the target


def main(calls: Mapping[str, Callable[[], object]]) -> None:
    """Measure `calls` as the command line says and print `CALLS CPU-SECONDS`."""
    mode, seconds = sys.argv[1], float(sys.argv[2])
    order = list(calls.values())
    if mode == "once":
        order[int(seconds) % len(order)]()
        return
    if mode == "loop":
        for call in order:
            call()  # first calls prepare kernels; a campaign pays for that once, too
    began_cpu, deadline = _cpu_s(), time.monotonic() + seconds
    done = 0
    while time.monotonic() < deadline:
        for call in order:
            if mode == "loop":
                call()
            else:
                _in_child(call)
                if time.monotonic() >= deadline:
                    done += 1
                    break
            done += 1
    print(done, _cpu_s() - began_cpu)


def _in_child(call: Callable[[], object]) -> None:
    child = os.fork()
    if child == 0:
        call()
        os._exit(0)
    os.waitpid(child, 0)


def _cpu_s() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
