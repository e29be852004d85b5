"""Findings to test with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.outcomes import Crashed
from ciguard.domain.values import Constant, LiteralValue, TensorValue

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Value

TARGET = "torch==2.13.0"


def call(
    *arguments: Value,
    api: str = "torch.fold",
    kind: CallKind = CallKind.FUNCTION,
    keywords: tuple[tuple[str, Value], ...] = (),
    seed: int = 0,
) -> ApiCall:
    chosen = arguments or (TensorValue("float32", (2,), Constant(1.0)), LiteralValue(-1))
    return ApiCall(api=api, kind=kind, arguments=chosen, keywords=keywords, seed=seed)


def crash(log: str = "", *, cause: str = "SIGSEGV", case: ApiCall | None = None) -> Finding:
    return finding(Crashed(cause, (), log), case=case)


def finding(
    outcome: Outcome, *, case: ApiCall | None = None, target: str = TARGET, message: str = "it died"
) -> Finding:
    tested = case or call()
    return Finding(
        oracle="crash",
        kind="signal",
        severity=Severity.CRITICAL,
        library=tested.api.partition(".")[0],
        api=tested.api,
        case=tested,
        outcomes={target: outcome},
        targets=(target,),
        message=message,
    )


def pair(
    reference: Outcome, deviating: Outcome, *, kind: str = "values", case: ApiCall | None = None
) -> Finding:
    tested = case or call()
    return Finding(
        oracle="differential",
        kind=kind,
        severity=Severity.HIGH,
        library=tested.api.partition(".")[0],
        api=tested.api,
        case=tested,
        outcomes={"torch==2.12.0": reference, TARGET: deviating},
        targets=("torch==2.12.0", TARGET),
        pair=PairKind.VERSION,
        message="it differs",
    )
