"""Validity: how many APIs are understood well enough to be called, beside plain random calls.

    python benchmarks/validity.py [--target torch==2.13.0 …] [--cases 200] [--sample N --seed S]

For each library: the APIs in the catalogue, how many of them take part, the share of those with at
least one constraint, the share that passed at least once within so many cases, and the mean share
of conforming inputs that pass; beside calls by the documentation alone, without feedback, and
unguided random calls of the same APIs, through the same engine.
DocTer: 33.4 % of conforming inputs pass, 21.5 % of unguided ones.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from documented import DocumentedLevel
from one_target import OneTarget
from unguided import UnguidedLevel

from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.execution import Dispatcher
from ciguard.knowledge import understand
from ciguard.knowledge.clues import ClueSource
from ciguard.levels import EXCLUDED_TAGS, Level, select
from ciguard.levels.api.level import ApiLevel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord

TARGETS = ("torch==2.13.0", "tensorflow-cpu==2.21.0", "keras==3.15.1[jax]", "jittor==1.3.11.0")
PER_BATCH = 20
MESSAGE_WIDTH = 160
WRAPPING = re.compile(r"\{\{.*?\}\} ?|\x1b\[\d*m|Exception encountered when calling \S+\.")
"""What TensorFlow and Keras put before the message itself."""


@dataclass
class Record:
    """What came of the cases of one API."""

    cases: int = 0
    passed: int = 0
    conforming: int = 0
    conforming_passed: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)

    def note(self, intent: Intent, outcome: Outcome) -> None:
        """Count one case."""
        passed = isinstance(outcome, Passed)
        self.cases += 1
        self.passed += passed
        self.statuses[type(outcome).__name__.lower()] += 1
        if intent is Intent.CONFORMING:
            self.conforming += 1
            self.conforming_passed += passed
            if isinstance(outcome, Rejected):
                words = " ".join(WRAPPING.sub("", outcome.message).split())
                self.messages[f"{outcome.exception}: {words[:MESSAGE_WIDTH]}"] += 1


@dataclass
class Validity:
    """What one generator reached over all APIs of one library."""

    by_api: dict[str, Record]
    seconds: float

    @property
    def ever_passed(self) -> float:
        """Share of the APIs that passed at least once."""
        return mean(float(record.passed > 0) for record in self.by_api.values())

    @property
    def conforming_passed(self) -> float:
        """Mean over the APIs of the share of conforming inputs that passed."""
        called = [record for record in self.by_api.values() if record.conforming]
        return mean(record.conforming_passed / record.conforming for record in called)

    @property
    def cases(self) -> int:
        """Cases that were executed."""
        return sum(record.cases for record in self.by_api.values())


def mean(numbers: Iterable[float]) -> float:
    """Return the mean; 0 of nothing."""
    every = list(numbers)
    return sum(every) / len(every) if every else 0.0


def measured(
    target: OneTarget, level: Level, apis: Sequence[ApiRecord], options: argparse.Namespace
) -> Validity:
    """Run a level for about so many cases per API, or until the time is over."""
    by_api = {record.api: Record() for record in apis}
    began = time.monotonic()
    until = began + 60 * options.minutes if options.minutes else float("inf")
    for executed in target.run(level, options.cases // PER_BATCH * len(apis), apis=len(apis)):
        _count(by_api[executed.api], executed, target.name)
        if time.monotonic() > until:
            break
    return Validity(by_api, time.monotonic() - began)


def _count(record: Record, executed: ExecutedBatch, target: str) -> None:
    for case, outcome in zip(executed.cases, executed.outcomes[target], strict=True):
        record.note(case.intent, outcome)


def sources(record: ApiRecord) -> set[ClueSource]:
    """Return who says what the API accepts."""
    parameters = understand(record).parameters
    return {evidence.source for parameter in parameters for evidence in parameter.evidence}


def left_out(records: Iterable[ApiRecord]) -> str:
    """Return how many APIs are not called, by the tag that says why."""
    counts = Counter(tag for record in records for tag in sorted(EXCLUDED_TAGS & record.tags)[:1])
    return ", ".join(f"{tag} {count}" for tag, count in counts.most_common())


def print_library(target: OneTarget, options: argparse.Namespace) -> None:
    """Measure and print one library."""
    records = list(target.records.values())
    taking_part = select(records, options.api)
    with_parameters = [record for record in taking_part if record.parameters or record.inputs]
    known = [sources(record) for record in with_parameters]
    by_any = mean(float(bool(said)) for said in known)
    by_more = mean(float(bool(said - {ClueSource.NAME})) for said in known)
    apis = sampled(taking_part, options.sample, options.seed)
    print(f"\n{target.name}")
    print(f"  APIs in the catalogue            {len(records):>7,}")
    print(f"  called                           {len(taking_part):>7,}  ({left_out(records)})")
    print(f"  of those without parameters      {len(taking_part) - len(with_parameters):>7,}")
    print(f"  with at least one constraint     {by_any:>7.1%}  of those with parameters")
    print(f"    from more than parameter names {by_more:>7.1%}")
    print(f"  measured                         {len(apis):>7,}  APIs", flush=True)
    guided = measured(target, ApiLevel(apis, options.seed, sizes=(PER_BATCH,)), apis, options)
    print_measure("ciguard", guided)
    if not options.guided_only:
        documented = DocumentedLevel(apis, options.seed, cases_per_batch=PER_BATCH)
        print_measure("documented", measured(target, documented, apis, options))
        unguided = UnguidedLevel(apis, options.seed, cases_per_batch=PER_BATCH)
        print_measure("unguided", measured(target, unguided, apis, options))
    if options.failures:
        print_failures(guided, options.failures)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        write(guided, options.out / f"{target.library}.jsonl")


def sampled(apis: Sequence[ApiRecord], count: int, seed: int) -> list[ApiRecord]:
    """Return a random sample in the order of the names; all where none is asked for."""
    if not count or count >= len(apis):
        return list(apis)
    drawn = random.Random(seed).sample(range(len(apis)), count)
    return [apis[place] for place in sorted(drawn)]


def print_measure(name: str, found: Validity) -> None:
    """Print what one generator reached."""
    print(
        f"  {name:<10} passed at least once  {found.ever_passed:>7.1%}   "
        f"conforming inputs that pass {found.conforming_passed:>6.1%}   "
        f"({found.cases:,} cases, {found.seconds:.0f} s)",
        flush=True,
    )


def print_failures(found: Validity, count: int) -> None:
    """Print the APIs that never passed, by their most common rejection."""
    never = {api: record for api, record in found.by_api.items() if not record.passed}
    print(f"  {len(never)} never passed:")
    reasons: dict[str, list[str]] = {}
    for api, record in never.items():
        most_common = record.messages.most_common(1)
        reason = most_common[0][0] if most_common else str(dict(record.statuses))
        reasons.setdefault(reason, []).append(api)
    by_size = sorted(reasons.items(), key=lambda item: -len(item[1]))
    for reason, apis in by_size[:count]:
        print(f"    {len(apis):4} {reason}  e.g. {', '.join(apis[:3])}")


def write(found: Validity, path: Path) -> None:
    """Write one JSON line per API."""
    lines = [
        json.dumps(
            {
                "api": api,
                "cases": record.cases,
                "passed": record.passed,
                "conforming": record.conforming,
                "conforming_passed": record.conforming_passed,
                "statuses": record.statuses,
                "messages": record.messages.most_common(5),
            }
        )
        for api, record in found.by_api.items()
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", dest="targets", action="append", default=[])
    parser.add_argument("--api", action="append", default=[], help="glob; repeatable")
    parser.add_argument("--cases", type=int, default=200, help="per API")
    parser.add_argument("--minutes", type=float, default=0, help="most time per generator")
    parser.add_argument("--sample", type=int, default=0, help="so many APIs, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--guided-only", action="store_true")
    parser.add_argument("--failures", type=int, default=0, help="print so many kinds of refusal")
    parser.add_argument("--out", type=Path, help="write what came of every API into this folder")
    options = parser.parse_args()
    options.api = options.api or ["*"]
    for text in options.targets or TARGETS:
        with Dispatcher() as dispatcher:
            print_library(OneTarget(text, dispatcher), options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
