"""Instruction counts: which planted slowdowns they show, and how often equal targets differ.

    python benchmarks/instruction_counts.py [--apis 100] [--pairs 500] [--burners 2]

Explores a library for one call per API. Counts it in four processes of the same target, which are
six pairs, beside processes that keep all cores busy. Then counts the calls in processes whose
functions are wrapped in a loop: of no iterations on the reference, and otherwise of as many as add
3, 5 and 10 % to the count of the reference. Prints the spread of the counts and the seconds per
API. Ends with 1 if any of the equal pairs is reported in one of the two directions.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from one_target import OneTarget

from ciguard.campaign.stages.counters import MAX_COUNTED_S, Counters
from ciguard.campaign.stages.suspects import SuspectCall
from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed
from ciguard.execution import Dispatcher
from ciguard.execution.counting import find_valgrind
from ciguard.levels.api.level import ApiLevel
from ciguard.oracles import CountChange
from ciguard.oracles.instructions import MIN_INSTRUCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ciguard.execution import Measurement, WorkerSpec
    from ciguard.targets import Environment

SIZES = (0.03, 0.05, 0.10)
EQUAL = ("A", "B", "C", "D")
"""Names of the processes of the same target."""
REFERENCE = EQUAL[0]
START_S = 300.0
ITERATIONS = 1000


@dataclass
class Pairs:
    """Comparisons of two targets."""

    reported: list[str] = field(default_factory=list)
    """APIs that have become slower by two counts."""
    changes: list[CountChange] = field(default_factory=list)

    def add(self, api: str, changes: Iterator[CountChange]) -> None:
        """Add the first comparison, and the second one if the first shows a change."""
        change = next(changes)
        self.changes.append(change)
        second = next(changes, None) if change.is_slower else None
        if second is not None and second.is_slower:
            self.reported.append(api)


class Comparison:
    """Counts of one call on several targets, as a campaign takes them."""

    def __init__(self, counters: Counters, call: SuspectCall) -> None:
        began = time.monotonic()
        self._counters, self._call = counters, call
        self.counts = counters.steady(call)
        self._second: Mapping[str, Measurement] | None = None
        self.seconds = time.monotonic() - began
        """Time of the first counts, in seconds."""

    def changes(self, reference: str, other: str) -> Iterator[CountChange]:
        """Yield the change of the first counts, and of the second ones."""
        if self.counts is not None:
            yield CountChange.between(self.counts[reference], self.counts[other])
            self._second = self._second or self._counters.count(self._call, round_number=2)
            if self._second is not None:
                yield CountChange.between(self._second[reference], self._second[other])


@contextmanager
def load(count: int) -> Iterator[None]:
    """Keep cores busy."""
    burners = [multiprocessing.Process(target=_burn, daemon=True) for _ in range(count)]
    for burner in burners:
        burner.start()
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()


def _burn() -> None:
    while True:
        pass


def explored(options: argparse.Namespace) -> tuple[Environment, list[SuspectCall]]:
    """Return the target's environment, and one conforming call per API that takes at most 5 ms."""
    calls: dict[str, SuspectCall] = {}
    with Dispatcher() as dispatcher:
        target = OneTarget(options.target, dispatcher)
        records = [
            record
            for record in target.records.values()
            if record.kind is CallKind.FUNCTION and not record.tags
        ]
        level = ApiLevel(records, options.seed)
        for executed in target.run(level, len(records), apis=len(records)):
            (outcomes,) = executed.outcomes.values()
            for case, outcome in zip(executed.cases, outcomes, strict=True):
                if isinstance(case, ApiCall) and isinstance(outcome, Passed):
                    _keep(calls, case, outcome.cost_s)
            if len(calls) >= options.apis:
                break
    return target.environment, [calls[api] for api in sorted(calls)]


def _keep(calls: dict[str, SuspectCall], case: ApiCall, cost_s: float) -> None:
    """Keep the call of an API that takes longest."""
    is_plain = case.intent is Intent.CONFORMING and not case.relation
    known = calls.get(case.api)
    if is_plain and cost_s <= MAX_COUNTED_S and (known is None or known.costs[0] < cost_s):
        calls[case.api] = SuspectCall("torch", case, (REFERENCE,), (cost_s,))


def spec_of(name: str, environment: Environment, slowed: Path | None = None) -> WorkerSpec:
    """Return the specification of a target, with the slower functions in a file."""
    spec = worker_spec(name, environment, Config())
    variables = {"SLOWED_LIBRARY": environment.library.name}
    variables |= {} if slowed is None else {"SLOWED": str(slowed)}
    return replace(
        spec,
        adapter=Path(__file__).with_name("slowed.py"),
        readable=(*spec.readable, *([slowed] if slowed else [])),
        variables={**spec.variables, **variables},
    )


def equal_pairs(counters: Counters, calls: list[SuspectCall], count: int) -> Pairs:
    """Compare the processes of one target with each other, until there are `count` pairs."""
    pairs, seconds = Pairs(), []
    for call in calls:
        compared = Comparison(counters, replace(call, targets=EQUAL, costs=call.costs * len(EQUAL)))
        if compared.counts is None:
            continue
        seconds.append(compared.seconds)
        for first, second in itertools.combinations(EQUAL, 2):
            # Each of the two is the reference once.
            other = Pairs()
            pairs.add(call.case.api, compared.changes(first, second))
            other.add(call.case.api, compared.changes(second, first))
            pairs.reported += other.reported
        print(f"  {len(pairs.changes)} pairs, {len(pairs.reported)} reported", flush=True)
        if len(pairs.changes) >= count:
            break
    print_seconds(f"one call of {len(seconds)} APIs on {len(EQUAL)} targets", seconds)
    return pairs


def per_iteration(counters: Counters) -> float:
    """Return the instructions of an iteration of the planted loop."""

    def count(iterations: int) -> float:
        case = ApiCall(api=f"spin.{iterations}", kind=CallKind.FUNCTION)
        counts = counters.steady(SuspectCall("torch", case, (REFERENCE,), (1e-5,)))
        if counts is None:
            sys.exit("the planted loop cannot be counted")
        return median(counts[REFERENCE].values)

    return (count(ITERATIONS) - count(0)) / ITERATIONS


@dataclass
class Planted:
    """Comparisons of calls with slower ones, by what was planted relative to the reference."""

    pairs: dict[float, Pairs] = field(default_factory=lambda: {size: Pairs() for size in SIZES})
    sizes: dict[float, list[float]] = field(default_factory=lambda: {size: [] for size in SIZES})
    """Sizes that were planted, which differ from those that were wanted by whole iterations."""


def planted(
    counters: Counters, calls: list[SuspectCall], start: Callable[..., None], folder: Path
) -> Planted:
    """Compare calls with the same calls, slowed by each size.

    A call that the smallest number of iterations or of instructions that counts as a change slows
    by more than each size is left out: no slowdown of that size can be planted, or reported.
    """
    start({REFERENCE: write_slowed(folder, 0.0, {call.case.api: 0 for call in calls})})
    known = reference_counts(counters, calls)
    each = per_iteration(counters)
    names: dict[float, str] = {}
    files: dict[str, Path] = {}
    for size in SIZES:
        iterations = {api: round(size * count / each) for api, count in known.items()}
        names[size] = f"{size:.0%} more"
        files[names[size]] = write_slowed(folder, size, iterations)
    start(files)
    result = Planted()
    targets = (REFERENCE, *names.values())
    for call in (call for call in calls if call.case.api in known):
        api, costs = call.case.api, call.costs * len(targets)
        compared = Comparison(counters, replace(call, targets=targets, costs=costs))
        for size in SIZES if compared.counts is not None else ():
            if size * known[api] >= max(each, MIN_INSTRUCTIONS):
                result.pairs[size].add(api, compared.changes(REFERENCE, names[size]))
                result.sizes[size].append(round(size * known[api] / each) * each / known[api])
    return result


def write_slowed(folder: Path, size: float, iterations: Mapping[str, int]) -> Path:
    """Write the iterations of each API, and return the file."""
    path = folder / f"slowed-{size:g}.json"
    path.write_text(json.dumps(iterations), "utf-8")
    return path


def print_pairs(title: str, pairs: Pairs) -> None:
    """Print the results of comparisons."""
    spreads = [change.spread for change in pairs.changes]
    ratios = [change.ratio - 1 for change in pairs.changes]
    middle, high, highest = np.quantile(spreads, (0.5, 0.9, 0.99))
    count = len(pairs.changes)
    unsteady = sum(not change.is_steady for change in pairs.changes)
    print(f"{title}: {len(pairs.reported)} of {count} reported; {unsteady} not steady")
    print(f"  change: median {median(ratios):.2%}, {min(ratios):.2%} to {max(ratios):.2%}")
    print(f"  spread: median {middle:.3%}, 90 % below {high:.3%}, 99 % below {highest:.3%}")
    sys.stdout.flush()


def print_seconds(title: str, seconds: list[float]) -> None:
    """Print the wall time per API, beside the load of the machine."""
    busy = os.getloadavg()[0]
    print(f"{title}: median {median(seconds):.2f} s, at most {max(seconds):.2f} s, load {busy:.0f}")


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="torch==2.13.0")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--apis", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--planted", type=int, default=60, help="APIs that are slowed")
    parser.add_argument("--burners", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    valgrind = find_valgrind()
    if valgrind is None:
        sys.exit("Valgrind is not installed")
    environment, calls = explored(options)
    print(f"{options.target}: one call of {len(calls)} APIs, {options.burners} busy processes")
    counters = Counters()
    with tempfile.TemporaryDirectory() as name, load(options.burners):
        folder = Path(name)

        def start(slowed: Mapping[str, Path | None]) -> None:
            began = time.monotonic()
            specs = [spec_of(target, environment, path) for target, path in slowed.items()]
            counters.start(specs, valgrind=valgrind, scratch=folder)
            if reasons := counters.wait_ready(time.monotonic() + START_S):
                sys.exit("\n".join(reasons))
            print(f"{len(specs)} started in {time.monotonic() - began:.0f} s", flush=True)

        start(dict.fromkeys(EQUAL))
        equal = equal_pairs(counters, calls, options.pairs)
        print_pairs("equal targets", equal)
        counters.close()
        chosen = calls[:: max(1, len(calls) // options.planted)]
        result = planted(counters, chosen, start, folder)
        counters.close()
    for size in SIZES:
        print_pairs(f"planted, {size:.0%} more", result.pairs[size])
        sizes = result.sizes[size]
        print(f"  planted: {min(sizes):.2%} to {max(sizes):.2%}, median {median(sizes):.2%}")
    return 1 if equal.reported else 0


def reference_counts(counters: Counters, calls: list[SuspectCall]) -> dict[str, float]:
    """Return the instructions per call by API."""
    counts: dict[str, float] = {}
    for call in calls:
        counted = counters.count(replace(call, targets=(REFERENCE,)), round_number=0)
        if counted is not None:
            counts[call.case.api] = median(counted[REFERENCE].values)
    return counts


if __name__ == "__main__":
    sys.exit(main())
