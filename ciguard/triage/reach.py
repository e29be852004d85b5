"""Reachability: whether a program that uses a library's public APIs can reach a defect.

Raw entry points accept handles, which programs get from the library and pass back unchanged. They
also accept None for a tensor, which public functions reject. If a wrong handle or None leads to a
crash, public calls are not known to reach the defect. Its severity is low unless a bucket of a
public API has the same cause.
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


def apply_reachability(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Return the buckets in the same order, each with the severity that follows from reachability.

    The buckets must have their causes, as returned by `with_causes`.
    """
    ordered = list(buckets)
    public_apis: dict[str, str] = {}
    for bucket in sorted(ordered, key=lambda bucket: bucket.finding.api):
        if depends_on_reachability(bucket.finding) and not _unreachable_input(bucket):
            public_apis.setdefault(cause_name(bucket), bucket.finding.api)
    return [_with_reach(bucket, public_apis.get(cause_name(bucket), "")) for bucket in ordered]


def depends_on_reachability(finding: Finding) -> bool:
    """Return whether a finding has a lower severity if public APIs cannot reach its defect."""
    return traits_of(finding.oracle).weight is not None


def _with_reach(bucket: Bucket, public_api: str) -> Bucket:
    """Return a bucket with the severity that follows from reachability.

    `public_api` is a public API whose bucket has the same cause; empty if there is none.
    """
    finding = bucket.finding
    full_severity = traits_of(finding.oracle).weight
    if full_severity is None or finding.evidence.breach:
        return bucket
    unreachable = "" if public_api else _unreachable_input(bucket)
    reason = f"a raw entry point gets {unreachable}, which public APIs never pass to it"
    if not unreachable and not finding.evidence.unreachable:
        return bucket
    evidence = replace(finding.evidence, unreachable=reason if unreachable else "")
    severity = Severity.LOW if unreachable else full_severity
    return replace(bucket, finding=replace(finding, evidence=evidence, severity=severity))


def _unreachable_input(bucket: Bucket) -> str:
    """Return a phrase for an input that only raw entry points accept; empty if there is none."""
    finding = bucket.finding
    if not is_raw(finding.api):
        return ""
    if undefined := finding.evidence.undefined:
        return f"None for a tensor ({undefined})"
    handle = handle_source(finding.case)
    return handle and f"a handle ({handle})"


def is_raw(api: str) -> bool:
    """Return whether an API is a raw entry point or private, so that programs rarely call it."""
    private = (part for part in api.split(".") if part.startswith("_") and not part.endswith("__"))
    return _is_entry_point(api) or any(private)


def _is_entry_point(name: str) -> bool:
    library = library_of_api(name)
    return library is not None and name.startswith(library.raw_names)


def handle_source(case: Case) -> str:
    """Return the source text of the first handle in a call's arguments; empty without one."""
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
                pass  # other values hold no handles
    return ""
