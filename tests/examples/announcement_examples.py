"""Documentation of one API in two versions, and differences between them."""

from __future__ import annotations

from typing import Any

from ciguard.announcements import ApiDocumentation
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import LiteralValue

API = "torch.pool"
BASE, HEAD = "torch==2.0", "torch==2.1"


def documented(
    docstring: str = "", *parameters: ParameterRecord, **changes: Any
) -> ApiDocumentation:
    fields = {
        "api": API,
        "kind": CallKind.FUNCTION,
        "source": "signature",
        "parameters": parameters or (ParameterRecord(name="x"), ParameterRecord(name="size")),
        **changes,
    }
    return ApiDocumentation(record=ApiRecord(**fields), docstring=docstring)


def difference(
    kind: str, *arguments: object, message: str = "", focus: str = "", **keywords: object
) -> Finding:
    """Return a difference between base and head; the refusing one raises `message`."""
    outcomes: list[Outcome] = [Passed(b"", 0.0), Passed(b"", 0.0)]
    if kind in {"refused", "exception"}:
        outcomes[1] = Rejected("ValueError", message)
    if kind in {"accepted", "exception"}:
        outcomes[0] = Rejected("TypeError", message)
    return Finding(
        oracle="differential",
        kind=kind,
        severity=Severity.MEDIUM,
        library="torch",
        api=API,
        case=ApiCall(
            api=API,
            kind=CallKind.FUNCTION,
            arguments=tuple(LiteralValue(value) for value in arguments),  # type: ignore[arg-type]
            keywords=tuple(
                (name, LiteralValue(value))  # type: ignore[arg-type]
                for name, value in keywords.items()
            ),
            focus=focus,
        ),
        outcomes=dict(zip((BASE, HEAD), outcomes, strict=True)),
        targets=(BASE, HEAD),
        pair=PairKind.VERSION,
        message=f"{API} differs in {kind}",
    )
