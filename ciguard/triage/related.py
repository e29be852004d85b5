"""Related buckets: one native fault behind several APIs.

The API is part of every fingerprint, so a fault that two wrappers reach has two buckets. A link
tells a person to look at both, and closes or merges neither.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain import Bucket

MOST_RELATED = 50
"""Links that one bucket holds."""
_TOP = 3
"""Native frames that two stacks must share, from the innermost."""
_NATIVE = re.compile(r"\b\w[\w.+-]*\.(?:cc|cpp|cxx|cu|cuh|c|h|hh|hpp|inc)\b")
"""A native source file in a message: a check there failed, whoever called it."""

Fault = tuple[str, ...]


def relate(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Return the buckets in the same order, each with the fingerprints of those related to it."""
    listed = list(buckets)
    by_fault: dict[Fault, list[Bucket]] = {}
    for bucket in listed:
        for fault in faults_of(bucket):
            by_fault.setdefault(fault, []).append(bucket)
    return [replace(bucket, related=_related(bucket, by_fault)) for bucket in listed]


def _related(bucket: Bucket, by_fault: dict[Fault, list[Bucket]]) -> tuple[str, ...]:
    found = {
        other.fingerprint
        for fault in faults_of(bucket)
        for other in by_fault[fault]
        # Within one API the fingerprint has told them apart.
        if other.finding.api != bucket.finding.api and not _contradict(bucket, other)
    }
    return tuple(sorted(found))[:MOST_RELATED]


def _contradict(one: Bucket, other: Bucket) -> bool:
    """Tell whether native stacks show that a check which both fail was reached by two ways."""
    both = bool(one.native_stack) and bool(other.native_stack)
    return both and _top(one) != _top(other)


def _top(bucket: Bucket) -> tuple[str, ...]:
    """Return the innermost functions; which shared object holds them changes with releases."""
    return tuple(frame.function for frame in bucket.native_stack[:_TOP])


def faults_of(bucket: Bucket) -> Iterator[Fault]:
    """Yield what names the native fault of a bucket, whichever API led to it; often nothing."""
    library = bucket.finding.library
    message = dict(bucket.grouping).get("message", "")
    if bucket.native_stack:
        yield ("stack", library, message, *_top(bucket))
    if _NATIVE.search(message):
        yield ("message", library, message)
