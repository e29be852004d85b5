"""Isolation: 200 planted deaths among 20,000 good cases, each blamed on the right case and kind.

    python benchmarks/isolation.py

Uses the planted library of the tests (`tests/planted`) in this interpreter's environment.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import case_to_json
from ciguard.domain.outcomes import Crashed, Exhausted, Hung, Outcome, Passed
from ciguard.domain.values import LiteralValue, TensorValue, Uniform
from ciguard.execution import Dispatcher, Job, Limits, WorkerSpec

PLANTED = Path(__file__).parent.parent / "tests" / "planted"
BATCH = 100

EXPECTED: dict[str, tuple[type[Outcome], str]] = {
    "SIGSEGV": (Crashed, "SIGSEGV"),
    "SIGABRT": (Crashed, "SIGABRT"),
    "SIGFPE": (Crashed, "SIGFPE"),
    "SIGKILL": (Crashed, "SIGKILL"),
    "exit": (Crashed, "exit 3"),
    "loop": (Hung, ""),
    "memory": (Exhausted, "memory"),
    "flood": (Exhausted, "output"),
    "gibibyte": (Exhausted, "output"),
    "fork bomb": (Hung, ""),
}
"""What each planted end must be reported as: type, and cause or resource."""


def good(number: int) -> ApiCall:
    """Return a case that passes."""
    tensor = TensorValue("float32", (2, 3), Uniform(number, -1.0, 1.0))
    return ApiCall(api="planted.double", kind=CallKind.FUNCTION, arguments=(tensor,), seed=number)


def deadly(how: str) -> ApiCall:
    """Return a case that ends its worker."""
    return ApiCall(api="planted.meet", kind=CallKind.FUNCTION, arguments=(LiteralValue(how),))


def as_expected(how: str, outcome: Outcome) -> bool:
    """Return whether a planted end was recognised for what it is."""
    kind, detail = EXPECTED[how]
    if not isinstance(outcome, kind):
        return False
    match outcome:
        case Crashed(cause):
            return cause == detail
        case Exhausted(resource):
            return resource.value == detail
        case _:
            return True


def main() -> int:
    """Run the benchmark; exit 0 when nothing was lost and nobody wrongly blamed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--good", type=int, default=20_000)
    parser.add_argument("--deaths", type=int, default=200)
    parser.add_argument("--lanes", type=int, default=2)
    options = parser.parse_args()
    ends = list(EXPECTED)
    planted = [ends[i % len(ends)] for i in range(options.deaths)]
    plan: list[str] = [""] * options.good + planted
    random.Random(0).shuffle(plan)
    cases = [deadly(how) if how else good(number) for number, how in enumerate(plan)]
    encoded = [json.dumps(case_to_json(case)).encode() for case in cases]

    spec = WorkerSpec(
        name="planted",
        python=Path(sys.executable),
        adapter=PLANTED / "ciguard_planted" / "adapter.py",
        readable=(Path(sys.prefix), Path(sys.base_prefix), PLANTED),
        limits=Limits(case_s=2.0, memory_mib=256),
    )
    outcomes: dict[int, tuple[Outcome, ...]] = {}
    with Dispatcher(lanes=options.lanes) as dispatcher:
        started = dispatcher.start([spec])["planted"]
        if isinstance(started, Exception):
            raise started
        began = time.monotonic()
        for start in range(0, len(encoded), BATCH):
            dispatcher.add(Job("planted", start, tuple(encoded[start : start + BATCH])))
        while not dispatcher.is_idle:
            for result in dispatcher.wait(1.0):
                outcomes[int(str(result.job.key))] = result.outcomes
        elapsed_s = time.monotonic() - began
        confined_by = ", ".join(started.confined_by)

    met = [outcome for start in sorted(outcomes) for outcome in outcomes[start]]
    right: Counter[str] = Counter()
    wrong = []
    blamed = 0
    for how, outcome in zip(plan, met, strict=True):
        if not how:
            blamed += not isinstance(outcome, Passed)
        elif as_expected(how, outcome):
            right[how] += 1
        else:
            wrong.append((how, outcome))
    print(f"cases {len(met):,} in {elapsed_s:.1f} s, {options.lanes} lanes, held by {confined_by}")
    for how in ends:
        print(f"  {how:<10} {right[how]:>4} of {planted.count(how)} recognised")
    print(f"deaths attributed to the right case and kind: {sum(right.values())} of {len(planted)}")
    print(f"good cases lost or blamed: {len(cases) - len(met) + blamed} of {options.good:,}")
    for how, outcome in wrong[:10]:
        print(f"  wrong: {how}: {str(outcome)[:160]}")
    return int(bool(wrong or blamed or len(met) != len(cases)))


if __name__ == "__main__":
    sys.exit(main())
