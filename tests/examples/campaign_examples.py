"""Groups, cases and findings of the planted library, as a campaign holds them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ciguard.campaign.group import Group, Member
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Bucket, Comparison, Confirmation, Finding, PairKind, Severity
from ciguard.domain.outcomes import Crashed, Frame, Outcome, Passed
from ciguard.domain.records import ApiRecord
from ciguard.domain.values import LiteralValue
from ciguard.libraries import LIBRARIES
from ciguard.oracles import Identity
from ciguard.targets import Environment, parse_target
from ciguard.triage import fingerprint

ONE, TWO = "current[planted]", "current[planted] PLANTED_VERSION=2.0"


def record(api: str, *tags: str) -> ApiRecord:
    return ApiRecord(api=api, kind=CallKind.FUNCTION, parameters=(), tags=frozenset(tags))


def member(name: str = ONE, *apis: str) -> Member:
    library = LIBRARIES.get("planted")
    environment = Environment(
        target=parse_target(name),
        library=library,
        python=Path(sys.executable),
        root=Path(sys.prefix),
        packages={"ciguard-planted": "1.0"},
        version="1.0",
        python_version="3.11",
        readable=(),
        cache=None,
        variables={},
        key="current-0",
    )
    identity = Identity(request=name, packages=(), version="1.0", device="cpu")
    catalogue = {api: record(api) for api in apis}
    return Member(name=name, environment=environment, identity=identity, catalogue=catalogue)


def group(*members: Member) -> Group:
    return Group(library="planted", members={m.name: m for m in members})


def call(function: str = "fragile", argument: int = -1) -> ApiCall:
    api = f"planted.{function}"
    return ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(LiteralValue(argument),))


def crash(function: str = "fragile", argument: int = -1, *, target: str = ONE) -> Finding:
    dead = Crashed("SIGSEGV", (Frame("planted/__init__.py", function),), "")
    return finding(dead, case=call(function, argument), target=target)


def finding(outcome: Outcome, *, case: ApiCall | None = None, target: str = ONE) -> Finding:
    met = case or call()
    return Finding(
        oracle="crash",
        kind="signal",
        severity=Severity.CRITICAL,
        library="planted",
        api=met.api,
        case=met,
        outcomes={target: outcome},
        targets=(target,),
        message=f"{met.api} ends the process (SIGSEGV)",
    )


def difference(function: str = "cube") -> Finding:
    return Finding(
        oracle="differential",
        kind="values",
        severity=Severity.HIGH,
        library="planted",
        api=f"planted.{function}",
        case=call(function),
        outcomes={ONE: Passed(b'["i","1"]', 0.1), TWO: Passed(b'["i","2"]', 0.1)},
        targets=(ONE, TWO),
        pair=PairKind.ENVIRONMENT,
        message=f"planted.{function} differs in values: 1 vs 2",
    )


def bucket(of: Finding | None = None, **changes: Any) -> Bucket:
    met = of or crash()
    name = fingerprint(met)
    settings: dict[str, Any] = {
        "fingerprint": name.key,
        "grouping": name.grouping,
        "finding": met,
        "confirmation": Confirmation.CONFIRMED,
        "comparison": Comparison.NEW,
        **changes,
    }
    return Bucket(**settings)
