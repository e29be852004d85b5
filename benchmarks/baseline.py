"""Scale of the baseline: load, compare and save against reading the same bytes as JSON.

    python benchmarks/baseline.py [--buckets 100000] [--git]

Makes a baseline of that many buckets in a temporary folder and prints, in one run, the CPU seconds
of `json.loads` over every line of its files (the yardstick), of loading it, of comparing it with a
run that met half of it, of saving what that run learnt, and of saving one bucket. `--git` does the
same through a branch of a bare repository, git's own CPU time included.
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
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.baseline import (
    BaselineRecord,
    Decision,
    Exercised,
    Sighting,
    bucket_of,
    compare,
    open_store,
    update,
)
from ciguard.baseline.record import Representative
from ciguard.config import GitBranch
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Comparison, Evidence, Severity
from ciguard.domain.values import LiteralValue, TensorValue, Uniform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.baseline import Records

TARGETS = ("torch==2.12.0", "torch==2.13.0")
APIS = 2_000
RUNS = 300
"""That have met the buckets for the first and the last time."""


def made_up(count: int) -> dict[str, BaselineRecord]:
    """Return records as campaigns leave them, with cases of two tensors and two scalars."""
    rng = random.Random(count)
    return {record.fingerprint: record for record in (_record(rng) for _ in range(count))}


def _record(rng: random.Random) -> BaselineRecord:
    api = f"torch.nn.functional.operator_{rng.randrange(APIS)}"
    shape = tuple(rng.randrange(1, 64) for _ in range(rng.randrange(1, 5)))
    tensor = TensorValue("float32", shape, Uniform(rng.randrange(2**31), -1.0, 1.0))
    first, last = sorted(_sighting(rng.randrange(RUNS)) for _ in range(2))
    decision = Decision(changed=first.time)
    return BaselineRecord(
        fingerprint=f"v1:{rng.getrandbits(64):016x}",
        decision=decision,
        history=(decision,),
        representative=Representative(
            level="api",
            oracle="differential",
            kind="values",
            severity=rng.choice(list(Severity)),
            library="torch",
            api=api,
            message=f"{api}: 12 of 40 elements differ, the largest difference is {rng.random()}",
            evidence=Evidence(expected=f"{rng.random()}", observed=f"{rng.random()}"),
            case=ApiCall(
                api=api,
                kind=CallKind.FUNCTION,
                arguments=(tensor, tensor),
                keywords=(("dim", LiteralValue(rng.randrange(9))), ("eps", LiteralValue(1e-5))),
                seed=rng.randrange(2**31),
            ),
            grouping=(("symptom", "values"), ("api", api), ("pair", "version")),
        ),
        targets=TARGETS,
        first_seen=first,
        last_seen=last,
    )


def _sighting(run: int) -> Sighting:
    time = f"2026-01-{run % 28 + 1:02}T{run // 28:02}:59:00Z"
    return Sighting(time=time, commit=f"{run:040x}", versions=tuple((t, t[7:]) for t in TARGETS))


@contextmanager
def measured(name: str, unit_s: float = 0.0) -> Iterator[list[float]]:
    """Print the CPU seconds of what is done inside, children included; yield where they go."""
    spent: list[float] = []
    cpu, began = sum(os.times()[:4]), time.monotonic()
    yield spent
    spent.append(sum(os.times()[:4]) - cpu)
    times = f"{spent[0] / unit_s:8.1f}" if unit_s else " " * 8
    print(f"{name:22}{spent[0]:8.2f} CPU s{times}{time.monotonic() - began:8.2f} s")


def yardstick(folder: Path) -> float:
    """Return the CPU seconds of parsing the lines of the baseline, and nothing else."""
    paths = sorted(folder.rglob("*.jsonl"))
    sizes = [path.stat().st_size for path in paths]
    print(f"{len(paths)} files, {sum(sizes) / 1e6:.1f} MB, the largest {max(sizes) / 1e6:.1f} MB")
    print(" " * 37 + "times json.loads  elapsed")
    with measured("json.loads") as spent:
        for path in paths:
            for line in path.read_text("utf-8").splitlines():
                json.loads(line)
    return spent[0]


def measure(place: Path | GitBranch, records: Records) -> None:
    """Print what each operation costs."""
    with measured("first save"):
        first = open_store(place)
        first.save(records)
    unit_s = yardstick(first.folder)
    store = open_store(place)
    with measured("load", unit_s):
        known = store.load()
    met = [bucket_of(known[name], Comparison.NEW) for name in list(known)[::2]]
    exercised = Exercised(replayed=dict.fromkeys(known, frozenset(TARGETS)))
    with measured("compare", unit_s):
        compared = compare(met, known, exercised)
    with measured("update", unit_s):
        learnt = update(known, compared, Sighting(time="2026-02-01T00:00:00Z"))
    with measured("save", unit_s):
        store.save(learnt)
    name, record = next(iter(learnt.items()))
    with measured("save one bucket", unit_s):
        store.save({name: replace(record, issue="1")})


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--buckets", type=int, default=100_000)
    parser.add_argument("--git", action="store_true")
    chosen = parser.parse_args()
    records = made_up(chosen.buckets)
    with tempfile.TemporaryDirectory() as folder:
        place: Path | GitBranch = Path(folder) / "baseline"
        if chosen.git:
            subprocess.run(["git", "init", "--quiet", "--bare", folder], check=True)  # noqa: S607
            place = GitBranch(folder)
        measure(place, records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
