"""Recall: known defects planted into one of two equal targets; which ones does a campaign find?

    python benchmarks/planted.py [--minutes 10] [--seed 0] [--out DIR]

Runs `ciguard run` on torch as it is and on torch with the defects of `planted_defects`, over the
functions that have some and others that have none. Ends with 1 if a finding blames one of those.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from planted_campaign import built_wheel
from planted_defects import CONTROLS, PLANTABLE, Defect, defects
from planted_recall import FAILING, Recall, recall_of, way_of

from ciguard.errors import ExitCode
from ciguard.reports import read_buckets
from ciguard.targets import parse_target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.findings import Bucket

_MAX_SHOWN = 20


def campaign(targets: Iterable[str], options: argparse.Namespace, out: Path) -> None:
    """Run the command to its end.

    Raises:
        SystemExit: if the run does not end with a verdict.
    """
    command = [sys.executable, "-m", "ciguard", "run", "--budget", f"{options.minutes}m"]
    command += ["--seed", str(options.seed), "--jobs", str(options.jobs), "--out", str(out)]
    command += ["--baseline", str(out / "baseline"), "--tracker", str(out / "issues")]
    for target in targets:
        command += ["--target", target]
    for api in [*(row.api for row in PLANTABLE), *CONTROLS]:
        command += ["--api", api]
    ended = subprocess.run(command, check=False)
    if ended.returncode not in {ExitCode.CLEAN, ExitCode.FINDINGS}:
        sys.exit(ended.returncode)


def print_table(recall: Recall, chosen: list[Defect]) -> None:
    """Print what was found of each kind, and by what."""
    apis = len({defect.api for defect in chosen})
    print(f"\n{len(chosen)} defects in {apis} functions\n")
    heads = f"{'planted':>8}{'found':>7}{'recall':>8}{'≥ ' + FAILING.label:>10}"
    print(f"{'kind':<36}{heads}   found by")
    rows = list(recall.rows())
    for row in rows:
        by = ", ".join(f"{way} {count}" for way, count in row.ways.most_common())
        print(f"{row.kind.value:<36}{_counts(row.planted, row.found, row.failing)}   {by}")
    found, failing = sum(row.found for row in rows), sum(row.failing for row in rows)
    print(f"{'all':<36}{_counts(len(chosen), found, failing)}")


def _counts(planted: int, found: int, failing: int) -> str:
    return f"{planted:>8}{found:>7}{found / planted:>8.0%}{failing:>10}"


def print_rest(recall: Recall) -> None:
    """Print what was missed and what is no planted defect's."""
    print(f"\nmissed: {len(recall.missed)}")
    for defect in recall.missed:
        print(f"  {defect.api}: {defect.kind.value}{f', {defect.edge}' * bool(defect.edge)}")
    _print_buckets("blamed on a function without a defect", recall.misplaced)
    _print_buckets("at a planted function, not of its defects' kinds", recall.unexplained)
    _print_buckets("torch's own, met without the defects too", recall.own)
    _print_buckets("flaky or not confirmed in time", recall.unsettled)


def _print_buckets(title: str, buckets: list[Bucket]) -> None:
    print(f"{title}: {len(buckets)}")
    for bucket in buckets[:_MAX_SHOWN]:
        finding = bucket.finding
        print(f"  {finding.api}: {way_of(finding)} ({bucket.confirmation}): {finding.message:.150}")


def main() -> int:
    """Run the benchmark; exit 1 when a finding blames a function that is right."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="torch==2.13.0")
    parser.add_argument("--minutes", type=float, default=10, help="of the campaign")
    parser.add_argument("--seed", type=int, default=0, help="of the defects and of the campaign")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep the run's results here")
    options = parser.parse_args()
    # One environment for both: they differ in nothing but the variable.
    right = f"{options.target} + {shlex.quote(str(built_wheel('planted_defects')))}"
    planted = f"{right} PLANTED_DEFECTS={options.seed}"
    with tempfile.TemporaryDirectory() as folder:
        out = options.out or Path(folder) / "run"
        campaign((right, planted), options, out)
        chosen = defects(options.seed)
        recall = recall_of(read_buckets(out), chosen, planted=parse_target(planted).name)
    print_table(recall, chosen)
    print_rest(recall)
    return int(bool(recall.misplaced))


if __name__ == "__main__":
    sys.exit(main())
