"""The memory guard: no false alarms, its cost, and the silent errors that a short campaign finds.

    python benchmarks/memory_guard.py controls [--samples 2] [--shares 1]
    python benchmarks/memory_guard.py campaign --target torch==2.13.0 [--budget 5m] [--seed 1]

`controls` runs the samples of torch's own tests (`opinfo_controls.py`) with and without the guard.
`campaign` runs the mode `guarded` alone, then each confirmed case without the guard, in workers
that are fresh: an error is silent if none of these runs crashes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.campaign import run
from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Confirmation
from ciguard.domain.outcomes import Crashed, status
from ciguard.execution import Dispatcher, Job
from ciguard.oracles.relations import encode
from ciguard.targets import GUARDED, parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.findings import Bucket
    from ciguard.domain.outcomes import Outcome
    from ciguard.targets import Environment

CONTROLS = Path(__file__).with_name("opinfo_controls.py")
REPETITIONS = 3
LIMIT_S = 600.0


def main() -> int:
    """Run one part, and print its results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("controls", "campaign"))
    parser.add_argument("--target", default="torch==2.13.0")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--shares", type=int, default=1, help="run every n-th operator only")
    parser.add_argument("--budget", type=float, default=5.0, help="minutes of the campaign")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="workers of the campaign")
    parser.add_argument("--out", type=Path, help="folder that keeps the results of the campaign")
    options = parser.parse_args()
    if options.part == "controls":
        return controls(options.target, options.samples, options.shares)
    return campaign(options)


def controls(target: str, samples: int, shares: int) -> int:
    """Print what the controls did with and without the guard; return 1 if one did not end well."""
    guarded = provision(parse_target(f"{target} {GUARDED}"), on_step=print)
    reports = {}
    for name, preload in (("plain", {}), ("guarded", {"LD_PRELOAD": str(guarded.guard)})):
        command = [str(guarded.python), str(CONTROLS), str(samples), "0", str(shares)]
        environment = {**guarded.variables, **preload, "HOME": os.environ.get("HOME", "/")}
        output = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        reports[name] = json.loads(output.splitlines()[-1])
        print(name, json.dumps(reports[name]))
    per_call = {name: one["cpu_s"] / one["calls"] for name, one in reports.items()}
    print(f"cost per call: {per_call['guarded'] / per_call['plain']:.2f} of that without the guard")
    return int(reports["guarded"]["ended"].keys() > reports["plain"]["ended"].keys())


def campaign(options: argparse.Namespace) -> int:
    """Print the confirmed errors of memory, and how their cases end without the guard."""
    name = f"{options.target} {GUARDED}"
    with tempfile.TemporaryDirectory() as folder:
        config = Config(
            targets=(name,),
            budget_s=60.0 * options.budget,
            seed=options.seed,
            jobs=options.jobs,
            out=options.out or Path(folder, "out"),
            baseline=Path(folder, "baseline"),
        )
        *_, last = run(config)
    if not isinstance(last, RunFinished):
        sys.exit("the campaign did not finish")
    buckets = [
        bucket
        for bucket in last.buckets
        if bucket.finding.oracle == "memory" and bucket.confirmation is Confirmation.CONFIRMED
    ]
    print(f"{name}: {sum(tally_cases(last))} cases, {len(buckets)} confirmed errors of memory")
    environment = provision(parse_target(options.target), on_step=print)
    for bucket, outcomes in zip(buckets, without_guard(environment, buckets), strict=True):
        ended = sorted({status(outcome) for outcome in outcomes})
        is_silent = not any(isinstance(outcome, Crashed) for outcome in outcomes)
        print(
            f"{'silent' if is_silent else 'crashes'} ({', '.join(ended)}): {bucket.finding.message}"
        )
    return 0


def tally_cases(last: RunFinished) -> list[int]:
    """Return the number of cases of each target."""
    return [target.tally.total for target in last.targets]


def without_guard(environment: Environment, buckets: Sequence[Bucket]) -> list[tuple[Outcome, ...]]:
    """Return the outcomes of each bucket's case, each in fresh workers without the guard."""
    results: dict[int, tuple[Outcome, ...]] = {}
    with Dispatcher() as dispatcher:
        dispatcher.start([worker_spec("plain", environment, Config())])
        for number, bucket in enumerate(buckets):
            case = encode(bucket.finding.case)
            dispatcher.add(Job("plain", number, (case,) * REPETITIONS, fresh=True))
        until = time.monotonic() + LIMIT_S
        while len(results) < len(buckets) and time.monotonic() < until:
            for result in dispatcher.wait(1.0):
                results[int(str(result.job.key))] = result.outcomes
    return [results[number] for number in range(len(buckets))]


if __name__ == "__main__":
    sys.exit(main())
