"""Related buckets: one native fault behind several APIs.

The API is part of every fingerprint, so a fault that two wrappers reach has two buckets. A link
tells a person to look at both, and closes or merges neither.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.domain import Bucket

MOST_RELATED = 50
"""Links that one bucket holds."""
_TOP = 3
"""Native frames that two stacks must share, from the innermost."""
_NATIVE = re.compile(r"\b\w[\w.+-]*\.(?:cc|cpp|cxx|cu|cuh|c|h|hh|hpp|inc)\b")
"""A native source file in a message: a check there failed, whoever called it."""

Fault = tuple[str, ...]
_Place: TypeAlias = tuple[Fault, tuple[str, ...] | None]
"""A fault, and the innermost native functions; `()` without a stack, None for any."""


def relate(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Return the buckets in the same order, each with the fingerprints of those related to it."""
    listed = list(buckets)
    by_place: dict[_Place, list[Bucket]] = {}
    for bucket in sorted(listed, key=lambda bucket: bucket.fingerprint):
        for fault in faults_of(bucket):
            by_place.setdefault((fault, _top(bucket)), []).append(bucket)
            by_place.setdefault((fault, None), []).append(bucket)
    candidates = {place: _candidates(shared) for place, shared in by_place.items()}
    return [_linked(bucket, _related(bucket, candidates)) for bucket in listed]


def _linked(bucket: Bucket, related: tuple[str, ...]) -> Bucket:
    # Most buckets of a large baseline have no links: a copy of each would cost memory.
    return bucket if bucket.related == related else replace(bucket, related=related)


def _candidates(shared: list[Bucket]) -> list[Bucket]:
    """Return those that any bucket can need: whichever API it has, enough of other APIs are left.

    All pairs of thousands of buckets of one fault would take minutes.
    """
    count_by_api: Counter[str] = Counter()
    kept: list[Bucket] = []
    for bucket in shared:
        if count_by_api[bucket.finding.api] < MOST_RELATED:
            count_by_api[bucket.finding.api] += 1
            kept.append(bucket)
        if len(kept) == 2 * MOST_RELATED:
            break
    return kept


def _related(bucket: Bucket, candidates: Mapping[_Place, list[Bucket]]) -> tuple[str, ...]:
    related = {
        other.fingerprint
        for fault in faults_of(bucket)
        for top in _compatible_tops(bucket)
        for other in candidates.get((fault, top), ())
        # Within one API the fingerprint has told them apart.
        if other.finding.api != bucket.finding.api
    }
    return tuple(sorted(related))[:MOST_RELATED]


def _compatible_tops(bucket: Bucket) -> tuple[tuple[str, ...] | None, ...]:
    """Return the stacks of others that may be the same fault; None for any.

    Different native stacks show that a check which both fail was reached by two ways.
    """
    return (_top(bucket), ()) if bucket.native_stack else (None,)


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
