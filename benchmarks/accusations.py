"""Accusations: campaigns in which a change is blamed, and should not be.

    python benchmarks/accusations.py [--budget 10m] [--at-once 1] [--only TEXT] [--out FOLDER]

Two A/A campaigns of each library, base and head the same release, and one between two releases of
each, while other processes keep the machine busy, now more, now less. Nothing that an A/A campaign
calls new or fixed is true. What is new between releases is listed with what was counted, and the
scripts of its crashes are run on the base, ten times each with memory as it comes: one that ends
the same way there is a false accusation too. What stays unconfirmed accuses nobody, and is counted
apart. Ends with 1 if there is a false accusation, or a campaign did not end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.errors import ExitCode
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Iterator

SAME = (
    "torch==2.13.0",
    "tensorflow-cpu==2.21.0",
    "keras==3.15.1 + jax",
    "jax==0.10.2",
    "jittor==1.3.11.0",
)
RELEASES = (
    ("torch==2.12.0", "torch==2.13.0"),
    ("tensorflow-cpu==2.20.0", "tensorflow-cpu==2.21.0"),
    ("keras==3.14.1 + jax", "keras==3.15.1 + jax"),
    ("jax==0.10.1", "jax==0.10.2"),
    ("jittor==1.3.10.0", "jittor==1.3.11.0"),
)
SEEDS = (2026, 2027)
VERDICTS = (ExitCode.CLEAN, ExitCode.FINDINGS)
_BUSY = "while True: pass"
_MAX_BUSY = 4
_REPETITIONS = 10
_SCRIPT_LIMIT_S = 60.0


@dataclass(frozen=True)
class Campaign:
    """One run with a base."""

    base: str
    head: str
    seed: int

    @property
    def is_same(self) -> bool:
        """Whether base and head are one release."""
        return self.base == self.head

    @property
    def name(self) -> str:
        """Return what the table calls it, which is also its folder."""
        pair = self.head if self.is_same else f"{self.base} to {self.head}"
        return f"{pair}, seed {self.seed}"

    def run(self, folder: Path, budget: str) -> int:
        """Run it in a folder, and return its exit status."""
        folder.mkdir(parents=True)
        argv = [sys.executable, "-m", "ciguard", "run", "--base", self.base, "--target", self.head]
        argv += ["--budget", budget, "--seed", str(self.seed), "--out", "out", "--compare-only"]
        with (folder / "log.txt").open("wb") as log:
            return subprocess.run(argv, cwd=folder, stdout=log, stderr=log, check=False).returncode

    def summary(self, folder: Path) -> tuple[str, int]:
        """Return the lines of a campaign that has ended, and how many accusations are false."""
        run = json.loads((folder / "out" / "run.json").read_text("utf-8"))
        with (folder / "out" / "buckets.jsonl").open(encoding="utf-8") as file:
            buckets = [json.loads(line) for line in file]
        counts = Counter(
            bucket["comparison"] if bucket["confirmed"] else bucket["confirmation"]
            for bucket in buckets
        )
        counted = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        cases = max(target["cases"] for target in run["targets"])
        lines = [f"{self.name}: {run['verdict']}, {cases} cases; {counted}"]
        false = 0
        for bucket in buckets:
            if bucket["comparison"] == "fixed" or (
                bucket["comparison"] == "new" and bucket["confirmed"]
            ):
                why = self._why_false(bucket, folder / "out")
                false += bool(why)
                lines.append(f"    {_line(bucket)}{why}")
        return "\n".join(lines), false

    def _why_false(self, bucket: dict[str, Any], out: Path) -> str:
        """Return why an accusation is false, as far as that can be shown; empty if it cannot."""
        if self.is_same:
            return "  ← FALSE: base and head are the same"
        if bucket["comparison"] == "new" and bucket["oracle"] == "crash" and bucket["reproducer"]:
            causes = {one["cause"] for one in bucket["outcomes"].values() if "cause" in one}
            ends = _ends(out / bucket["reproducer"], self.base)
            if times := sum(end in causes for end in ends):
                return f"  ← FALSE: {times} of {_REPETITIONS} on the base"
        return ""


def _line(bucket: dict[str, Any]) -> str:
    counted = bucket.get("attribution") or {}
    numbers = " ".join(f"{name} {value}" for name, value in sorted(counted.items()))
    what = f"{bucket['oracle']}/{bucket['kind']}"
    return f"{bucket['comparison']} {bucket['severity']} {what} {bucket['message']} ({numbers})"


def _ignore(step: str) -> None:
    """Say nothing: the campaign has built it."""


def _ends(script: Path, target: str) -> list[str]:
    """Return how a script ends in the environment of a target, as outcomes name it."""
    environment = provision(parse_target(target), on_step=_ignore)
    variables = {**os.environ, **environment.variables}
    ends = []
    for _ in range(_REPETITIONS):
        try:
            ended = subprocess.run(
                [environment.python, script],
                env=variables,
                capture_output=True,
                timeout=_SCRIPT_LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            ends.append("timeout")
        else:
            code = ended.returncode
            ends.append(signal.Signals(-code).name if code < 0 else f"exit {code}")
    return ends


@contextlib.contextmanager
def changing_load(dice: random.Random) -> Iterator[None]:
    """Keep the machine busy with none to some processes, a number that changes all the time."""
    is_over = threading.Event()

    def change() -> None:
        while not is_over.is_set():
            busy = [
                subprocess.Popen([sys.executable, "-c", _BUSY])
                for _ in range(dice.randint(0, _MAX_BUSY))
            ]
            is_over.wait(dice.uniform(2.0, 40.0))
            for process in busy:
                process.kill()
                process.wait()

    changing = threading.Thread(target=change)
    changing.start()
    try:
        yield
    finally:
        is_over.set()
        changing.join()


def campaigns(only: str) -> list[Campaign]:
    """Return the campaigns whose name has a text in it."""
    same = [Campaign(target, target, seed) for seed in SEEDS for target in SAME]
    releases = [Campaign(base, head, SEEDS[0]) for base, head in RELEASES]
    return [campaign for campaign in (*same, *releases) if only in campaign.name]


def main() -> int:
    """Run the campaigns and print a paragraph for each as it ends."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budget", default="10m", help="of each campaign")
    parser.add_argument("--at-once", type=int, default=1, help="campaigns side by side")
    parser.add_argument("--only", default="", help="those whose name has this text in it")
    parser.add_argument("--out", type=Path, default=Path("accusations"), help="a new folder")
    options = parser.parse_args()
    options.out.mkdir(parents=True)

    def run(campaign: Campaign) -> tuple[int, bool]:
        began = time.monotonic()
        folder = options.out / campaign.name.replace("/", "_")
        status = campaign.run(folder, options.budget)
        has_ended = status in VERDICTS
        text, false = f"{campaign.name}: exit status {status}, see {folder / 'log.txt'}", 0
        if has_ended:
            text, false = campaign.summary(folder)
        print(f"{text}\n    {time.monotonic() - began:.0f} s", flush=True)
        return false, has_ended

    listed = campaigns(options.only)
    if not listed:
        parser.error(f"no campaign has {options.only!r} in its name")
    with changing_load(random.Random(0)), ThreadPoolExecutor(options.at_once) as pool:
        results = list(pool.map(run, listed))
    false = sum(count for count, _ in results)
    ended = sum(has_ended for _, has_ended in results)
    print(f"{false} false accusations in {ended} campaigns; {len(results) - ended} did not end")
    return int(false > 0 or ended < len(results))


if __name__ == "__main__":
    sys.exit(main())
