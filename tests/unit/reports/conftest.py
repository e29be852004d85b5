"""A recorded run with all that a report has to show, including hostile text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.events import (
    BatchFinished,
    BucketFlaky,
    BucketOpened,
    Event,
    FirstPassFinished,
    Provisioning,
    RunFinished,
    RunStarted,
    StageFinished,
    TargetReady,
    TargetUnavailable,
    Warned,
)
from ciguard.domain.findings import (
    Bucket,
    Comparison,
    Confirmation,
    Finding,
    PairKind,
    Severity,
    Tally,
    TargetSummary,
    Verdict,
)
from ciguard.domain.outcomes import Crashed, Errored, Frame, Hung, Outcome, Passed, Rejected
from ciguard.domain.plan import PackageChange, Place, Plan, PlanMode, SkippedJob
from ciguard.domain.values import LiteralValue

if TYPE_CHECKING:
    from collections.abc import Callable

TORCH = "torch==2.13.0"
OLD = "tensorflow-cpu==2.12.0"
NEW = "tensorflow-cpu==2.21.0"
CUDA = "torch==2.13.0@cuda"

HOSTILE = (
    "dims\n::set-output name=verdict::clean\r\n##[add-mask]x @everyone #1 </details><script>"
    " | `tick` ``` [red]bold[/red] [link](http://x) \x1b[2J\x1b[31m\x00 \u202eevil\ud800 \ufffe"
)
"""Text that a fuzzed message may hold."""


def _finding(api: str, outcomes: dict[str, Outcome], **changes: object) -> Finding:
    finding = Finding(
        oracle="crash",
        kind="signal",
        severity=Severity.CRITICAL,
        library="torch" if api.startswith("torch") else "tensorflow",
        api=api,
        case=ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(LiteralValue(1),)),
        outcomes=outcomes,
        targets=tuple(outcomes)[:1],
        message="SIGSEGV",
    )
    return replace(finding, **changes)  # type: ignore[arg-type]  # fields by name


def _bucket(number: int, finding: Finding, **changes: object) -> Bucket:
    bucket = Bucket(
        fingerprint=f"v1:{number:08x}00000000",
        grouping=(("symptom", finding.kind), ("api", finding.api)),
        finding=finding,
        confirmation=Confirmation.CONFIRMED,
        reproducer=f"reproducers/{number:08x}.py",
        reproduced=True,
    )
    return replace(bucket, **changes)  # type: ignore[arg-type]  # fields by name


CRASH = _bucket(
    0xABCD0001,
    _finding(
        "tf.raw_ops.MaxPool3D",
        {
            OLD: Crashed("SIGABRT", (Frame("tensorflow/ops.py", "max_pool"),), log=HOSTILE),
            NEW: Rejected("InvalidArgumentError", "ksize must be positive"),
        },
        message="SIGABRT: Check failed: d < dims() (4 vs. 4)",
    ),
)
CRASHES = tuple(
    _bucket(
        0xABCE0000 + number,
        _finding(f"tf.raw_ops.Op{number}", {OLD: Crashed("SIGSEGV"), NEW: Crashed("SIGSEGV")}),
    )
    for number in range(9)
)
HOSTILE_ERROR = _bucket(
    0xABCD0002,
    _finding(
        "torch.nn.functional.conv2d",
        {TORCH: Errored("RuntimeError", HOSTILE, (Frame("torch/x.py", "f"),))},
        oracle="error",
        kind="internal",
        severity=Severity.HIGH,
        message=HOSTILE,
    ),
)
DIFFERENCE = _bucket(
    0xABCD0003,
    _finding(
        "tf.math.divide_no_nan",
        {OLD: Passed(b"[1]", 0.1), NEW: Passed(b"[2]", 0.1)},
        oracle="differential",
        kind="values",
        severity=Severity.HIGH,
        targets=(OLD, NEW),
        pair=PairKind.VERSION,
        message="largest relative error 0.5",
    ),
    comparison=Comparison.KNOWN,
)
LOW = _bucket(
    0xABCD0004,
    _finding(
        "torch.add",
        {TORCH: Rejected("TypeError", "no")},
        oracle="differential",
        kind="exception",
        severity=Severity.LOW,
        message="TypeError instead of ValueError",
    ),
)
HANG = _bucket(
    0xABCD0005,
    _finding(
        "torch.unique", {TORCH: Hung(5.0)}, kind="hang", severity=Severity.HIGH, message="hang"
    ),
    comparison=Comparison.FIXED,
)
FLAKY = _bucket(
    0xABCD0006,
    _finding("torch.rand", {TORCH: Crashed("SIGBUS")}, message="SIGBUS"),
    comparison=Comparison.FLAKY,
    confirmation=Confirmation.FLAKY,
)
UNMET = _bucket(
    0xABCD0007,
    _finding("torch.stft", {TORCH: Crashed("SIGFPE")}, message="SIGFPE"),
    comparison=Comparison.NOT_RUN,
    reproducer="",
)
BUCKETS = (UNMET, FLAKY, HANG, LOW, DIFFERENCE, HOSTILE_ERROR, CRASH, *CRASHES)


def _target(
    name: str, version: str, *, tally: Tally | None = None, not_run: str = ""
) -> TargetSummary:
    library = name.partition("==")[0].removesuffix("-cpu")
    return TargetSummary(
        name=name,
        library=library,
        version=version,
        python="3.11.7",
        device="cuda:0" if name.endswith("@cuda") else "cpu",
        packages={library: version, "numpy": "2.4.6"},
        confined_by=("landlock", "rlimits"),
        apis=1422,
        tally=tally or Tally(),
        not_run=not_run,
    )


TARGETS = (
    _target(TORCH, "2.13.0", tally=Tally(passed=90_211, rejected=51_002, errored=12, hung=1)),
    _target(OLD, "2.12.0", tally=Tally(passed=8_000, rejected=41_000, crashed=310)),
    _target(NEW, "2.21.0", tally=Tally(passed=8_100, rejected=41_190, crashed=20)),
    _target(CUDA, "", not_run=f"no such device: {HOSTILE}"),
)


def run_finished(**changes: object) -> RunFinished:
    """Return the last event of the recorded run."""
    event = RunFinished(
        verdict=Verdict.NEW_FINDINGS,
        exit_code=1,
        summary="11 new buckets at or above medium in tensorflow and torch.",
        targets=TARGETS,
        buckets=BUCKETS,
        stages={"provision": 12.5, "describe": 3.25, "explore": 120.0, "confirm": 30.0},
        apis_exercised={TORCH: 1400, OLD: 1300, NEW: 1300},
        parameters={"seed": 7, "targets": [TORCH, OLD, NEW, CUDA]},
    )
    return replace(event, **changes)  # type: ignore[arg-type]  # fields by name


def recorded_events() -> list[Event]:
    """Return the whole recorded run."""
    events: list[Event] = [
        RunStarted(
            targets=(TORCH, OLD, NEW, CUDA),
            levels=("api",),
            seed=7,
            budget_s=180.0,
            jobs=1,
            out=".ciguard/run",
        ),
        *(
            Provisioning(target=name, step="ready (cached)", done=True)
            for name in (TORCH, OLD, NEW)
        ),
        StageFinished(stage="provision", spent_s=12.5),
        *(TargetReady(target=target) for target in TARGETS if not target.not_run),
        TargetUnavailable(target=CUDA, reason=f"no such device: {HOSTILE}"),
        StageFinished(stage="describe", spent_s=3.25),
        BatchFinished(
            target=TORCH, api="torch.add", counts={"passed": 40, "rejected": 24}, elapsed_s=1.0
        ),
        BatchFinished(
            target=OLD,
            api="tf.raw_ops.MaxPool3D",
            counts={"crashed": 2, "passed": 9},
            elapsed_s=2.0,
        ),
        BucketOpened(bucket=CRASH),
        BucketOpened(bucket=HOSTILE_ERROR),
        BucketFlaky(bucket=FLAKY),
        Warned(message=f"a worker said: {HOSTILE}"),
        FirstPassFinished(
            library="tensorflow", apis=1892, excluded={"removed": 298, "files": 191}, elapsed_s=62.0
        ),
        StageFinished(stage="explore", spent_s=120.0),
        StageFinished(stage="confirm", spent_s=30.0),
        run_finished(),
    ]
    return events


@pytest.fixture
def events() -> list[Event]:
    """Return the whole recorded run."""
    return recorded_events()


@pytest.fixture
def finished() -> Callable[..., RunFinished]:
    """Return a function that makes the last event of the run, with changed fields."""
    return run_finished


PLAN = Plan(
    mode=PlanMode.PULL_REQUEST,
    reasons=(
        "tensorflow-cpu goes from 2.12.0 to 2.21.0: both are run.",
        f"12 of its APIs are used here: {HOSTILE}",
    ),
    changes=(
        PackageChange(
            package="Tensorflow_CPU",
            base="2.12.0",
            head="2.21.0",
            place=Place(path="requirements.txt", line=3),
        ),
    ),
    skipped=(
        SkippedJob(
            name="torch-cuda",
            targets=(CUDA,),
            device="cuda",
            reason="no runner with a GPU is configured",
        ),
    ),
    uses={
        "tf.raw_ops.MaxPool3D": (
            Place(path="model/net.py", line=12),
            Place(path="model/old net.py", line=7),
        )
    },
)


@pytest.fixture
def plan() -> Plan:
    """Return the plan of a pull request that raises a requirement."""
    return PLAN


@pytest.fixture
def planned(events: list[Event]) -> list[Event]:
    """Return the whole recorded run, with a plan."""
    started, *rest = events
    assert isinstance(started, RunStarted)
    return [replace(started, plan=PLAN), *rest]


@pytest.fixture
def hostile() -> str:
    """Return the text that a fuzzed message may hold."""
    return HOSTILE
