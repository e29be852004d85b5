"""Reach: can a program that uses a library's public API meet a defect at all.

Raw entry points take handles: objects that a program gets for one purpose and hands on for that
purpose. And they take None for a tensor, which public functions refuse. A death by a handle of
another kind, or by a tensor that is none, is a defect, and one that nobody meets who does not look
for it. It weighs little, until something public leads to the same cause.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.findings import Severity, cause_name
from ciguard.domain.values import CallValue, DictValue, ListValue, LiteralValue, TupleValue
from ciguard.libraries import library_of_api
from ciguard.oracles import traits_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.values import Value


def with_reach(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Return buckets that have their causes, each of the weight that its reach gives it."""
    listed = list(buckets)
    public: dict[str, str] = {}
    for bucket in sorted(listed, key=lambda bucket: bucket.finding.api):
        if depends_on_reach(bucket.finding) and not _hidden_by(bucket):
            public.setdefault(cause_name(bucket), bucket.finding.api)
    return [_weighed(bucket, public.get(cause_name(bucket), "")) for bucket in listed]


def depends_on_reach(finding: Finding) -> bool:
    """Return whether a finding weighs less where no program can meet its defect."""
    return traits_of(finding.oracle).weight is not None


def _weighed(bucket: Bucket, public: str) -> Bucket:
    finding = bucket.finding
    weight = traits_of(finding.oracle).weight
    if weight is None or finding.evidence.breach:
        return bucket
    hidden_by = "" if public else _hidden_by(bucket)
    why = f"a raw entry point, given {hidden_by} that public calls do not give it"
    if not hidden_by and not finding.evidence.unreachable:
        return bucket
    evidence = replace(finding.evidence, unreachable=why if hidden_by else "")
    severity = Severity.LOW if hidden_by else weight
    return replace(bucket, finding=replace(finding, evidence=evidence, severity=severity))


def _hidden_by(bucket: Bucket) -> str:
    """Return what no public call gives to a raw entry point; empty if there is none."""
    finding = bucket.finding
    if not is_raw(finding.api):
        return ""
    if undefined := finding.evidence.undefined:
        return f"None for a tensor ({undefined})"
    handle = handle_in(finding.case)
    return handle and f"a handle ({handle})"


def is_raw(api: str) -> bool:
    """Return whether public functions are made of an API, and programs need not call it."""
    private = (part for part in api.split(".") if part.startswith("_") and not part.endswith("__"))
    return _is_entry_point(api) or any(private)


def _is_entry_point(name: str) -> bool:
    library = library_of_api(name)
    return library is not None and name.startswith(library.raw_names)


def handle_in(case: Case) -> str:
    """Return what makes the first handle among a call's arguments; empty if there is none."""
    pending: list[Value] = [*case.values] if isinstance(case, ApiCall) else []
    while pending:
        match pending.pop(0):
            case CallValue(function) if _is_entry_point(function):
                return function
            case CallValue("builtins.getattr", (CallValue(function), LiteralValue("handle"))):
                return f"{function}.handle"
            case CallValue(_, arguments, keywords):
                pending.extend((*arguments, *(value for _, value in keywords)))
            case ListValue(items) | TupleValue(items):
                pending.extend(items)
            case DictValue(pairs):
                pending.extend(value for _, value in pairs)
            case _:
                pass  # data
    return ""
