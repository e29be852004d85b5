"""Crash yield: distinct crashing APIs per CPU minute, guided generation beside plain random calls.

    python benchmarks/crash_yield.py [--target tensorflow-cpu==2.12.0] [--minutes 3]

Both generators run over the same APIs, in the same engine, under the same limits. An API counts
when one of its crashes shows again in a fresh worker. CPU time is that of the orchestrator and of
all workers, from the first case on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from accounting import family_cpu_s
from one_target import stream_of
from unguided import UnguidedLevel

from ciguard.campaign.catalogue import catalogue
from ciguard.campaign.group import groups_of
from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.outcomes import Crashed
from ciguard.execution import Dispatcher, Job, Priority, ServerProcess
from ciguard.levels import EXCLUDED_TAGS, select
from ciguard.levels.api.level import ApiLevel
from ciguard.oracles.relations import encode
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ciguard.campaign.stream import ExecutedBatch, Stream
    from ciguard.domain.case import Case
    from ciguard.domain.records import ApiRecord
    from ciguard.execution import JobResult
    from ciguard.levels import Level
    from ciguard.targets import Environment

HARMFUL = frozenset({"files", "network", "process", "global-state", "blocking", "debug"})
"""Tags that keep an API out for both generators; what merely refuses most calls takes part."""
GENERATORS: dict[str, Callable[[Sequence[ApiRecord], int], Level]] = {
    "ciguard": ApiLevel,
    "unguided": UnguidedLevel,
}
GLOBS = {"tensorflow": ("tensorflow.raw_ops.*",)}
"""What is called where `--api` says nothing; everything for the other libraries."""
POINTS = 8
CONFIRM = "confirm"


@dataclass
class Yield:
    """What one generator has found."""

    cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    crashing: dict[str, float] = field(default_factory=dict)
    """Confirmed: API → CPU seconds at which its first crash was met."""
    killers: dict[str, Case] = field(default_factory=dict)
    cases_at: list[tuple[float, int]] = field(default_factory=list)
    """CPU seconds and cases executed until then."""

    def at(self, cpu_s: float) -> tuple[int, int]:
        """Return the crashing APIs and the cases of the first so many CPU seconds."""
        found = sum(1 for met in self.crashing.values() if met <= cpu_s)
        return found, max((cases for at, cases in self.cases_at if at <= cpu_s), default=0)


class Hunt:
    """One generator over one target, until its CPU time is spent."""

    def __init__(self, environment: Environment, dispatcher: Dispatcher) -> None:
        self._name = environment.target.name
        self._environment = environment
        self._dispatcher = dispatcher
        started = dispatcher.start([worker_spec(self._name, environment, Config())])[self._name]
        if not isinstance(started, ServerProcess):
            raise started
        self._server = started.process_id
        self.records = catalogue(self._name, environment, dispatcher).known.records
        self._began = self._cpu_s()
        self._candidates: dict[str, tuple[float, Case]] = {}
        self.found = Yield()

    def _cpu_s(self) -> float:
        return time.process_time() + family_cpu_s(self._server)

    def run(self, level: Level, cpu_s: float, *, apis: int) -> Yield:
        """Call a level of so many APIs for some CPU seconds; confirm what crashes on the way."""
        group = groups_of({self._name: self._environment})[self._environment.library.name]
        group.members[self._name].catalogue = self.records
        stream = stream_of(level, group, apis=apis)
        self._began = self._cpu_s()
        spent_s = 0.0
        while spent_s < cpu_s and not stream.is_exhausted:
            stream.fill(self._dispatcher)
            for result in self._dispatcher.wait(1.0):
                self._take(stream, result, spent_s)
            spent_s = self._cpu_s() - self._began
            self.found.cases_at.append((spent_s, self.found.cases))
        self._dispatcher.clear_queue()
        while self._candidates and not self._dispatcher.is_idle:
            for result in self._dispatcher.wait(1.0):
                self._settle(result)
        return self.found

    def _take(self, stream: Stream, result: JobResult, spent_s: float) -> None:
        if self._settle(result):
            return
        for executed in stream.take(result):
            self._note(executed, spent_s)

    def _note(self, executed: ExecutedBatch, spent_s: float) -> None:
        outcomes = executed.outcomes[self._name]
        self.found.cases += len(outcomes)
        self.found.outcomes.update(type(outcome).__name__.lower() for outcome in outcomes)
        api = executed.api
        for case, outcome in zip(executed.cases, outcomes, strict=True):
            is_news = api not in self.found.crashing and api not in self._candidates
            if is_news and isinstance(outcome, Crashed):
                self._candidates[api] = (spent_s, case)
                job = Job(self._name, (CONFIRM, api), (encode(case),), fresh=True)
                self._dispatcher.add(job, Priority.URGENT)

    def _settle(self, result: JobResult) -> bool:
        """Count an API whose crash has shown again; return whether the result was of that kind."""
        key = result.job.key
        if not isinstance(key, tuple) or key[0] != CONFIRM:
            return False
        api = str(key[1])
        met_s, case = self._candidates.pop(api)
        if any(isinstance(outcome, Crashed) for outcome in result.outcomes):
            self.found.crashing[api] = met_s
            self.found.killers[api] = case
        return True


def taking_part(
    records: Mapping[str, ApiRecord], library: str, globs: Sequence[str]
) -> tuple[ApiRecord, ...]:
    """Return the records that both generators call."""
    chosen = globs or GLOBS.get(library, ("*",))
    return select(records.values(), chosen, allow=EXCLUDED_TAGS - HARMFUL)


def hunt(name: str, options: argparse.Namespace) -> Yield:
    """Run one generator."""
    environment = provision(parse_target(options.target), on_step=lambda _: None)
    with Dispatcher() as dispatcher:
        one = Hunt(environment, dispatcher)
        apis = taking_part(one.records, environment.library.name, options.api)
        if name == next(iter(options.generators)):
            print(f"{environment.target.name}, {len(apis)} APIs, seed {options.seed}", flush=True)
        level = GENERATORS[name](apis, options.seed)
        return one.run(level, options.minutes * 60, apis=len(apis))


def print_table(yields: dict[str, Yield], minutes: float) -> None:
    """Print crashing APIs and cases of every generator at several points of CPU time."""
    print("CPU min " + "".join(f"{name:>28}" for name in yields))
    print("        " + f"{'crashing APIs      cases':>28}" * len(yields))
    for point in range(1, POINTS + 1):
        at = minutes * point / POINTS
        columns = [found.at(at * 60) for found in yields.values()]
        print(f"{at:7.2f} " + "".join(f"{apis:>17}{cases:>11,}" for apis, cases in columns))
    rates = [f"{len(found.crashing) / minutes:.1f}" for found in yields.values()]
    print(f"per min {''.join(f'{rate:>17}' + ' ' * 11 for rate in rates)}")


def print_lists(yields: dict[str, Yield]) -> None:
    """Print who met what."""
    for name, found in yields.items():
        others = {a for other, one in yields.items() if other != name for a in one.crashing}
        alone = sorted(set(found.crashing) - others)
        print(f"\n{name}: {len(found.crashing)} crashing APIs, outcomes {dict(found.outcomes)}")
        print("  all:", " ".join(sorted(found.crashing)))
        if len(yields) > 1:
            print(f"  only {name} ({len(alone)}):", " ".join(alone))


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="tensorflow-cpu==2.12.0")
    parser.add_argument("--api", action="append", default=[], help="glob; repeatable")
    parser.add_argument("--minutes", type=float, default=3.0, help="CPU minutes per generator")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=Path, help="write the first fatal case of every API here")
    parser.add_argument(
        "--generator",
        dest="generators",
        action="append",
        choices=list(GENERATORS),
        help="only this one; repeatable",
    )
    options = parser.parse_args()
    options.generators = options.generators or list(GENERATORS)
    yields = {name: hunt(name, options) for name in options.generators}
    print_table(yields, options.minutes)
    print_lists(yields)
    if options.cases:
        lines = [
            json.dumps({"generator": name, "cpu_s": found.crashing[api], "case": text.decode()})
            for name, found in yields.items()
            for api, text in ((api, encode(case)) for api, case in found.killers.items())
        ]
        options.cases.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
