"""Buckets: findings folded by fingerprint, each shown by its simplest case."""

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

_FILL_COST = {Constant: 0, Explicit: 1, Uniform: 2, Special: 3}
_COMMON_DTYPES = ("float32", "int32", "int64", "bool")


def simplicity(case: Case) -> Simplicity:
    """Return a key that orders cases: what a person reads with less effort comes first.

    First what has to be understood (nodes, dimensions, unusual content), then what has to be
    read (elements and characters), then the length of the JSON form; its text breaks ties, so that
    0 comes before 1 and the order is total and the same on every machine.
    """
    parts = [*case.values]
    nodes = elements = 0
    while parts:
        value = parts.pop()
        more_nodes, more_elements, children = _cost(value)
        nodes += more_nodes
        elements += more_elements
        parts.extend(children)
    text = json.dumps(case_to_json(case))
    read = json.dumps(case_to_json(presentable(case).readable(case)))
    return nodes, elements, len(read), text


def _cost(value: Value) -> tuple[int, int, list[Value]]:
    """Return what the value itself adds to understanding and reading, and its children."""
    match value:
        case TensorValue(dtype, shape, fill) | ArrayValue(dtype, shape, fill):
            count = 1
            for size in shape:
                count *= size
            unusual = int(dtype not in _COMMON_DTYPES)
            return 1 + len(shape) + unusual + _FILL_COST[type(fill)], min(count, 10**9), []
        case LiteralValue(scalar):
            plain = scalar is None or isinstance(scalar, bool)
            return 1, 0 if plain else min(len(repr(scalar)), 10**6), []
        case ListValue(items) | TupleValue(items):
            return 1, 0, list(items)
        case DictValue(pairs):
            return 1 + len(pairs), 0, [item for _, item in pairs]
        case CallValue(_, arguments, keywords):
            return 2 + len(keywords), 0, [*arguments, *(item for _, item in keywords)]
        case _:
            return 1, 0, []


class Buckets:
    """The buckets of one run. Whatever order findings come in, the same buckets come out."""

    def __init__(self, buckets: Iterable[Bucket] = ()) -> None:
        self._by_key: dict[str, Bucket] = {}
        for bucket in buckets:
            self.merge(bucket)

    def add(self, finding: Finding) -> Bucket:
        """Fold a finding in and return its bucket; `count` is 1 when the bucket is new."""
        name = fingerprint(finding)
        return self.merge(
            Bucket(
                fingerprint=name.key,
                grouping=name.grouping,
                finding=finding,
                aliases=name.aliases,
            )
        )

    def merge(self, bucket: Bucket) -> Bucket:
        """Fold a bucket of another shard in, and return the whole."""
        before = self._by_key.get(bucket.fingerprint)
        whole = bucket if before is None else united(before, bucket)
        self._by_key[bucket.fingerprint] = whole
        return whole

    def replace(self, bucket: Bucket) -> None:
        """Put a bucket in the place of the one with its fingerprint: confirmed, minimised.

        Raises:
            KeyError: if there is none.
        """
        if bucket.fingerprint not in self._by_key:
            raise KeyError(bucket.fingerprint)
        self._by_key[bucket.fingerprint] = bucket

    def get(self, key: str) -> Bucket | None:
        """Return the bucket of that fingerprint, if there is one."""
        return self._by_key.get(key)

    def __contains__(self, key: object) -> bool:
        """Return whether there is a bucket of that fingerprint."""
        return key in self._by_key

    def __len__(self) -> int:
        """Return the number of buckets."""
        return len(self._by_key)

    def sorted(self) -> tuple[Bucket, ...]:
        """Return the buckets, the gravest first, then by API and fingerprint."""
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
"""What showed every time somewhere is no flake; what failed to somewhere cannot be confirmed."""


def united(one: Bucket, other: Bucket) -> Bucket:
    """Return the bucket that holds both: the better confirmed, then the simpler one represents."""
    first, second = sorted((one, other), key=_representative_order)
    attribution = _attribution(one, other)
    if attribution is not None and attribution.is_flaky:
        first = replace(first, confirmation=Confirmation.FLAKY)
    is_flaky = first.confirmation is Confirmation.FLAKY
    return replace(
        first,
        attribution=attribution,
        count=one.count + other.count,
        shown=one.shown + other.shown if is_flaky else first.shown,
        tried=one.tried + other.tried if is_flaky else first.tried,
        aliases=tuple(sorted({*one.aliases, *other.aliases})),
        native_stack=first.native_stack or second.native_stack,
        onset=first.onset or second.onset,
        comparison=first.comparison
        if first.comparison is not Comparison.NEW
        else second.comparison,
    )


def _attribution(one: Bucket, other: Bucket) -> Attribution | None:
    """Return what both have counted on head and base."""
    counted = [bucket.attribution for bucket in (one, other) if bucket.attribution is not None]
    return reduce(Attribution.plus, counted) if counted else None


def _representative_order(bucket: Bucket) -> tuple[int, int, Simplicity, tuple[str, ...], str]:
    return (
        _CONFIRMATION_RANK[bucket.confirmation],
        -bucket.finding.severity,
        simplicity(bucket.finding.case),
        bucket.finding.targets,
        bucket.finding.message,
    )
