"""Runs to make reports of: one full of hostile texts, one of any size."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from finding_examples import TARGET, call, crash, pair
from layer_findings import layer_case

from ciguard.domain.causes import Cause
from ciguard.domain.events import (
    BatchFinished,
    BucketHistory,
    Event,
    RunFinished,
    RunStarted,
    TargetUnavailable,
    Warned,
)
from ciguard.domain.findings import (
    Bucket,
    Comparison,
    Confirmation,
    Evidence,
    Finding,
    Severity,
    Tally,
    TargetSummary,
    Verdict,
)
from ciguard.domain.models import GraphOrigin
from ciguard.domain.outcomes import Crashed, Errored, Frame, Passed
from ciguard.domain.plan import PackageChange, Place, Plan, PlanMode, SkippedJob
from ciguard.reports import REPORTERS, Destination

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

BOUND = "PWNED"
HOSTILE = (
    f"</script><script>alert('{BOUND}')</script><img src=x onerror=alert('{BOUND}')>"
    f"<svg onload=alert('{BOUND}')></style></title><!--<script>]]>"
    f"\" onmouseover='alert(1)' ](javascript:alert(1)) @everyone ${{{{ secrets.X }}}} {{{{ 7*7 }}}}"
    " \x1b[31m\x00\u202e\u2028\ud800 ```\n::set-output name=x::1\r\n"
)
"""What a fuzzed library, a pull request or somebody else's file may say."""


def bucket(number: int, finding: Finding, **changes: object) -> Bucket:
    made = Bucket(
        fingerprint=f"v1:{number:08x}{0:08x}",
        grouping=(("symptom", finding.kind), ("api", finding.api)),
        finding=finding,
        confirmation=Confirmation.CONFIRMED,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # fields by name


def target(name: str = TARGET, **changes: object) -> TargetSummary:
    summary = TargetSummary(
        name=name,
        library="torch",
        version="2.13.0",
        python="3.11.7",
        device="cpu",
        packages={},
        confined_by=("landlock",),
        apis=100,
        tally=Tally(passed=90, crashed=10),
    )
    return replace(summary, **changes)  # type: ignore[arg-type]  # fields by name


def run_of(buckets: Iterable[Bucket], **changes: object) -> list[Event]:
    """Return the events of a run that ends with these buckets."""
    end = RunFinished(
        verdict=Verdict.NEW_FINDINGS,
        exit_code=1,
        summary="2 new of severity medium or above, 1 known.",
        targets=(target(),),
        buckets=tuple(buckets),
        stages={"explore": 12.0},
        apis_exercised={TARGET: 80},
        parameters={"issues": "github:owner/name"},
    )
    end = replace(end, **changes)  # type: ignore[arg-type]  # fields by name
    batch = BatchFinished(target=TARGET, api="torch.fold", counts={"passed": 50}, elapsed_s=2.0)
    return [started(), batch, end]


def started(plan: Plan | None = None) -> RunStarted:
    return RunStarted(
        targets=(TARGET,), levels=("api",), seed=7, budget_s=60.0, jobs=1, out="out", plan=plan
    )


def many(count: int) -> list[Bucket]:
    """Return buckets of every state and severity."""
    states = list(Comparison)
    made = []
    for number in range(count):
        tested = call(api=f"torch.nn.functional.operator_{number}")
        found = replace(crash(f"check {number} failed", case=tested), severity=Severity(number % 5))
        made.append(bucket(number, found, comparison=states[number % len(states)]))
    return made


def hostile_events() -> list[Event]:
    """Return a run in which everything that others can write is hostile."""
    frame = Frame(HOSTILE, HOSTILE)
    evidence = Evidence(expected=HOSTILE, observed=HOSTILE, law=HOSTILE, source=HOSTILE)
    origin = GraphOrigin(
        model=HOSTILE,
        mutations=(HOSTILE,) * 50,
        deviations=((HOSTILE, float("inf")), ("layer", float("nan")), ("other", -1.0)),
        suspect=HOSTILE,
    )
    found = replace(
        pair(Passed(b"[1]", 0.1), Errored(HOSTILE, HOSTILE, (frame,))),
        oracle=HOSTILE,
        kind=HOSTILE,
        library=HOSTILE,
        api=HOSTILE,
        case=replace(layer_case(origin), api=HOSTILE),
        message=HOSTILE,
        evidence=evidence,
        targets=(HOSTILE, TARGET),
        outcomes={
            HOSTILE: Crashed(HOSTILE, (frame,), HOSTILE),
            TARGET: Errored(HOSTILE, HOSTILE, (frame,)),
        },
    )
    worst = bucket(
        1,
        found,
        fingerprint=f"v1:{HOSTILE}",
        grouping=((HOSTILE, HOSTILE),),
        aliases=(HOSTILE,),
        cause=Cause(name=HOSTILE, kind=HOSTILE, text=HOSTILE),
        native_stack=(frame,),
        reproducer="reproducers/hostile.py",
        issue=HOSTILE,
    )
    plan = Plan(
        mode=PlanMode.PULL_REQUEST,
        reasons=(HOSTILE,),
        changes=(
            PackageChange(package=HOSTILE, base=HOSTILE, head=None, place=Place(path="a", line=1)),
        ),
        skipped=(SkippedJob(name=HOSTILE, targets=(HOSTILE,), device=HOSTILE, reason=HOSTILE),),
        focus=(HOSTILE,),
        uses={HOSTILE: (Place(path=HOSTILE, line=3),)},
    )
    known = BucketHistory(
        first_seen="2026-01-01T00:00:00Z",
        last_seen="2026-01-02T00:00:00Z",
    )
    *_, end = run_of(
        [worst],
        summary=HOSTILE,
        targets=(target(HOSTILE, version=HOSTILE), target(f"2 {HOSTILE}", not_run=HOSTILE)),
        history={worst.fingerprint: known},
        parameters={"issues": HOSTILE},
    )
    return [
        started(plan),
        BatchFinished(target=HOSTILE, api=HOSTILE, counts={"passed": 9}, elapsed_s=2.0),
        Warned(message=HOSTILE),
        TargetUnavailable(target=f"3 {HOSTILE}", reason=HOSTILE),
        end,
    ]


def write_report(events: list[Event], folder: Path) -> Path:
    """Write `report.html` of a run and return its path."""
    reporter = REPORTERS.get("html")(Destination(folder=folder, stream=io.StringIO()))
    for event in events:
        reporter.receive(event)
    reporter.close()
    return folder / "report.html"
