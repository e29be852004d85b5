"""Matrix: a plan's rows, each cut into shards, run as processes and merged, against single runs.

    python benchmarks/matrix.py [--row T,T]... [--shards 4] [--max-cases 6400] [--out DIR]

Every --row is one row of the matrix: targets parted by commas. Each row is run once as a whole
and once as shards; what either side leaves is merged. Prints both
verdicts, their buckets and what it cost; ends with 1 if they are not the same.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain import Plan, PlanMode, PlannedJob, Shard, plan_to_json
from ciguard.reports import read_buckets

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROWS = ("torch==2.13.0",)
_CLOCKED = frozenset({"performance"})
"""Oracles whose findings follow from the clock, not from the cases."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one side took."""

    wall_s: float
    sum_s: float
    """Of all processes, one after the other."""
    merge_s: float
    cases: int


def main() -> int:
    """Run both sides and compare."""
    options = _options()
    out = Path(options.out or tempfile.mkdtemp(prefix="ciguard-matrix-"))
    rows = [tuple(row.split(",")) for row in options.row or _ROWS]
    settings = ["--max-cases", str(options.max_cases), "--budget", options.budget]
    settings += [word for glob in options.api for word in ("--api", glob)]
    whole, whole_cost = _side(out / "single", rows, 1, settings, options.at_once)
    cut, cut_cost = _side(out / "sharded", rows, options.shards, settings, options.at_once)
    print(f"{'':10} {'shards':>6} {'exit':>5} {'wall':>8} {'sum':>8} {'merge':>7} {'cases':>8}")
    for name, shards, code, cost in (
        ("single", 1, whole, whole_cost),
        ("sharded", options.shards, cut, cut_cost),
    ):
        print(
            f"{name:10} {shards:6} {code:5} {cost.wall_s:7.1f}s {cost.sum_s:7.1f}s "
            f"{cost.merge_s:6.1f}s {cost.cases:8,}"
        )
    return _compare(out / "single", out / "sharded")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--row", action="append", help="targets of one row, parted by commas")
    parser.add_argument("--api", action="append", default=[])
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--max-cases", type=int, default=6400)
    parser.add_argument("--budget", default="10m")
    parser.add_argument("--at-once", type=int, default=2, help="processes side by side")
    parser.add_argument("--out")
    return parser.parse_args()


def _side(
    out: Path, rows: Sequence[tuple[str, ...]], shards: int, settings: list[str], at_once: int
) -> tuple[int, Cost]:
    """Run every shard of every row, then merge; return the merge's exit code and the costs."""
    jobs = [
        PlannedJob(name=f"row {number} {shard}", targets=row, shard=str(shard))
        for number, row in enumerate(rows)
        for shard in (Shard(index, shards) for index in range(1, shards + 1))
    ]
    out.mkdir(parents=True, exist_ok=True)
    plan = Plan(mode=PlanMode.BATCH, jobs=tuple(jobs))
    (out / "plan.json").write_text(json.dumps(plan_to_json(plan)), "utf-8")
    began = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        spent = list(pool.map(lambda n: _run(out, jobs[n], n, settings), range(len(jobs))))
    merging = time.monotonic()
    folders = [str(out / f"part-{number}") for number in range(len(jobs))]
    code = _ciguard(
        ["merge", *folders, "--plan", str(out / "plan.json"), "--out", str(out / "merged")], out
    )
    ended = time.monotonic()
    outcomes = json.loads((out / "merged" / "run.json").read_text("utf-8"))["outcomes"]
    return code, Cost(ended - began, sum(spent), ended - merging, sum(outcomes.values()))


def _run(out: Path, job: PlannedJob, number: int, settings: list[str]) -> float:
    began = time.monotonic()
    targets = [word for target in job.targets for word in ("--target", target)]
    words = ["run", "--part", "--shard", job.shard, "--out", str(out / f"part-{number}")]
    _ciguard([*words, *targets, *settings], out)
    return time.monotonic() - began


def _ciguard(words: list[str], out: Path) -> int:
    """Run one command in a folder that has no settings; its baseline is there too."""
    argv = [sys.executable, "-m", "ciguard", *words]
    with (out / "log.txt").open("ab") as log:
        done = subprocess.run(argv, cwd=out, stdout=log, stderr=log, check=False)
    return done.returncode


def _compare(single: Path, sharded: Path) -> int:
    verdicts = [
        json.loads((side / "merged" / "run.json").read_text("utf-8"))["verdict"]
        for side in (single, sharded)
    ]
    by_side = [
        {
            (b.fingerprint, b.finding.api, b.confirmation.value)
            for b in read_buckets(side / "merged")
            if b.finding.oracle not in _CLOCKED
        }
        for side in (single, sharded)
    ]
    print(f"verdicts: {verdicts[0]} and {verdicts[1]}")
    print(f"buckets: {len(by_side[0])} and {len(by_side[1])}, {len(by_side[0] & by_side[1])} alike")
    for name, (one, other) in zip(("single", "sharded"), (by_side, by_side[::-1]), strict=True):
        for found in sorted(one - other):
            print(f"only {name}: {' '.join(found)}")
    return int(verdicts[0] != verdicts[1] or by_side[0] != by_side[1])


if __name__ == "__main__":
    sys.exit(main())
