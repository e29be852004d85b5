"""The yardstick of a campaign: encoded calls in a plain loop, in forked children.

    python plain_loop.py ROOT ADAPTER CASES SECONDS

Runs in the target's interpreter. A child makes the calls of CASES (one encoded call per line) one
after the other, in rounds. If it crashes, or makes no progress for `HANG_S`, another child
continues with the next call. Prints one JSON object.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import sys
import time
from pathlib import Path
from typing import Any

HANG_S = 5.0
POLL_S = 0.5


def executor_of(root: str, adapter_file: str) -> Any:
    """Return the executor of calls, which builds arguments from their encoded form."""
    sys.path.insert(0, str(Path(root, "ciguard", "execution", "worker")))
    importlib.import_module("bootstrap").open_packages(root)
    loop = importlib.import_module("ciguard.execution.worker.loop")
    preparing = importlib.import_module("ciguard.execution.worker.preparing")
    adapter = preparing.load_adapter(adapter_file)
    adapter.load("cpu")
    return loop.Executor(adapter)


def call_all(executor: Any, cases: list[Any], first: int, writing: int) -> None:
    """Make the calls from `first` on, and write each one's number before it; runs in the child."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    for number in range(first, len(cases)):
        os.write(writing, b"%d\n" % number)
        executor.execute(cases[number])
    os.write(writing, b"%d\n" % len(cases))


def last_number(reading: int, child: int, deadline: float) -> tuple[bytes, bool]:
    """Return the number of the last call that a child began, and whether it hung."""
    last, began_at, data = b"", time.monotonic(), b""
    while True:
        ready, _, _ = select.select([reading], [], [], POLL_S)
        now = time.monotonic()
        if ready:
            chunk = os.read(reading, 1 << 16)
            if not chunk:
                return last, False
            data = (data + chunk)[-64:]
            last, began_at = data.split(b"\n")[-2] or last, now
        if now - began_at > HANG_S or now > deadline:
            os.kill(child, 9)
            return last, now <= deadline


def main() -> None:
    """Loop until the time is over, and print the figures."""
    root, adapter_file, file, seconds = sys.argv[1:5]
    executor = executor_of(root, adapter_file)
    with Path(file).open(encoding="ascii") as lines:
        cases = [json.loads(line) for line in lines]
    deadline = time.monotonic() + float(seconds)
    began_s = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    number = calls = hangs = 0
    crashing: dict[str, float] = {}
    began = time.monotonic()
    while time.monotonic() < deadline:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                call_all(executor, cases, number, writing)
            finally:
                os._exit(0)
        os.close(writing)
        line, has_hung = last_number(reading, child, deadline)
        os.close(reading)
        _, status = os.waitpid(child, 0)
        last = int(line or number)
        calls += last - number
        hangs += has_hung
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) != 9:
            crashing.setdefault(cases[last][0], round(time.monotonic() - began, 1))
        number = 0 if last >= len(cases) - 1 else last + 1
    cpu_s = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - began_s
    figures = {
        "calls": calls,
        "calls_per_cpu_s": round(calls / cpu_s),
        "seconds": float(seconds),
        "hangs": hangs,
        "crashing_apis": len(crashing),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
