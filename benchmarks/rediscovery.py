"""Rediscovery: distinct crashes of an old release, guided generation beside plain random calls.

    python benchmarks/rediscovery.py [--target tensorflow-cpu==2.12.0] [--cases 100000] [--seed 0]

All generators call the same APIs in the same engine, the same number of cases in all: plain random
calls, calls by the documentation alone, and those that also learn from outcomes. A crash
counts when it shows again in a fresh worker; crashes with one fingerprint are one bucket.
DocTer: 94 bugs with constraints, 59 without, from the same number of inputs: 1.6 times as many.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from documented import DocumentedLevel
from one_target import OneTarget
from unguided import UnguidedLevel

from ciguard.domain.findings import Confirmation
from ciguard.domain.outcomes import Crashed
from ciguard.execution import Dispatcher
from ciguard.levels import EXCLUDED_TAGS, select
from ciguard.levels.api.level import ApiLevel
from ciguard.oracles import judge
from ciguard.triage import Confirmer, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.domain.findings import Finding
    from ciguard.domain.records import ApiRecord
    from ciguard.execution import JobResult
    from ciguard.levels import Level
    from ciguard.oracles import Subject
    from ciguard.triage import ConfirmationResult

HARMFUL = frozenset({"files", "network", "process", "global-state", "blocking", "debug"})
GENERATORS: dict[str, Callable[[Sequence[ApiRecord], int], Level]] = {
    "unguided": UnguidedLevel,
    "documented": DocumentedLevel,
    "guided": ApiLevel,
}
GLOBS = {"tensorflow": ("tensorflow.raw_ops.*",)}
CRASH = "crash"


@dataclass
class Found:
    """What one generator has found."""

    cases: int = 0
    cpu_s: float = 0.0
    buckets: dict[str, Finding] = field(default_factory=dict)
    proposed: set[str] = field(default_factory=set)

    @property
    def apis(self) -> set[str]:
        """The APIs that crash."""
        return {finding.api for finding in self.buckets.values()}

    def settle(self, settled: Iterable[ConfirmationResult]) -> None:
        """Count what showed again."""
        for one in settled:
            if one.confirmation is Confirmation.CONFIRMED:
                self.buckets[fingerprint(one.finding).key] = one.finding


def hunt(name: str, options: argparse.Namespace) -> Found:
    """Run one generator for its number of cases."""
    with Dispatcher() as dispatcher:
        target = OneTarget(options.target, dispatcher)
        apis = chosen(target, options.api)
        group, found = target.group(), Found()
        confirmer = Confirmer(
            dispatcher, repetitions=1, subject_of=lambda finding: group.subject(finding.api)
        )

        def take(result: JobResult) -> bool:
            if result.job.key[0] != Confirmer.KEY:  # type: ignore[index]  # keys of ours are tuples
                return False
            found.settle(confirmer.take(result))
            return True

        began = target.cpu_s()
        for executed in target.run(
            GENERATORS[name](apis, options.seed), 0, apis=len(apis), aside=take
        ):
            found.cases += len(executed.cases)
            for finding in crashes(executed, target.name, group.subject(executed.api)):
                key = fingerprint(finding).key
                if key not in found.proposed:
                    found.proposed.add(key)
                    confirmer.propose(key, finding)
            confirmer.pump()
            if found.cases >= options.cases:
                break
        found.cpu_s = target.cpu_s() - began
        dispatcher.clear_queue()
        while not confirmer.is_idle:
            confirmer.pump()
            for result in dispatcher.wait(1.0):
                take(result)
    return found


def chosen(target: OneTarget, globs: Sequence[str]) -> tuple[ApiRecord, ...]:
    """Return the APIs that both generators call."""
    wanted = globs or GLOBS.get(target.library, ("*",))
    return select(target.records.values(), wanted, allow=EXCLUDED_TAGS - HARMFUL)


def crashes(executed: ExecutedBatch, target: str, subject: Subject) -> Iterable[Finding]:
    """Yield the findings of a batch that are crashes."""
    for case, outcome in zip(executed.cases, executed.outcomes[target], strict=True):
        if isinstance(outcome, Crashed):
            for finding in judge(case, {target: outcome}, subject):
                if finding.oracle == CRASH:
                    yield finding


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="tensorflow-cpu==2.12.0")
    parser.add_argument("--api", action="append", default=[], help="glob; repeatable")
    parser.add_argument("--cases", type=int, default=100_000, help="per generator")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--generator", dest="generators", action="append", choices=GENERATORS)
    options = parser.parse_args()
    print(f"{options.target}, {options.cases:,} cases each, seed {options.seed}")
    print(f"{'':10}{'cases':>10}{'CPU s':>8}{'crash buckets':>15}{'crashing APIs':>15}")
    found = {}
    for name in options.generators or GENERATORS:
        one = found[name] = hunt(name, options)
        buckets, apis = len(one.buckets), len(one.apis)
        print(f"{name:10}{one.cases:>10,}{one.cpu_s:>8.0f}{buckets:>15}{apis:>15}", flush=True)
    if not {"unguided", "guided"} <= set(found):
        return 0
    unguided, guided = found["unguided"], found["guided"]
    print(
        f"guided finds {len(guided.buckets) / max(1, len(unguided.buckets)):.2f} times as many "
        f"buckets (DocTer 1.6), in {len(guided.apis) / max(1, len(unguided.apis)):.2f} times as "
        f"many APIs; {len(set(guided.buckets) & set(unguided.buckets))} are met by both"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
