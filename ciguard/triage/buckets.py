"""Buckets: findings grouped by fingerprint, each represented by its simplest case."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from ciguard.domain.attribution import Attribution
from ciguard.domain.case import case_to_json
from ciguard.domain.findings import Bucket, Comparison, Confirmation
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    Explicit,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
)
from ciguard.triage.fingerprint import fingerprint
from ciguard.triage.levels import presentable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.values import Value

Simplicity = tuple[int, int, int, str]
"""Sort key of a case: complexity, size, length of the JSON form, JSON text."""

_FILL_COST = {Constant: 0, Explicit: 1, Uniform: 2, Special: 3}
_COMMON_DTYPES = ("float32", "int32", "int64", "bool")


def simplicity(case: Case) -> Simplicity:
    """Return a sort key that puts cases first that are easier to read.

    It consists of the complexity (nodes, dimensions, unusual content), the size (elements and
    characters), the length of the JSON form, and the JSON text. The text makes the order total and
    equal on all machines, and puts 0 before 1.
    """
    pending = [*case.values]
    nodes = elements = 0
    while pending:
        more_nodes, more_elements, children = _cost(pending.pop())
        nodes += more_nodes
        elements += more_elements
        pending.extend(children)
    text = json.dumps(case_to_json(case))
    readable = json.dumps(case_to_json(presentable(case).readable(case)))
    return nodes, elements, len(readable), text


def _cost(value: Value) -> tuple[int, int, list[Value]]:
    """Return complexity and size of a value without its children, and the children."""
    match value:
        case TensorValue(dtype, shape, fill) | ArrayValue(dtype, shape, fill):
            count = 1
            for size in shape:
                count *= size
            unusual = int(dtype not in _COMMON_DTYPES)
            return 1 + len(shape) + unusual + _FILL_COST[type(fill)], min(count, 10**9), []
        case LiteralValue(scalar):
            is_flag = scalar is None or isinstance(scalar, bool)
            return 1, 0 if is_flag else min(len(repr(scalar)), 10**6), []
        case ListValue(items) | TupleValue(items):
            return 1, 0, list(items)
        case DictValue(pairs):
            return 1 + len(pairs), 0, [item for _, item in pairs]
        case CallValue(_, arguments, keywords):
            return 2 + len(keywords), 0, [*arguments, *(item for _, item in keywords)]
        case _:
            return 1, 0, []


class Buckets:
    """The buckets of one run. They do not depend on the order in which findings are added."""

    def __init__(self, buckets: Iterable[Bucket] = ()) -> None:
        self._by_key: dict[str, Bucket] = {}
        for bucket in buckets:
            self.merge(bucket)

    def add(self, finding: Finding) -> Bucket:
        """Add a finding and return its bucket, whose `count` is 1 if the bucket is new."""
        identity = fingerprint(finding)
        return self.merge(
            Bucket(
                fingerprint=identity.key,
                grouping=identity.grouping,
                finding=finding,
                aliases=identity.aliases,
            )
        )

    def merge(self, bucket: Bucket) -> Bucket:
        """Add a bucket, for example of another shard, and return the merged bucket."""
        existing = self._by_key.get(bucket.fingerprint)
        merged = bucket if existing is None else merge_buckets(existing, bucket)
        self._by_key[bucket.fingerprint] = merged
        return merged

    def replace(self, bucket: Bucket) -> None:
        """Replace the bucket that has the same fingerprint, for example after minimisation.

        Raises:
            KeyError: if no bucket has the fingerprint.
        """
        if bucket.fingerprint not in self._by_key:
            raise KeyError(bucket.fingerprint)
        self._by_key[bucket.fingerprint] = bucket

    def get(self, key: str) -> Bucket | None:
        """Return the bucket with a fingerprint; None if there is none."""
        return self._by_key.get(key)

    def __contains__(self, key: object) -> bool:
        """Return whether there is a bucket with the fingerprint `key`."""
        return key in self._by_key

    def __len__(self) -> int:
        """Return the number of buckets."""
        return len(self._by_key)

    def sorted(self) -> tuple[Bucket, ...]:
        """Return the buckets, most severe first, then by API and fingerprint."""
        return tuple(
            sorted(
                self._by_key.values(),
                key=lambda b: (-b.finding.severity, b.finding.api, b.fingerprint),
            )
        )


_CONFIRMATION_RANK = {
    Confirmation.CONFIRMED: 0,
    Confirmation.FLAKY: 1,
    Confirmation.PENDING: 2,
}
"""Rank of a confirmation when buckets are merged; the bucket with the lowest rank prevails."""


def merge_buckets(bucket: Bucket, other: Bucket) -> Bucket:
    """Return one bucket for two buckets with the same fingerprint.

    Its finding is that of the bucket with the better confirmation, then the higher severity, then
    the simpler case.
    """
    first, second = sorted((bucket, other), key=_representative_order)
    attribution = _attribution(bucket, other)
    if attribution is not None and attribution.is_flaky:
        first = replace(first, confirmation=Confirmation.FLAKY)
    is_flaky = first.confirmation is Confirmation.FLAKY
    return replace(
        first,
        attribution=attribution,
        count=bucket.count + other.count,
        shown=bucket.shown + other.shown if is_flaky else first.shown,
        tried=bucket.tried + other.tried if is_flaky else first.tried,
        aliases=tuple(sorted({*bucket.aliases, *other.aliases})),
        native_stack=first.native_stack or second.native_stack,
        onset=first.onset or second.onset,
        comparison=first.comparison
        if first.comparison is not Comparison.NEW
        else second.comparison,
    )


def _attribution(bucket: Bucket, other: Bucket) -> Attribution | None:
    """Return the sum of the buckets' attributions; None if neither bucket has one."""
    parts = (bucket.attribution, other.attribution)
    attributions = [attribution for attribution in parts if attribution is not None]
    return reduce(Attribution.plus, attributions) if attributions else None


def _representative_order(bucket: Bucket) -> tuple[int, int, Simplicity, tuple[str, ...], str]:
    """Return a sort key that puts the bucket first whose finding should represent both."""
    return (
        _CONFIRMATION_RANK[bucket.confirmation],
        -bucket.finding.severity,
        simplicity(bucket.finding.case),
        bucket.finding.targets,
        bucket.finding.message,
    )
