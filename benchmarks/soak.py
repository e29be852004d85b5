"""Soak: campaigns whose processes are killed at any moment, resumed until they end by themselves.

    python benchmarks/soak.py [--kills 200] [--seed 0] [--cases 960]

Each round is one campaign on the planted library. At random moments ciguard, the process above a
fork server, the server or a worker is killed; whenever ciguard has ended without a verdict, it is
resumed. A second run asks for the same folder meanwhile. In the end nothing may be lost, nothing
doubled, and no run that lacks cases may end green. Ends with 1 if that does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ciguard.campaign import JOURNAL
from ciguard.errors import ExitCode
from ciguard.execution.worker.reaper import processes

TARGETS = ("current[planted]", "current[planted] PLANTED_VERSION=2.0")
APIS = ("double", "checked", "fragile", "leak", "cube", "spin", "divide", "tail")
CIGUARD, REAPER, SERVER, WORKER = "ciguard", "process above a server", "server", "worker"
KILLS_PER_ROUND = 8
MAX_RESUMES = 40
MAX_PAUSE_S = 8.0
WRITER_LIMIT_S = 120.0
LOG = "log.txt"
VERDICTS = (ExitCode.CLEAN, ExitCode.FINDINGS)


@dataclass
class Soak:
    """Kills, resumed runs and their results."""

    cases: int
    dice: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    resumes: int = 0
    refused_writers: int = 0
    rounds: int = 0
    problems: list[str] = field(default_factory=list)

    def start(self, folder: Path, *words: str) -> subprocess.Popen[bytes]:
        """Start a campaign in a folder."""
        argv = [sys.executable, "-m", "ciguard", "run", "--out", "out", *words]
        argv += [word for target in TARGETS for word in ("--target", target)]
        argv += [word for api in APIS for word in ("--api", f"planted.{api}")]
        argv += ["--max-cases", str(self.cases), "--budget", "600s", "--case-limit", "0.5s"]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        variables = {**os.environ, "PATH": path}  # `current` is the first interpreter there
        with (folder / LOG).open("ab") as log:
            return subprocess.Popen(argv, cwd=folder, env=variables, stdout=log, stderr=log)

    def round(self, folder: Path, kills: int) -> dict[str, Any]:
        """Run one campaign to its verdict in spite of some kills; return what it has found."""
        self.rounds += 1
        process = self.start(folder)
        is_alone = True
        for _ in range(kills):
            time.sleep(self.dice.uniform(0.1, MAX_PAUSE_S))
            if is_alone and process.poll() is None and (folder / "out" / JOURNAL).exists():
                self.ask_for_the_same_folder(folder, process)
                is_alone = False
            self.kill_below(process)
            if process.poll() is not None:
                process = self.resumed(folder)
        for _ in range(MAX_RESUMES):
            if process.wait() in VERDICTS:
                return results(folder / "out")
            if process.returncode == ExitCode.USAGE:
                break
            process = self.resumed(folder)
        process.kill()
        last = (folder / LOG).read_text("utf-8", "replace").splitlines()[-3:]
        self.problems.append(f"no verdict: exit code {process.wait()}: {' | '.join(last)}")
        return {}

    def resumed(self, folder: Path) -> subprocess.Popen[bytes]:
        """Resume a campaign; one that was killed before its first journal line is restarted."""
        if not (folder / "out" / JOURNAL).exists():
            return self.start(folder)
        self.resumes += 1
        return self.start(folder, "--resume")

    def ask_for_the_same_folder(self, folder: Path, first: subprocess.Popen[bytes]) -> None:
        """Start a second writer, which is to be refused."""
        second = self.start(folder)
        code = second.wait(WRITER_LIMIT_S)
        if code == ExitCode.USAGE:
            self.refused_writers += 1
        elif first.poll() is None:
            self.problems.append(f"a second writer ended with {code}")

    def kill_below(self, process: subprocess.Popen[bytes]) -> None:
        """Kill one process of a campaign, of a kind drawn at random."""
        victims = family(process.pid)
        kind = self.dice.choice(sorted(victims))
        victim = self.dice.choice(victims[kind])
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.kills[kind] += 1
        if kind == CIGUARD:
            process.wait()


def family(guard: int) -> dict[str, list[int]]:
    """Return the processes of a campaign by their kind: each is a child of the one before."""
    parents = {process.number: process.parent for process in processes()}
    kinds, generation = {CIGUARD: [guard]}, {guard}
    for kind in (REAPER, SERVER, WORKER):
        generation = {child for child, parent in parents.items() if parent in generation}
        if generation:
            kinds[kind] = sorted(generation)
    return kinds


def results(out: Path) -> dict[str, Any]:
    """Return what a campaign has found, and how many cases each target has run."""
    lines = (out / "buckets.jsonl").read_text("utf-8").splitlines()
    run = json.loads((out / "run.json").read_text("utf-8"))
    return {
        "buckets": Counter(json.loads(line)["fingerprint"] for line in lines),
        "cases": {target["name"]: target["cases"] for target in run["targets"]},
    }


def problems_of(found: dict[str, Any], reference: dict[str, Any]) -> list[str]:
    """Return what a campaign has lost or doubled, held against one that nobody disturbed."""
    problems = [
        f"bucket {name} is there {count} times"
        for name, count in found["buckets"].items()
        if count > 1
    ]
    lost = reference["buckets"].keys() - found["buckets"].keys()
    more = found["buckets"].keys() - reference["buckets"].keys()
    problems += [f"bucket {name} is lost" for name in sorted(lost)]
    problems += [f"bucket {name} came from a kill" for name in sorted(more)]
    for name, count in reference["cases"].items():
        if found["cases"].get(name, 0) < count:
            problems.append(f"green with {found['cases'].get(name, 0)} of {count} cases on {name}")
    return problems


def soak(kills: int, state: Soak) -> None:
    """Run campaigns until so many processes were killed."""
    with tempfile.TemporaryDirectory(prefix="ciguard-soak-") as name:
        folder = Path(name)
        (folder / "reference").mkdir()
        reference = state.round(folder / "reference", 0)
        while sum(state.kills.values()) < kills and len(state.problems) == 0:
            own = folder / f"round-{state.rounds}"
            own.mkdir()
            left = kills - sum(state.kills.values())
            found = state.round(own, min(KILLS_PER_ROUND, left))
            if found:
                state.problems += problems_of(found, reference)


def print_table(state: Soak, elapsed_s: float) -> None:
    """Print the number of kills, resumed runs and lost or doubled results."""
    rows = {f"kills of: {kind}": count for kind, count in sorted(state.kills.items())}
    rows |= {
        "campaigns": state.rounds - 1,
        "resumes": state.resumes,
        "second writers refused": state.refused_writers,
        "lost, doubled, or green by loss": len(state.problems),
        "seconds": round(elapsed_s),
    }
    print("\n".join(f"{title:<36}{count:>7}" for title, count in rows.items()))
    print("\n".join(state.problems))


def main() -> None:
    """Soak, print the table, and end with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description="Kill processes of campaigns, and resume these.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=960)
    options = parser.parse_args()
    state = Soak(cases=options.cases, dice=random.Random(options.seed))
    began = time.monotonic()
    soak(options.kills, state)
    print_table(state, time.monotonic() - began)
    sys.exit(bool(state.problems))


if __name__ == "__main__":
    main()
