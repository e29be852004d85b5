"""Matrix: plan, shards, merge and check run as processes, against the same with single runs.

    python benchmarks/matrix.py [--target T]... [--shards 4] [--max-cases 6400] [--out DIR]

`ciguard plan` makes a row of the targets of each library. Each row is run once as a whole and once
as shards; what either side leaves is merged, and published to a GitHub on the loopback interface.
Prints both verdicts, buckets and checks, and what it cost; ends with 1 if they are not the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "examples"))

from github_repository import NAME
from github_server import TOKEN, GitHubServer

from ciguard.domain.plan import plan_from_json
from ciguard.reports import read_buckets

if TYPE_CHECKING:
    from ciguard.domain.plan import PlannedJob

_TARGETS = ("torch==2.13.0",)
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
    targets = [word for target in options.target or _TARGETS for word in ("--target", target)]
    settings = ["--max-cases", str(options.max_cases), "--budget", options.budget]
    settings += [word for glob in options.api for word in ("--api", glob)]
    whole, whole_cost = _side(
        out / "single", [*targets, "--shards", "1"], settings, options.at_once
    )
    sharded = [*targets, "--shards", str(options.shards)]
    cut, cut_cost = _side(out / "sharded", sharded, settings, options.at_once)
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
    parser.add_argument("--target", action="append", help="of the plan, may be repeated")
    parser.add_argument("--api", action="append", default=[])
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--max-cases", type=int, default=6400)
    parser.add_argument("--budget", default="10m")
    parser.add_argument("--at-once", type=int, default=2, help="processes side by side")
    parser.add_argument("--out")
    return parser.parse_args()


def _side(out: Path, planning: list[str], settings: list[str], at_once: int) -> tuple[int, Cost]:
    """Plan, run every job, then merge; return the merge's exit code and the costs."""
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["/usr/bin/env", "git", "init", "--quiet", str(out)], check=True)
    _require(_ciguard(["plan", *planning, "--out", "plan.json"], out), out)
    jobs = plan_from_json(json.loads((out / "plan.json").read_text("utf-8"))).jobs
    began = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        spent = list(pool.map(lambda job: _run(out, job, settings), jobs))
    merging = time.monotonic()
    folders = [f"part-{job.name}" for job in jobs]
    code = _ciguard(["merge", *folders, "--plan", "plan.json", "--out", "merged"], out)
    ended = time.monotonic()
    outcomes = json.loads((out / "merged" / "run.json").read_text("utf-8"))["outcomes"]
    return code, Cost(ended - began, sum(spent), ended - merging, sum(outcomes.values()))


def _run(out: Path, job: PlannedJob, settings: list[str]) -> float:
    began = time.monotonic()
    row = {"CIGUARD_TARGETS": "\n".join(job.targets), "CIGUARD_BASE": "\n".join(job.base)}
    words = ["run", "--plan", "plan.json", "--part", "--shard", job.shard]
    _require(_ciguard([*words, "--out", f"part-{job.name}", *settings], out, row), out)
    return time.monotonic() - began


def _check_of(out: Path) -> tuple[str, str]:
    """Publish what a side came to; return the conclusion and the title of the check run."""
    with GitHubServer() as server:
        there = {
            "GITHUB_API_URL": server.address(),
            "GITHUB_TOKEN": TOKEN,
            "GITHUB_REPOSITORY": NAME,
        }
        words = ["publish", "merged", "--check", "--head-sha", "a" * 40]
        _require(_ciguard(words, out, there), out)
        (run,) = server.checks.runs
    return run["conclusion"], run["output"]["title"]


def _require(code: int, out: Path) -> None:
    if code:
        sys.exit(f"a command ended with {code}: see {out / 'log.txt'}")


def _ciguard(words: list[str], out: Path, variables: dict[str, str] | None = None) -> int:
    """Run one command in a folder that has no settings; its baseline is there too."""
    argv = [sys.executable, "-m", "ciguard", *words]
    with (out / "log.txt").open("ab") as log:
        environment = {**os.environ, **(variables or {})}
        done = subprocess.run(argv, cwd=out, env=environment, stdout=log, stderr=log, check=False)
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
    checks = [_check_of(side) for side in (single, sharded)]
    print(*(f"check: {conclusion}, {title}" for conclusion, title in checks), sep="\n")
    print(f"buckets: {len(by_side[0])} and {len(by_side[1])}, {len(by_side[0] & by_side[1])} alike")
    for name, (one, other) in zip(("single", "sharded"), (by_side, by_side[::-1]), strict=True):
        for found in sorted(one - other):
            print(f"only {name}: {' '.join(found)}")
    same = verdicts[0] == verdicts[1] and by_side[0] == by_side[1] and checks[0] == checks[1]
    print("merged and single: " + ("the same" if same else "NOT the same"))
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
