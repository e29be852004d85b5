"""Cost per input of a whole campaign: 2,000 inputs for every API of torch.nn.functional.

    python benchmarks/inputs_per_api.py [--target torch==2.13.0] [--api 'torch.nn.functional.*']

One campaign of the real engine, with oracles, confirmation, reproducers and reports. DocTer needs
0.14 s to generate and run one input. The machine's load counts: it is wall time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from one_target import OneTarget

from ciguard.campaign import run
from ciguard.config import Config
from ciguard.domain.events import RunFinished
from ciguard.execution import Dispatcher
from ciguard.levels import select

DOCTER_S = 0.14


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="torch==2.13.0")
    parser.add_argument("--api", default="torch.nn.functional.*")
    parser.add_argument("--inputs", type=int, default=2_000, help="per API")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0, help="at most")
    options = parser.parse_args()
    with Dispatcher() as dispatcher:
        target = OneTarget(options.target, dispatcher)
        apis = len(select(target.records.values(), (options.api,)))
    with tempfile.TemporaryDirectory() as folder:
        config = Config(
            targets=(options.target,),
            api=(options.api,),
            max_cases=options.inputs * apis,
            budget_s=options.minutes * 60,
            jobs=options.jobs,
            out=Path(folder) / "run",
            baseline=Path(folder) / "baseline",
        )
        began = time.monotonic()
        *_, finished = run(config)
        wall_s = time.monotonic() - began
    if not isinstance(finished, RunFinished):
        raise TypeError(finished)
    tally = finished.targets[0].tally.as_dict()
    cases = sum(tally.values())
    print(f"{options.target}, {options.api}: {apis} APIs, {options.inputs:,} inputs each")
    print(f"  {cases:,} cases in {wall_s:.0f} s: {wall_s / cases * 1000:.2f} ms per input")
    print(f"  DocTer: {DOCTER_S * 1000:.0f} ms per input, {DOCTER_S * cases / wall_s:.0f} times")
    print(f"  {len(finished.buckets)} buckets; {', '.join(f'{k} {n:,}' for k, n in tally.items())}")
    for name, spent_s in finished.stages.items():
        print(f"  {name:<10}{spent_s:>7.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
