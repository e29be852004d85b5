"""Level `graph`: how fast graphs are composed and compiled, and what of planted defects is found.

    python benchmarks/graphs.py speed [--target torch==2.13.0] [--graphs 48] [--apis 300]
    python benchmarks/graphs.py planted [--budget 5m] [--only NAME]
    python benchmarks/graphs.py known [--target torch==2.13.0] [--budget 5m]
    python benchmarks/graphs.py same [--target torch==2.13.0] [--mode compile] [--budget 5m]

`speed` composes graphs and runs the same ones eagerly, in each mode, and in each mode one by one,
like a plain loop of `torch.compile`. It prints graphs and calls per CPU second, the share of the
time that eager execution does not need, which is the compiler's, and the share of calls that run.
`planted` plants the defects of `graph_defects` into the compiler and prints which are found, with
the operator that is named. `known` prints which differences of `compiled_differences.toml` a
campaign on their APIs and as many others meets. `same` compares equal targets, eagerly or in one
mode: every difference is a false alarm.
"""

from __future__ import annotations

import random
import resource
import shlex
import sys
import tempfile
import time
import tomllib
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from accounting import children_cpu_s
from graph_defects import DEFECTS, defect_named_by
from planted_campaign import built_wheel, campaign, planting_parser, print_buckets

from ciguard.campaign.catalogue import catalogue
from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.findings import Confirmation, PairKind
from ciguard.domain.graphs import GraphCase
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.execution import Dispatcher, Job
from ciguard.levels import select
from ciguard.levels.graph.level import GraphLevel, GraphSizes
from ciguard.levels.graph.probing import probed
from ciguard.levels.graph.refusals import graphs_in
from ciguard.levels.graph.reshaping import connected_steps, sliced
from ciguard.levels.graph.spec import comparable
from ciguard.oracles.relations import encode
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from graph_defects import Defect

    from ciguard.domain.findings import Bucket
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.levels import Batch

_KNOWN = Path(__file__).with_name("compiled_differences.toml")
_LAG = 6
"""Number of batches after which feedback is applied, as in a campaign."""
_WAIT_S = 1.0
_EAGER_TIMES = 20
"""Number of eager runs of each unit: the kernel counts time in hundredths of seconds."""


@dataclass(slots=True)
class Composition:
    """Units of graphs that were composed, and what probes have shown."""

    units: list[GraphCase]
    attempted: int = 0
    """Calls of probed graphs."""
    passed: int = 0
    """Calls that passed the probe."""
    composed: int = 0
    """Graphs that were composed."""
    cpu_s: float = 0.0
    """CPU time of composition and feedback, in seconds; probes run in another process."""
    refused: int = 0
    """Units that the compiler did not support."""
    tried: int = 0
    """Units that it was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """One run of all cases in one mode."""

    name: str
    graphs: int
    calls: int
    """Calls of the graphs that ran."""
    refused: int
    """Cases that the compiler does not support."""
    cases: int
    cpu_s: float


class Bench:
    """One target with its workers."""

    def __init__(self, target: str) -> None:
        self.name = target
        self._environment = provision(parse_target(target), on_step=lambda _: None)
        self._dispatcher = Dispatcher()
        spec = worker_spec(target, self._environment, Config())
        for problem in self._dispatcher.start([spec]).values():
            if isinstance(problem, Exception):
                raise problem

    def __enter__(self) -> Self:
        self._dispatcher.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._dispatcher.__exit__(None, None, None)

    def records(self) -> list[str]:
        """Return the names of the APIs that graphs may call."""
        known = catalogue(self.name, self._environment, self._dispatcher).known.records
        return [record.api for record in comparable(select(known.values()))]

    def composition(self, compiler: Bench, options: Namespace) -> Composition:
        """Compose and probe graphs until the compiler has taken enough of them.

        The figures are those after all chosen APIs were sampled.
        """
        known = catalogue(self.name, self._environment, self._dispatcher).known.records
        records = list(comparable(select(known.values())))
        if options.apis:
            chosen = random.Random(options.seed)
            records = chosen.sample(records, min(options.apis, len(records)))
        sizes = GraphSizes(
            calls=options.calls,
            least=options.least,
            unit=options.unit,
            is_slow=self._environment.library.compiles_calls,
        )
        level = GraphLevel(records, options.seed, sizes)
        made = Composition([])
        waiting: deque[Json] = deque()
        index = 0
        while sum(map(graph_count, made.units)) < options.graphs:
            if level.schedule.is_sampling(index):
                made = Composition([])
            began = time.process_time()
            if len(waiting) >= _LAG:
                level.update(waiting.popleft())
            batch = level.cases(index)
            made.cpu_s += time.process_time() - began
            outcomes = self._outcomes(batch, made, compiler, options.least)
            began = time.process_time()
            waiting.append(level.feedback(index, batch, {"": outcomes}))
            made.cpu_s += time.process_time() - began
            index += 1
        return made

    def _outcomes(
        self, batch: Batch, made: Composition, compiler: Bench, least: int
    ) -> list[Outcome]:
        """Run a probe eagerly, or units compiled; keep the units that the compiler takes.

        Units of single calls, which samples are, do not count.
        """
        cases = [case for case in batch.cases if isinstance(case, GraphCase)]
        if not batch.is_eager:
            outcomes = compiler.run(cases)
            made.units += [
                case
                for case, outcome in zip(cases, outcomes, strict=True)
                if isinstance(outcome, Passed) and len(case.calls) >= least * graph_count(case)
            ]
            made.tried += len(cases)
            made.refused += sum(isinstance(outcome, Rejected) for outcome in outcomes)
            return outcomes
        outcomes = self.run(cases)
        for case, outcome in zip(cases, outcomes, strict=True):
            shown = probed(case, outcome)
            if shown is not None and len(case.calls) > 1:  # a single call is a sample
                made.composed += 1
                made.attempted += shown.attempted
                made.passed += len(shown.samples)
        return outcomes

    def run(self, cases: Sequence[GraphCase]) -> list[Outcome]:
        """Run cases and return their outcomes."""
        for number, case in enumerate(cases):
            self._dispatcher.add(Job(self.name, (number,), (encode(case),)))
        outcomes: dict[int, Outcome] = {}
        while len(outcomes) < len(cases):
            for result in self._dispatcher.wait(_WAIT_S):
                outcomes[result.job.key[0]] = result.outcomes[0]  # type: ignore[index]
        return [outcomes[number] for number in range(len(cases))]

    def timed(self, name: str, cases: Sequence[GraphCase]) -> Timing:
        """Run cases, and measure the CPU time of all processes."""
        self.run(cases[:1])  # starts a worker
        began = children_cpu_s()
        outcomes = self.run(cases)
        cpu_s = children_cpu_s() - began
        ran = [case for case, out in zip(cases, outcomes, strict=True) if isinstance(out, Passed)]
        return Timing(
            name=name,
            graphs=sum(map(graph_count, ran)),
            calls=sum(len(case.calls) for case in ran),
            refused=len(cases) - len(ran),
            cases=len(cases),
            cpu_s=cpu_s,
        )


def graph_count(case: GraphCase) -> int:
    """Return the number of graphs in a unit."""
    return len(graphs_in(case.steps))


def alone(unit: GraphCase) -> Iterator[GraphCase]:
    """Yield each graph of a unit as a case of its own."""
    outputs = set(unit.outputs)
    while outputs:
        part = connected_steps(unit.steps, min(outputs))
        mine = sorted(outputs & part)
        outputs -= part
        # Slices of all outputs of one part have the same steps, unless some are not needed.
        yield sliced(unit, mine[-1])


def speed(options: Namespace) -> int:
    """Print the speeds."""
    first = f"{options.target} {options.mode[0]}"
    with Bench(options.target) as bench, Bench(first) as compiler:
        made = bench.composition(compiler, options)
        timings = [bench.timed("eager", made.units * _EAGER_TIMES)]
    single = [graph for unit in made.units for graph in alone(unit)]
    for mode in options.mode:
        with Bench(f"{options.target} {mode}") as bench:
            timings.append(bench.timed(mode, made.units))
            timings.append(bench.timed(f"{mode}, one by one", single))
    print(f"composed: {made.composed / made.cpu_s:,.0f} graphs per CPU second")
    print(f"valid: {made.passed / made.attempted:.1%} of the calls of composed graphs run")
    print(f"refused: {made.refused} of {made.tried} units, by {options.mode[0]} while it learns")
    print_timings(timings)
    return 0


def print_timings(timings: Sequence[Timing]) -> None:
    """Print a row for each run; the first one is eager execution."""
    heads = f"{'graphs':>7}{'calls':>7}{'refused':>9}{'CPU s':>8}{'graphs/s':>10}{'calls/s':>9}"
    print(f"{'run':<24}{heads}{'compiling':>11}")
    eager = timings[0].cpu_s / max(1, timings[0].graphs)
    for item in timings:
        each = item.cpu_s / max(1, item.graphs)
        rates = f"{item.graphs / item.cpu_s:>10.2f}{item.calls / item.cpu_s:>9.1f}"
        refused = f"{item.refused}/{item.cases}"
        counts = f"{item.graphs:>7}{item.calls:>7}{refused:>9}{item.cpu_s:>8.1f}"
        print(f"{item.name:<24}{counts}{rates}{max(0.0, 1 - eager / each):>11.0%}")


# --- detection ------------------------------------------------------------------------------------


def planted(options: Namespace) -> int:
    """Plant the defects in groups, and print which are found."""
    wheel = shlex.quote(str(built_wheel("graph_defects")))
    chosen = [each for each in DEFECTS if not options.only or each.name in options.only]
    found: dict[str, list[Bucket]] = {}
    stray: list[Bucket] = []
    for start in range(0, len(chosen), options.group):
        group = chosen[start : start + options.group]
        for name, buckets in _found_in_group(group, wheel, options, start).items():
            (found.setdefault(name, []) if name else stray).extend(buckets)
    for defect in chosen:
        named = sorted({bucket.finding.api for bucket in found.get(defect.name, ())})
        print(f"{defect.name:<20}{'yes' if named else 'NO':<5}{defect.says:<50}{', '.join(named)}")
    count = sum(bool(found.get(defect.name)) for defect in chosen)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_min = (used.ru_utime + used.ru_stime) / 60
    print(f"\nfound: {count} of {len(chosen)} ({count / len(chosen):.0%}), {cpu_min:.1f} CPU min")
    print_buckets("named by no defect", stray)
    return int(count < options.recall * len(chosen))


def _found_in_group(
    group: Sequence[Defect], wheel: str, options: Namespace, number: int
) -> dict[str, list[Bucket]]:
    variables = f"GRAPH_DEFECTS={','.join(defect.name for defect in group)}"
    base = f"{options.target} + {wheel}"
    targets = (f"{base} {variables}", f"{base} compile {variables}")
    names = dict.fromkeys([*(defect.operators[0] for defect in group), "add", "mul", "exp"])
    globs = [("--api", f"torch.*{name}*") for name in names]
    with tempfile.TemporaryDirectory() as folder:
        out = (options.out or Path(folder)) / f"group{number}"
        buckets = campaign("graph", targets, options, out, globs)
    found: dict[str, list[Bucket]] = {}
    for bucket in buckets:
        found.setdefault(defect_named_by(bucket.finding.api, group), []).append(bucket)
    return found


def known(options: Namespace) -> int:
    """Print which differences of the list a campaign meets, and its other findings.

    A difference is met if a confirmed bucket is about one of its APIs; read the buckets, too.
    """
    causes = tomllib.loads(_KNOWN.read_text("utf-8"))["cause"]
    named = {name for cause in causes for name in cause["apis"]}
    target = parse_target(options.target)
    with Bench(options.target) as bench:
        records = bench.records()
    listed = [api for api in records if api.rpartition(".")[2] in named]
    others = random.Random(options.seed).sample(sorted({*records} - {*listed}), len(listed))
    globs = [("--api", api) for api in (*listed, *others)]
    with tempfile.TemporaryDirectory() as folder:
        out = (options.out or Path(folder)) / "known"
        buckets = campaign("graph", (target.name, f"{target.name} compile"), options, out, globs)
    apis = {bucket.finding.api.rpartition(".")[2] for bucket in buckets}
    met = [cause for cause in causes if not apis.isdisjoint(cause["apis"])]
    for cause in causes:
        print(f"{cause['name']:<30}{'yes' if cause in met else 'NO':<5}{cause['says']}")
    print(f"\nmet: {len(met)} of {len(causes)}")
    print_buckets("all findings", buckets)
    return 0


def same(options: Namespace) -> int:
    """Compare two equal targets; print their differences, which are false alarms.

    Graphs are composed on an eager target, so a mode has three targets.
    """
    modes = [f"{options.target} {mode}" for mode in options.mode or () for _ in range(2)]
    targets = (options.target, *(modes or [options.target]))
    with tempfile.TemporaryDirectory() as folder:
        out = (options.out or Path(folder)) / "same"
        buckets = campaign("graph", targets, options, out)
    confirmed = [
        bucket
        for bucket in buckets
        if bucket.confirmation is Confirmation.CONFIRMED and bucket.finding.pair is PairKind.SAME
    ]
    print_buckets(f"{targets[-1]}, twice", confirmed)
    return int(bool(confirmed))


def main() -> int:
    """Run one of the benchmarks; exit 1 if too little is found, or something where nothing is."""
    parser = planting_parser(__doc__, budget="5m", recall=0.9)
    parser.add_argument("what", choices=("speed", "planted", "known", "same"))
    parser.add_argument("--target", default="torch==2.13.0")
    parser.add_argument("--mode", action="append", help="mode to measure; more than once")
    parser.add_argument("--graphs", type=int, default=48, help="number of graphs, for speed")
    parser.add_argument("--apis", type=int, default=0, help="number of APIs, for speed; 0 for all")
    parser.add_argument("--calls", type=int, default=8, help="calls of a graph, for speed")
    parser.add_argument("--least", type=int, default=2, help="minimum number of calls, for speed")
    parser.add_argument("--unit", type=int, default=12, help="graphs of a unit, for speed")
    parser.add_argument("--group", type=int, default=10, help="defects that are planted together")
    options = parser.parse_args()
    if options.what == "speed":
        options.mode = options.mode or ["aot_eager", "compile"]
    chosen = {"speed": speed, "planted": planted, "known": known, "same": same}
    return chosen[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
