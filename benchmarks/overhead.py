"""Overhead: what the action costs beside fuzzing and building targets, step by step.

    python benchmarks/overhead.py

Runs the action's steps as a runner would on a planted pull request, twice: cold (no cache of uv or
pip) and warm (the packages are in those caches, as on a runner that keeps them). Prints seconds and
CPU seconds per step, and the load of the machine. CPU seconds of all processes decide, since a
loaded machine only stretches the others: with a core to itself, a step takes no longer than that.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "examples"))

from action_runner import Runner
from action_scenarios import BEFORE, FEW, INPUTS, pull_request
from node_tools import Expressions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from action_runner import Job

MAX_CPU_S = 10.0
_NOT_OURS = frozenset({"Fuzz", "Build environments of targets"})


def main() -> int:
    """Measure and print."""
    with Expressions() as expressions, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        caches = {"UV_CACHE_DIR": str(folder / "uv"), "PIP_CACHE_DIR": str(folder / "pip")}
        jobs = []
        for kind in ("cold", "warm"):
            runner = Runner(folder=folder / kind, expressions=expressions, variables=FEW | caches)
            pull_request(runner, app__py="import planted\n")
            job = runner.run({**INPUTS, "targets": BEFORE, "api": "planted.double"})
            if job.conclusion != "success":
                sys.exit(job.log)
            jobs.append(job)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'step':32} {'cold':>8} {'CPU':>8} {'warm':>8} {'CPU':>8}")
    for steps in zip(*(job.steps for job in jobs), strict=True):
        if any(step.seconds for step in steps):
            _show(steps[0].name, [(step.seconds, step.cpu_s) for step in steps])
    ours = [_ours(job) for job in jobs]
    _show("sum without targets and fuzzing", ours)
    return int(ours[-1][1] > MAX_CPU_S)


def _ours(job: Job) -> tuple[float, float]:
    steps = [step for step in job.steps if step.name not in _NOT_OURS]
    return sum(step.seconds for step in steps), sum(step.cpu_s for step in steps)


def _show(name: str, spent: Sequence[tuple[float, float]]) -> None:
    print(f"{name:32} " + " ".join(f"{s:7.1f}s {cpu:7.1f}s" for s, cpu in spent))


if __name__ == "__main__":
    sys.exit(main())
