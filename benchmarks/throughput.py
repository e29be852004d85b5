"""Throughput: cases per CPU second against the bare calls, a fork and a process per case.

    python benchmarks/throughput.py [--seconds 20] [--core 0] [--memory]

One run on one machine prints, for a fixed mix of 40 torch and of 40 TensorFlow calls: the raw loop,
ciguard with generation, isolation and oracles, the same with one crash per 1,000 cases, a fork per
case and a process per case. The calls that ciguard generates are dearer than those of the mix, with
larger or unusual values and exceptions, so a second raw loop makes a sample of them, without
building their arguments. CPU seconds of all processes count, so the figures are per core.
`--core` keeps everything on one: in a virtual machine, waking another core costs as much as the
work that is sent there, for ciguard and for a fork alike.
`--memory` runs 1,000,000 cases more and prints the orchestrator's memory at ten points.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from accounting import family_cpu_s

from ciguard.campaign.catalogue import catalogue
from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.values import LiteralValue
from ciguard.execution import Dispatcher, Job, ServerProcess
from ciguard.levels.api.level import ApiLevel
from ciguard.oracles import Identity, Subject, judge
from ciguard.oracles.relations import encode
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Outcome
    from ciguard.levels import Batch
    from ciguard.targets import Environment

MIXES = Path(__file__).parent / "mixes"
TARGETS = {"torch": "torch==2.13.0", "tensorflow": "tensorflow-cpu==2.21.0"}
WINDOW = 4
SAMPLED_SHARE = 0.05
PROCESSES = 4
FATAL = encode(
    ApiCall(api="ctypes.string_at", kind=CallKind.FUNCTION, arguments=(LiteralValue(0),))
)


@dataclass(frozen=True)
class Rate:
    """Calls per CPU second."""

    calls: int
    cpu_s: float

    @property
    def per_cpu_s(self) -> float:
        """Calls per CPU second."""
        return self.calls / self.cpu_s if self.cpu_s else 0.0


def in_target(environment: Environment, mode: str, seconds: float) -> Rate:
    """Run the mix by itself in the target's interpreter."""
    script = MIXES / f"{environment.library.name}_calls.py"
    argv = [str(environment.python), str(script), mode, str(seconds)]
    variables = {**environment.variables, "HOME": "/nonexistent"}
    done = subprocess.run(argv, env=variables, check=True, capture_output=True, text=True)
    calls, cpu_s = done.stdout.split()[-2:]
    return Rate(int(calls), float(cpu_s))


def calls_alone(environment: Environment, cases: list[bytes]) -> Rate:
    """Make generated calls in the target's interpreter, and count the CPU time of the calls."""
    with tempfile.NamedTemporaryFile("wb", suffix=".jsonl") as file:
        file.write(b"\n".join(cases) + b"\n")
        file.flush()
        root, adapter = Path(__file__).parents[1], environment.library.adapter
        script = MIXES / "generated_calls.py"
        argv = [str(environment.python), str(script), str(root), str(adapter), file.name]
        variables = {**environment.variables, "HOME": "/nonexistent"}
        done = subprocess.run(argv, env=variables, check=True, capture_output=True, text=True)
    calls, cpu_s = done.stdout.split()[-2:]
    return Rate(int(calls), float(cpu_s))


def process_per_case(environment: Environment) -> Rate:
    """Start the interpreter anew for each of a few calls."""
    script = MIXES / f"{environment.library.name}_calls.py"
    variables = {**environment.variables, "HOME": "/nonexistent"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for number in range(PROCESSES):
        argv = [str(environment.python), str(script), "once", str(number)]
        subprocess.run(argv, env=variables, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Rate(PROCESSES, cpu_s)


def mix_names(library: str) -> list[str]:
    """Return the API names of a mix, read from its file without importing the library."""
    text = (MIXES / f"{library}_calls.py").read_text("utf-8")
    return [line.split('"')[1] for line in text.splitlines() if line.startswith(f'    "{library}.')]


class Guard:
    """ciguard's own path over a mix: generate, send, execute, judge."""

    def __init__(self, environment: Environment, dispatcher: Dispatcher) -> None:
        self._name = environment.target.name
        self._dispatcher = dispatcher
        spec = worker_spec(self._name, environment, Config())
        started = dispatcher.start([spec])[self._name]
        if not isinstance(started, ServerProcess):
            raise started
        self._server = started.process_id
        records = catalogue(self._name, environment, dispatcher).known.records
        names = mix_names(environment.library.name)
        self._level = ApiLevel([records[name] for name in names], 0)
        identity = Identity(request="", packages=(), version="", device="cpu")
        self._subject = Subject(
            library=environment.library.name, api="", targets={self._name: identity}
        )
        self._index = self._began_at = 0
        self.outcomes: Counter[str] = Counter()
        self._rng = random.Random(0)
        self.sample: list[bytes] = []
        """Calls that returned or raised an exception, for a loop without ciguard."""

    def run(self, *, seconds: float = 0, cases: int = 0) -> Rate:
        """Run for a time, or for a number of cases."""
        return self._measure(self._deadline(seconds), cases, crash_every=0)

    def rerun(self, done: Rate, *, crash_every: int) -> Rate:
        """Run the cases of the latest run again, one of every `crash_every` replaced by a crash."""
        self._index = self._began_at
        return self._measure(float("inf"), done.calls, crash_every=crash_every)

    def _deadline(self, seconds: float) -> float:
        return time.monotonic() + seconds if seconds else float("inf")

    def _measure(self, deadline: float, cases: int, *, crash_every: int) -> Rate:
        self._began_at = self._index
        under_way: dict[int, Batch] = {}
        done = sent = 0
        began = time.process_time() + family_cpu_s(self._server)

        def may_send() -> bool:
            return time.monotonic() < deadline and (not cases or sent < cases)

        while under_way or may_send():
            while len(under_way) < WINDOW and may_send():
                batch = self._level.cases(self._index)
                encoded = [encode(case) for case in batch.cases]
                if crash_every and (sent + len(encoded)) // crash_every > sent // crash_every:
                    encoded[-1] = FATAL
                sent += len(encoded)
                under_way[self._index] = batch
                self._dispatcher.add(Job(self._name, self._index, tuple(encoded)))
                self._index += 1
            for result in self._dispatcher.wait(1.0):
                done += self._judge(under_way.pop(int(str(result.job.key))), result.outcomes)
        cpu_s = time.process_time() + family_cpu_s(self._server) - began
        return Rate(done, cpu_s)

    def _judge(self, batch: Batch, outcomes: tuple[Outcome, ...]) -> int:
        for case, outcome in zip(batch.cases, outcomes, strict=True):
            judge(case, {self._name: outcome}, self._subject)
        lesson = self._level.feedback(batch, outcomes)
        if lesson is not None:
            self._level.learn(batch.api, lesson)
        self.outcomes.update(type(outcome).__name__ for outcome in outcomes)
        for case, outcome in zip(batch.cases, outcomes, strict=True):
            is_whole = isinstance(outcome, Passed | Rejected)
            if is_whole and self._rng.random() < SAMPLED_SHARE:
                self.sample.append(encode(case))
        return len(batch.cases)


def resident_mib() -> float:
    """Return this process's resident memory."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


def line(name: str, rate: Rate, raw: Rate) -> None:
    """Print one row."""
    share = rate.per_cpu_s / raw.per_cpu_s
    print(f"  {name:<34} {rate.per_cpu_s:>12,.1f} /CPU-s   {share:>8.2%} of the raw loop")


def measure(library: str, seconds: float) -> None:
    """Print the table of one library."""
    environment = provision(parse_target(TARGETS[library]), on_step=lambda _: None)
    raw = in_target(environment, "loop", min(5.0, seconds))
    with Dispatcher() as dispatcher:
        guard = Guard(environment, dispatcher)
        guard.run(seconds=min(3.0, seconds))  # first calls prepare kernels, as in the raw loop
        guard.outcomes.clear()
        clean = guard.run(seconds=seconds)
        mixed = dict(guard.outcomes)
        crashing = guard.rerun(clean, crash_every=1000)  # the same work, so that noise is not in it
    alone = calls_alone(environment, guard.sample)
    forked = in_target(environment, "fork", min(5.0, seconds))
    spawned = process_per_case(environment)
    print(f"{environment.target.name}, {len(mix_names(library))} calls")
    line("raw loop", raw, raw)
    line("ciguard", clean, raw)
    line("ciguard, 1 crash per 1,000 cases", crashing, raw)
    line("fork per case", forked, raw)
    line("process per case", spawned, raw)
    line("raw loop of generated calls", alone, raw)
    print(f"  ciguard / raw loop of generated calls: {clean.per_cpu_s / alone.per_cpu_s:.1%}")
    lost = 1 - crashing.per_cpu_s / clean.per_cpu_s
    print(f"  ciguard / fork per case: {clean.per_cpu_s / forked.per_cpu_s:,.0f} times")
    print(f"  lost to 1 crash in 1,000: {lost:.1%}")
    print(f"  outcomes: {json.dumps(mixed)}", flush=True)


def memory(cases: int) -> None:
    """Print the orchestrator's memory at ten points of a long run on torch."""
    environment = provision(parse_target(TARGETS["torch"]), on_step=lambda _: None)
    with Dispatcher() as dispatcher:
        guard = Guard(environment, dispatcher)
        print(f"memory of the orchestrator over {cases:,} cases")
        for part in range(10):
            guard.run(cases=cases // 10)
            print(
                f"  after {(part + 1) * cases // 10:>9,} cases: {resident_mib():.1f} MiB",
                flush=True,
            )


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=15.0, help="per measurement")
    parser.add_argument("--library", choices=list(TARGETS), action="append")
    parser.add_argument("--core", type=int, help="keep all processes on this core")
    parser.add_argument("--memory", action="store_true", help="run 1,000,000 cases more")
    parser.add_argument("--cases", type=int, default=1_000_000, help="for --memory")
    options = parser.parse_args()
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    for library in options.library or TARGETS:
        measure(library, options.seconds)
    if options.memory:
        memory(options.cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
