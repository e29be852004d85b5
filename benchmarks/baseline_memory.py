"""Memory of the commands that read a large baseline.

    python benchmarks/baseline_memory.py [--buckets 100000] [--met 1000]

Makes a baseline of that many buckets and the part of a run that met some of them, half of which the
baseline knows. Then it runs the real commands, each in a process of its own, and prints for each
its exit code, its CPU seconds and its peak of resident memory. It fails if one takes too much.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from baseline import TARGETS, made_up

from ciguard import __version__
from ciguard.baseline import bucket_of, open_store
from ciguard.campaign.sharding.own_part import campaign_of
from ciguard.config import Config
from ciguard.domain.findings import Bucket, Comparison, Confirmation, Tally, TargetSummary, Verdict
from ciguard.domain.outcomes import Errored
from ciguard.domain.parts import Part, part_to_json

CASES = 100_000
MAX_PEAK_MB = 450
"""Aimed at are 400; allocator and interpreter differ from machine to machine."""


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--buckets", type=int, default=100_000)
    parser.add_argument("--met", type=int, default=1_000)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.make:
        make(chosen.make, chosen.buckets, chosen.met)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = ("--buckets", str(chosen.buckets), "--met", str(chosen.met))
        # In a process of its own: the peak of a child begins with that of its parent.
        subprocess.run([sys.executable, __file__, "--make", name, *counts], check=True)
        size = sum(path.stat().st_size for path in folder.glob("baseline/**/*") if path.is_file())
        print(f"{chosen.buckets:,} buckets, {size / 1e6:.0f} MB in files")
        print(f"{'command':44}{'exit':>6}{'CPU s':>8}{'s':>8}{'peak MB':>9}")
        merge = ("merge", "part", "--baseline", "baseline", "--out", "out")
        peaks = [
            measure(folder, *merge, "--compare-only"),
            measure(folder, *merge),
            measure(folder, "baseline", "show", "--baseline", "baseline"),
            measure(folder, "baseline", "prune", "--baseline", "baseline"),
        ]
        for file in ("out/report.html", "out/summary.md", "baseline/index.html"):
            print(f"{file}: {(folder / file).stat().st_size / 1e6:.1f} MB")
    return int(max(peaks) > MAX_PEAK_MB)


def make(folder: Path, count: int, met: int) -> None:
    """Write a baseline, and the part of a run that met as many buckets."""
    records = made_up(count)
    open_store(folder / "baseline").save(records)
    known = list(records.values())[: met // 2]
    fresh = list(made_up(met - met // 2 + 1).values())[1:]
    buckets = [_met(bucket_of(record, Comparison.NEW)) for record in (*known, *fresh)]
    (folder / "part").mkdir()
    line = json.dumps(part_to_json(_part(buckets)))
    (folder / "part" / "parts.jsonl").write_text(f"{line}\n", "utf-8")


def _met(bucket: Bucket) -> Bucket:
    outcome = Errored("RuntimeError", f"internal assertion failed: {bucket.fingerprint}")
    finding = replace(bucket.finding, outcomes=dict.fromkeys(TARGETS, outcome))
    return replace(bucket, finding=finding, count=1, confirmation=Confirmation.CONFIRMED)


def _part(buckets: list[Bucket]) -> Part:
    return Part(
        ciguard=__version__,
        campaign=campaign_of(Config()),
        targets=TARGETS,
        verdict=Verdict.PART,
        budget_s=60.0,
        explored_in_s=60.0,
        ran=tuple(map(_target, TARGETS)),
        exercised={},
        replayed={},
        shown_on={},
        explored={},
        stages={},
        buckets=tuple(buckets),
    )


def _target(name: str) -> TargetSummary:
    return TargetSummary(
        name=name,
        library="torch",
        version=name.partition("==")[2],
        python="3.11.9",
        device="cpu",
        packages={},
        confined_by=("landlock", "seccomp", "rlimits"),
        apis=2_000,
        tally=Tally(passed=CASES),
    )


def measure(folder: Path, *arguments: str) -> float:
    """Run a command in a folder, print what it took, and return its peak in MB."""
    command = [sys.executable, "-m", "ciguard", *arguments]
    began = time.monotonic()
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        _, status, used = os.wait4(child.pid, 0)
    elapsed_s = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    cpu_s = used.ru_utime + used.ru_stime
    peak_mb = used.ru_maxrss * 1024 / 1e6
    shown = " ".join(name for name in arguments if name not in {"baseline", "--baseline"})
    print(f"{shown:44}{child.returncode:6}{cpu_s:8.1f}{elapsed_s:8.1f}{peak_mb:9.0f}")
    if child.returncode not in {0, 1}:
        print((folder / "log").read_text("utf-8", "replace")[-2_000:])
    return peak_mb


if __name__ == "__main__":
    sys.exit(main())
