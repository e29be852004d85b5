"""Overhead: what the action costs beside fuzzing and building targets, step by step.

    python benchmarks/overhead.py

Runs the action's steps as a runner would on a planted pull request, twice: cold (no cache of uv or
pip) and warm (the packages are in those caches, as on a runner that keeps them). Prints seconds per
step, CPU seconds of all processes included, and the load of the machine.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "examples"))

from action_runner import Runner
from action_scenarios import BEFORE, FEW, INPUTS, pull_request
from node_tools import Expressions

if TYPE_CHECKING:
    from action_runner import Job

_MOST_S = 20.0
_NOT_OURS = frozenset({"Fuzz", "Build environments of targets"})


def main() -> int:
    """Measure and print."""
    with Expressions() as expressions, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        caches = {"UV_CACHE_DIR": str(folder / "uv"), "PIP_CACHE_DIR": str(folder / "pip")}
        columns = []
        for kind in ("cold", "warm"):
            runner = Runner(folder=folder / kind, expressions=expressions, variables=FEW | caches)
            pull_request(runner, app__py="import planted\n")
            began = _children_s()
            job = runner.run({**INPUTS, "targets": BEFORE, "api": "planted.double"})
            columns.append((_seconds(job), _children_s() - began))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'step':32} {'cold':>8} {'warm':>8}")
    for step in columns[0][0]:
        print(f"{step:32} " + " ".join(f"{spent[step]:7.1f}s" for spent, _ in columns))
    ours = [sum(s for n, s in spent.items() if n not in _NOT_OURS) for spent, _ in columns]
    print(f"{'sum without targets and fuzzing':32} " + " ".join(f"{s:7.1f}s" for s in ours))
    print(f"{'CPU of everything':32} " + " ".join(f"{cpu:7.1f}s" for _, cpu in columns))
    return int(ours[-1] > _MOST_S)


def _seconds(job: Job) -> dict[str, float]:
    if job.conclusion != "success":
        sys.exit(job.log)
    return {step.name: step.seconds for step in job.steps if step.seconds}


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
