"""The cost of one crash: CPU time and wall time until the next case of the lane has its result.

    python benchmarks/deaths.py [--target torch==2.13.0]... [--deaths 30] [--pause 0.3]

One worker runs pairs of a crashing and a harmless call. CPU time is that of all processes, less
that of as many pairs of harmless calls: of the orchestrator, of the fork server (fork, exit, reap)
and of the workers (confinement, start of the library, first call, crash). Wall time is the median
of a pair. `--pause` separates the pairs, so that the next worker can be forked ahead, as in a
campaign, where crashes are rarer.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import LiteralValue, TensorValue, Uniform
from ciguard.execution import Dispatcher, Job, ServerProcess
from ciguard.oracles.relations import encode
from ciguard.targets import parse_target, provision

TARGETS = ("torch==2.13.0", "tensorflow-cpu==2.12.0", "tensorflow-cpu==2.21.0", "jax==0.10.2")
ADDITIONS = {"torch": "torch.add", "tensorflow": "tensorflow.add", "jax": "jax.numpy.add"}
FATAL = encode(
    ApiCall(api="ctypes.string_at", kind=CallKind.FUNCTION, arguments=(LiteralValue(0),))
)
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Spent:
    """CPU time of a target's processes, in seconds."""

    orchestrator_s: float
    server_s: float
    workers_s: float

    @classmethod
    def now(cls, reaper: int) -> Spent:
        """Return the CPU time so far; `reaper` is the parent of the fork server."""
        (server,) = _children(reaper)
        own, dead = _cpu_s(server)
        alive = sum(sum(_cpu_s(worker)) for worker in _children(server))
        return cls(time.process_time(), own, dead + alive)

    def since(self, before: Spent, *, per: int) -> Spent:
        """Return the mean CPU time of `per` events since an earlier point."""
        return Spent(
            (self.orchestrator_s - before.orchestrator_s) / per,
            (self.server_s - before.server_s) / per,
            (self.workers_s - before.workers_s) / per,
        )

    @property
    def total_s(self) -> float:
        """CPU time of all processes."""
        return self.orchestrator_s + self.server_s + self.workers_s


def _children(process: int) -> list[int]:
    return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))


def _cpu_s(process: int) -> tuple[float, float]:
    """Return the CPU time of a process, and that of its children that were reaped."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    own, dead = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
    return own / TICKS, dead / TICKS


def run_pairs(
    dispatcher: Dispatcher, target: str, pair: tuple[bytes, bytes], *, count: int, pause_s: float
) -> list[float]:
    """Run a pair of calls repeatedly, and return the wall time of each pair, in seconds."""
    elapsed = []
    for number in range(count):
        dispatcher.add(Job(target, number, pair))
        while not (results := dispatcher.wait(1.0)):
            pass
        elapsed.append(results[0].elapsed_s)
        paused_until = time.monotonic() + pause_s
        while (remaining_s := paused_until - time.monotonic()) > 0:
            dispatcher.wait(remaining_s)
            time.sleep(min(remaining_s, 0.02))  # an idle dispatcher returns at once
    return elapsed


def measure(request: str, *, deaths: int, pause_s: float) -> None:
    """Print the cost of one crash on one target."""
    environment = provision(parse_target(request), on_step=lambda _: None)
    target = environment.target.name
    tensor = TensorValue("float32", (2, 3), Uniform(1, -1.0, 1.0))
    name = ADDITIONS[environment.library.name]
    good = encode(ApiCall(api=name, kind=CallKind.FUNCTION, arguments=(tensor, tensor)))
    with Dispatcher() as dispatcher:
        server = dispatcher.start([worker_spec(target, environment, Config())])[target]
        if not isinstance(server, ServerProcess):
            raise server
        run_pairs(dispatcher, target, (FATAL, good), count=3, pause_s=pause_s)
        points = [Spent.now(server.process_id)]
        quiet = run_pairs(dispatcher, target, (good, good), count=deaths, pause_s=pause_s)
        points.append(Spent.now(server.process_id))
        crashing = run_pairs(dispatcher, target, (FATAL, good), count=deaths, pause_s=pause_s)
        points.append(Spent.now(server.process_id))
    without, with_deaths = (
        after.since(before, per=deaths) for before, after in itertools.pairwise(points)
    )
    extra = with_deaths.since(without, per=1)
    wall_s = statistics.median(crashing) - statistics.median(quiet)
    print(
        f"{target}: {1000 * extra.total_s:.1f} ms of CPU "
        f"(orchestrator {1000 * extra.orchestrator_s:.1f}, "
        f"fork server {1000 * extra.server_s:.1f}, workers {1000 * extra.workers_s:.1f}), "
        f"{1000 * wall_s:.1f} ms of wall time",
        flush=True,
    )


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", action="append", help="default: four targets")
    parser.add_argument("--deaths", type=int, default=30, help="number of crashes per target")
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between two crashes")
    options = parser.parse_args()
    for request in options.target or TARGETS:
        measure(request, deaths=options.deaths, pause_s=options.pause)
    return 0


if __name__ == "__main__":
    sys.exit(main())
