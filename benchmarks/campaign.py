"""A real campaign over a whole library: rates, use of the CPU, APIs reached and crashes over time.

    python benchmarks/campaign.py [--target torch==2.13.0]... [--seconds 60] [--jobs 0] [--seed 0]
                                  [--plain SECONDS] [--json FILE]

Runs level `api` from an empty baseline, in this process, as `ciguard run` does. CPU seconds are
those of this process, its fork servers, workers and scripts. `--plain` then runs the yardstick on
the first target for so many seconds: random calls in a plain loop, in a forked child that is
replaced when it crashes or hangs (`mixes/plain_loop.py`), without oracles, confirmation or limits
of memory.

A busy machine stretches wall times, so compare cases per CPU second, and rates of one run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accounting import family_cpu_s
from unguided import random_call

from ciguard.campaign import run
from ciguard.campaign.capacity import lanes_of, usable_cores
from ciguard.campaign.catalogue import catalogue
from ciguard.campaign.stream import Stream
from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.events import BatchFinished, BucketOpened, RunFinished, StageFinished, Warned
from ciguard.domain.findings import Confirmation
from ciguard.execution import Dispatcher
from ciguard.levels import select
from ciguard.oracles.relations import encode
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.domain.events import Event
    from ciguard.execution import JobResult

POINTS_S = (5, 10, 20, 30, 60, 120, 300, 600)
PLAIN_LOOP = Path(__file__).parent / "mixes" / "plain_loop.py"
PLAIN_CASES_PER_API = 16
SLOWEST_SHARE = 0.01


@dataclass
class Measured:
    """What one campaign did, by target where it differs."""

    cases: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    reached: dict[str, dict[str, float]] = field(default_factory=dict)
    """Seconds of exploring at which each API was first called, by target and API."""
    crashing: dict[str, float] = field(default_factory=dict)
    """Seconds of exploring at which the first crash of each API was confirmed."""
    stages: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """Wall seconds, CPU seconds, and those of the orchestrator, by stage."""
    jobs_s: list[float] = field(default_factory=list)
    """Worker's time of each job of exploring, in seconds."""
    apis: dict[str, int] = field(default_factory=dict)
    """Number of APIs by target."""
    causes: int = 0
    explored_from_s: float = 0.0


class Clock:
    """Wall time, CPU time of all processes, and that of this process."""

    def __init__(self) -> None:
        self._last = self._now()

    def lap(self) -> tuple[float, float, float]:
        """Return the seconds since the last call, of each kind."""
        last, self._last = self._last, self._now()
        wall_s, all_s, own_s = (a - b for a, b in zip(self._last, last, strict=True))
        return wall_s, all_s, own_s

    @staticmethod
    def _now() -> tuple[float, float, float]:
        return time.monotonic(), family_cpu_s(os.getpid()), time.process_time()


def measure(config: Config) -> Measured:
    """Run one campaign."""
    measured, clock = Measured(), Clock()
    take = Stream.take

    def timed(self: Stream, result: JobResult) -> Iterator[ExecutedBatch]:
        measured.jobs_s.append(result.elapsed_s)  # no event reports the time of a job
        return take(self, result)

    Stream.take = timed  # type: ignore[method-assign]
    try:
        for event in run(config):
            note(measured, event, clock)
    finally:
        Stream.take = take  # type: ignore[method-assign]
    return measured


def note(measured: Measured, event: Event, clock: Clock) -> None:
    """Add one event."""
    match event:
        case StageFinished(stage=stage):
            # Exploring goes on after measuring, with the time that is left.
            before = measured.stages.get(stage, (0.0, 0.0, 0.0))
            wall_s, cpu_s, own_s = clock.lap()
            measured.stages[stage] = (before[0] + wall_s, before[1] + cpu_s, before[2] + own_s)
            if stage in {"describe", "replay"}:
                measured.explored_from_s = time.monotonic()
        case BatchFinished(target=target, api=api, counts=counts):
            measured.cases[target] += sum(counts.values())
            measured.outcomes.update(counts)
            since_s = time.monotonic() - measured.explored_from_s
            measured.reached.setdefault(target, {}).setdefault(api, since_s)
        case BucketOpened(bucket=bucket):
            is_crash = bucket.finding.oracle == "crash"
            if is_crash and bucket.confirmation is Confirmation.CONFIRMED:
                since_s = time.monotonic() - measured.explored_from_s
                measured.crashing.setdefault(bucket.finding.api, since_s)
        case RunFinished(targets=targets, buckets=buckets):
            measured.apis = {target.name: target.apis for target in targets}
            measured.causes = len({bucket.cause or bucket.fingerprint for bucket in buckets})
        case Warned(message=message):
            print(f"warning: {message:.160}", file=sys.stderr)
        case _:
            pass


def report(measured: Measured, config: Config) -> dict[str, Any]:
    """Return the figures of a campaign."""
    wall_s, cpu_s, own_s = measured.stages.get("explore", (0.0, 0.0, 0.0))
    slowest = sorted(measured.jobs_s, reverse=True)
    count = max(1, int(len(slowest) * SLOWEST_SHARE))
    cases = sum(measured.cases.values())
    return {
        "targets": list(config.targets),
        "budget_s": config.budget_s,
        "jobs": lanes_of(config),
        "cores": usable_cores(),
        "load": round(os.getloadavg()[0], 1),
        "explored_s": round(wall_s, 1),
        "cases": cases,
        "cases_per_cpu_s": round(cases / cpu_s) if cpu_s else 0,
        "share_of_orchestrator": round(own_s / cpu_s, 2) if cpu_s else 0.0,
        "cores_used": round(cpu_s / wall_s, 2) if wall_s else 0.0,
        "share_of_slowest_jobs": round(sum(slowest[:count]) / max(1e-9, sum(slowest)), 2),
        "outcomes": dict(measured.outcomes),
        "reached": {
            name: {
                "of": measured.apis.get(name, 0),
                "all": len(times),
                "last_first_visit_s": round(max(times.values()), 1),
                **{f"{point} s": _until(times, point) for point in POINTS_S if point <= wall_s},
            }
            for name, times in measured.reached.items()
        },
        "crashing_apis": {
            "confirmed": len(measured.crashing),
            **{
                f"{point} s": _until(measured.crashing, point)
                for point in POINTS_S
                if point <= wall_s
            },
        },
        "causes": measured.causes,
        "stages": {
            name: [round(spent_s, 1) for spent_s in spent]
            for name, spent in measured.stages.items()
        },
    }


def _until(times: dict[str, float], point: float) -> int:
    return sum(at <= point for at in times.values())


def plain(text: str, seconds: float, seed: int) -> dict[str, Any]:
    """Run the yardstick on one target."""
    environment = provision(parse_target(text), on_step=lambda _: None)
    name = environment.target.name
    with Dispatcher() as dispatcher:
        dispatcher.start([worker_spec(name, environment, Config())])
        known = catalogue(name, environment, dispatcher).known.records
    records = select(list(known.values()), ("*",), (), allow=())
    rng = random.Random(seed)
    with tempfile.NamedTemporaryFile("wb", suffix=".jsonl") as file:
        for record in rng.sample(records, len(records)):
            for _ in range(PLAIN_CASES_PER_API):
                file.write(encode(random_call(record, rng)) + b"\n")
        file.flush()
        root = Path(__file__).parents[1]
        adapter = environment.library.adapter
        argv = [str(environment.python), str(PLAIN_LOOP), str(root), str(adapter), file.name]
        done = subprocess.run(
            [*argv, str(seconds)],
            env={**environment.variables, "HOME": "/nonexistent"},
            capture_output=True,
            text=True,
            check=True,
        )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", type=float, default=0.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    targets = tuple(options.target or ["torch==2.13.0"])
    with tempfile.TemporaryDirectory() as folder:
        config = Config(
            targets=targets,
            budget_s=options.seconds,
            jobs=options.jobs,
            seed=options.seed,
            out=Path(folder, "out"),
            baseline=Path(folder, "baseline"),
        )
        figures = report(measure(config), config)
    if options.plain:
        figures["plain"] = plain(targets[0], options.plain, options.seed)
    text = json.dumps(figures, indent=1)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
