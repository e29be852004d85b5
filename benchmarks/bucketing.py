"""Buckets against root causes: does one cause make one bucket, and one bucket hold one cause?

    python benchmarks/bucketing.py [--cases 50] [--minimise 3] [--seed 0]

Known faults of a small library, most of them in native code, are hit by many different calls, in
two releases of it that are installed in two places each. Needs g++ and scikit-learn (the dependency
group `benchmarks`). Ends with 1 if homogeneity or completeness is below 0.98.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bucketing_causes import CAUSES, Cause
from sklearn.metrics import completeness_score, homogeneity_score

from ciguard.domain.outcomes import Crashed
from ciguard.errors import WorkerStartError
from ciguard.execution import DebuggerRun, Dispatcher, Job, Limits, WorkerSpec, find_debugger
from ciguard.oracles import Identity, Subject, judge
from ciguard.oracles.relations import encode
from ciguard.triage import Buckets, Minimiser, cause_of, fingerprint, native_frames

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding

SOURCE = Path(__file__).parent / "faulty"
RELEASES = ("1", "2")
PLACES = ("site", "elsewhere/deeper")
WANTED = 0.98
_LIMITS = Limits(case_s=0.5, memory_mib=256)
_TRACE_S = 60.0


@dataclass(slots=True)
class Met:
    """Everything that was found, and the cause that was meant."""

    findings: list[tuple[Cause, Finding]] = field(default_factory=list)
    silent: list[tuple[Cause, Case]] = field(default_factory=list)
    """Calls that showed nothing."""


def install(folder: Path) -> dict[str, WorkerSpec]:
    """Build both releases in both places; return how workers run them."""
    specs = {}
    for place in PLACES:
        package = folder / place / "faulty"
        shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
        for release in RELEASES:
            name = f"faulty=={release}.0 in {place}"
            # The path of the source ends up in the text of failed checks.
            built = ["g++", "-O1", "-g0", "-shared", "-fPIC", f"-DVERSION={release}"]
            built += ["-o", str(package / f"libfaulty{release}.so"), str(package / "kernels.cc")]
            subprocess.run(built, check=True)
            specs[name] = WorkerSpec(
                name=name,
                python=Path(sys.executable),
                adapter=package / "adapter.py",
                variables={"PYTHONPATH": str(package.parent), "FAULTY_VERSION": release},
                readable=(Path(sys.prefix), Path(sys.base_prefix), package.parent),
                warm_up=True,
                limits=_LIMITS,
            )
    return specs


def subject_of(api: str, specs: Iterable[str]) -> Subject:
    """Return what the oracles need to know of an API."""
    identities = {
        name: Identity(
            request=name, packages=(name.partition(" ")[0],), version=name[8:11], device="cpu"
        )
        for name in specs
    }
    return Subject(library="faulty", api=api, targets=identities)


def meet(dispatcher: Dispatcher, options: argparse.Namespace) -> Met:
    """Run every cause's calls: both releases of one place side by side, as a campaign does."""
    rng = random.Random(options.seed)
    cases = [(cause, cause.case(rng)) for cause in CAUSES for _ in range(options.cases)]
    pairs = [[f"faulty=={release}.0 in {place}" for release in RELEASES] for place in PLACES]
    outcomes: dict[int, dict[str, object]] = defaultdict(dict)
    for number, (_, case) in enumerate(cases):
        for name in pairs[number % 2]:
            dispatcher.add(Job(name, number, (encode(case),)))
    while not dispatcher.is_idle:
        for result in dispatcher.wait(1.0):
            outcomes[int(str(result.job.key))][result.job.target] = result.outcomes[0]
    met = Met()
    for number, (cause, case) in enumerate(cases):
        seen = outcomes[number]
        in_order = {name: seen[name] for name in pairs[number % 2]}
        found = judge(case, in_order, subject_of(case.api, in_order))  # type: ignore[arg-type]
        met.findings += [(cause, _shown_by(one, number)) for one in found]
        if not found:
            met.silent.append((cause, case))
    return met


def _shown_by(finding: Finding, number: int) -> Finding:
    """Where both releases show a fault, let either stand for it: evidence is the first target's."""
    targets = finding.targets if number % 4 < 2 or finding.pair else finding.targets[::-1]
    return replace(finding, targets=targets)


def print_scores(met: Met, linked: Mapping[str, str]) -> bool:
    """Print how buckets and causes agree; return whether it is well enough."""
    causes = [cause.name for cause, _ in met.findings]
    faults = [cause.fault for cause, _ in met.findings]
    keys = [fingerprint(finding).key for _, finding in met.findings]
    groups = [linked[key] for key in keys]
    print(f"\n{len(CAUSES)} causes, {len(met.findings)} findings, {len(set(keys))} buckets")
    silent = Counter(cause.name for cause, _ in met.silent)
    print(f"{len(met.silent)} calls showed nothing {dict(silent) or ''}\n")
    print(f"{'':<34}{'homogeneity':>12}{'completeness':>14}")
    scores = []
    for title, truth, labels in (
        ("buckets, per cause and API", causes, keys),
        ("buckets, per native fault", faults, keys),
        ("causes, per native fault", faults, groups),
    ):
        pair = homogeneity_score(truth, labels), completeness_score(truth, labels)
        print(f"{title:<34}{pair[0]:>12.4f}{pair[1]:>14.4f}")
        scores.append(pair)
    return bool(min(scores[0]) >= WANTED)


def print_mistakes(met: Met) -> None:
    """Print which causes share a bucket, and which have several."""
    by_key: dict[str, set[str]] = defaultdict(set)
    by_cause: dict[str, dict[str, Finding]] = defaultdict(dict)
    for cause, finding in met.findings:
        key = fingerprint(finding).key
        by_key[key].add(cause.name)
        by_cause[cause.name][key] = finding
    for key, names in by_key.items():
        if len(names) > 1:
            print(f"one bucket {key} for: {'; '.join(sorted(names))}")
    for name, shown in by_cause.items():
        if len(shown) > 1:
            print(f"{len(shown)} buckets for {name}:")
            for finding in shown.values():
                print(f"   {dict(fingerprint(finding).grouping[2:])}")


def link(buckets: Buckets, specs: Mapping[str, WorkerSpec]) -> dict[str, str]:
    """Return the name of the cause of every bucket, with its native stack known."""
    debugger = find_debugger()
    seen = []
    for bucket in buckets.sorted():
        name = bucket.finding.targets[0]
        if debugger and isinstance(bucket.finding.outcomes[name], Crashed):
            case = encode(bucket.finding.case)
            with DebuggerRun(specs[name], case, debugger=debugger) as run:
                frames = run.trace(_TRACE_S).frames
            bucket = replace(bucket, native_stack=native_frames(frames))  # noqa: PLW2901
        seen.append(bucket)
    print(f"{sum(bool(b.native_stack) for b in seen)} native stacks by {debugger or 'nobody'}")
    return {bucket.fingerprint: cause_of(bucket).name for bucket in seen}


def minimised(dispatcher: Dispatcher, findings: list[Finding]) -> Iterator[tuple[Finding, Finding]]:
    """Yield findings with their simplest forms."""
    minimiser = Minimiser(
        dispatcher,
        repetitions=2,
        subject_of=lambda finding: subject_of(finding.api, finding.outcomes),
    )
    for finding in findings:
        simplest = finding
        minimiser.propose(fingerprint(finding).key, finding)
        while not minimiser.is_idle:
            minimiser.pump()
            for result in dispatcher.wait(1.0):
                for simpler in minimiser.take(result):
                    simplest = simpler
        yield finding, simplest


def print_sizes(dispatcher: Dispatcher, met: Met, each: int) -> None:
    """Minimise some findings of every cause and print what is left of them."""
    chosen: dict[str, list[Finding]] = defaultdict(list)
    for cause, finding in met.findings:
        is_hang = finding.oracle == "hang"  # each variant costs its whole limit
        if len(chosen[cause.name]) < (min(1, each) if is_hang else each):
            chosen[cause.name].append(finding)
    listed = [finding for findings in chosen.values() for finding in findings]
    pairs = list(minimised(dispatcher, listed))
    sizes = [[(_bytes(one), _parameters(one)) for one in pair] for pair in pairs]
    print(f"\n{len(pairs)} reproducers, median (largest), before → after minimising")
    for title, place in (("bytes", 0), ("parameters", 1)):
        old, new = ([size[when][place] for size in sizes] for when in (0, 1))
        print(
            f"{title:<12}{statistics.median(old):>6g} ({max(old)}) → "
            f"{statistics.median(new):g} ({max(new)})"
        )


def _bytes(finding: Finding) -> int:
    return len(encode(finding.case))


def _parameters(finding: Finding) -> int:
    case = finding.case
    return len(case.values)


def main() -> int:
    """Run the benchmark; exit 1 if buckets and causes do not agree well enough."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=50, help="calls per cause")
    parser.add_argument("--minimise", type=int, default=3, help="calls per cause; 0 for none")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faulty-") as folder, Dispatcher() as dispatcher:
        specs = install(Path(folder))
        for started in dispatcher.start(specs.values()).values():
            if isinstance(started, WorkerStartError):
                raise started
        met = meet(dispatcher, options)
        print(f"met in {time.monotonic() - began:.0f} s")
        buckets = Buckets()
        for _, finding in met.findings:
            buckets.add(finding)
        is_good = print_scores(met, link(buckets, specs))
        print_mistakes(met)
        if options.minimise:
            print_sizes(dispatcher, met, options.minimise)
    print(f"{time.monotonic() - began:.0f} s")
    return int(not is_good)


if __name__ == "__main__":
    sys.exit(main())
