"""The real `ciguard` command in a process of its own, and what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import command_server
from command_server import environment

from ciguard.campaign import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLANTED = ("current[planted]", "current[planted] PLANTED_VERSION=2.0")
"""The planted library in the environment of these tests: nothing is installed."""
APIS = ("double", "checked", "fragile", "leak", "cube", "spin", "divide", "tail")
CASES = 960
"""Enough for some seconds of work, hangs included."""

Answer = subprocess.CompletedProcess[str]


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "ciguard", *words]


def campaign(*words: str, targets: tuple[str, ...] = PLANTED) -> list[str]:
    """Return the command that runs a campaign on the planted library.

    It is `ciguard run`; if the first of the words is `init`, it is `ciguard baseline init`.
    """
    chosen = [word for target in targets for word in ("--target", target)]
    apis = [word for api in APIS for word in ("--api", f"planted.{api}")]
    limits = ["--max-cases", str(CASES), "--budget", "100s", "--case-limit", "0.5s"]
    name, rest = (("baseline", "init"), words[1:]) if words[:1] == ("init",) else (("run",), words)
    return command(*name, *chosen, *apis, *limits, *rest)


def answer(argv: list[str], folder: Path, *, timeout_s: float = 300, **variables: str) -> Answer:
    """Run a command to its end."""
    if argv[: len(command())] == command():
        words = argv[len(command()) :]
        there = environment(**variables)
        return command_server.answer(*words, folder=folder, variables=there, timeout_s=timeout_s)
    return subprocess.run(
        argv,
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        encoding="utf-8",
        timeout=timeout_s,
        check=False,
    )


@contextmanager
def started(argv: list[str], folder: Path, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command; whatever happens, it has ended afterwards."""
    with subprocess.Popen(
        argv,
        cwd=folder,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def wait_until(claim: Callable[[], bool], *, timeout_s: float = 60.0) -> bool:
    """Return whether a claim came true in time."""
    deadline = time.monotonic() + timeout_s
    while not claim():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


# --- what a run leaves behind -------------------------------------------------------------------


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON-lines file; a line that is being written is left out."""
    if not path.exists():
        return []
    whole, _, _ = path.read_text("utf-8").rpartition("\n")
    return [json.loads(line) for line in whole.splitlines()]


def noted(out: Path, kind: str) -> list[dict[str, Any]]:
    """Return the lines of one type in a run's journal."""
    return [line for line in lines_of(out / JOURNAL) if line["type"] == kind]


def batches_noted(out: Path) -> int:
    """Return how many batches the journal says are done."""
    progress = noted(out, "progress")
    streams = progress[-1]["streams"].values() if progress else ()
    return sum(stream["batches"]["done"] for stream in streams)


def is_under_way(out: Path) -> bool:
    """Return whether a run has results to lose: batches done, a bucket settled."""
    return batches_noted(out) >= 8 and bool(noted(out, "bucket"))


def run_of(out: Path) -> dict[str, Any]:
    run: dict[str, Any] = json.loads((out / "run.json").read_text("utf-8"))
    return run


def buckets_of(out: Path) -> set[tuple[Any, ...]]:
    """Return everything that a resumed campaign must not change, bucket by bucket."""
    return {
        (b["fingerprint"], b["api"], b["oracle"], json.dumps(b["case"]), b["count"], b["confirmed"])
        for b in lines_of(out / "buckets.jsonl")
    }


# --- processes ------------------------------------------------------------------------------------


def _stat(pid: int) -> tuple[str, int, int] | None:
    """Return state, parent and group of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[1]), int(fields[2])


def descendants(pid: int) -> set[int]:
    """Return every process below one."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        seen = _stat(int(folder.name))
        if seen is not None:
            parents[int(folder.name)] = seen[1]
    found: set[int] = set()
    pending = {pid}
    while pending:
        pending = {child for child, parent in parents.items() if parent in pending} - found
        found |= pending
    return found


def groups_of(pids: set[int]) -> set[int]:
    """Return the process groups of processes."""
    return {seen[2] for seen in map(_stat, pids) if seen is not None}


def living_in(groups: set[int]) -> set[int]:
    """Return the processes of some groups that are not dead: a zombie only waits to be counted."""
    pids = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    stats = [(pid, _stat(pid)) for pid in pids]
    return {pid for pid, seen in stats if seen and seen[2] in groups and seen[0] not in "ZX"}


def end_all(pids: set[int]) -> None:
    """Kill what a failed test would leave behind."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
