"""Entries of machine-readable lists: one entry for the buckets of one cause and one status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.findings import Comparison, cause_name
from ciguard.reports.wording import in_display_order, publishable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.findings import Bucket

_MAX_NAMED = 5
_MAX_API = 120
_UNCHANGED = "unchanged"
_PRECEDENCE = (_UNCHANGED, Comparison.ACCEPTED.value, Comparison.NEW.value)
"""Statuses by precedence: of several entries with one cause, the first gets the cause's name."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Buckets with one cause and one status."""

    buckets: tuple[Bucket, ...]
    """Buckets, the most severe first: all are new, all accepted, or all unchanged."""
    fingerprint: str
    """Identifier that is stable between runs, even if they reproduce different buckets of it."""

    @property
    def most_severe(self) -> Bucket:
        """The most severe bucket."""
        return self.buckets[0]

    @property
    def others_text(self) -> str:
        """Sentence with the APIs of the other buckets; empty if there are none. It is printable."""
        others = self.buckets[1:]
        if not others:
            return ""
        apis = dict.fromkeys(publishable(b.finding.api, limit=_MAX_API) for b in others)
        named = ", ".join([*apis][:_MAX_NAMED])
        more = f" and {len(apis) - _MAX_NAMED} more" if len(apis) > _MAX_NAMED else ""
        return f"{len(others)} more with the same cause: {named}{more}."


def entries(buckets: Iterable[Bucket]) -> list[Entry]:
    """Return one entry per cause and status in display order: new ones first, then by severity.

    New buckets of a known cause have their own entry, so that the entry of the known buckets cannot
    hide them.
    """
    buckets_by_key: dict[tuple[str, str], list[Bucket]] = {}
    for bucket in in_display_order(buckets):
        buckets_by_key.setdefault((cause_name(bucket), _status(bucket)), []).append(bucket)
    first_status: dict[str, str] = {}
    for cause, status in sorted(buckets_by_key, key=lambda key: _PRECEDENCE.index(key[1])):
        first_status.setdefault(cause, status)
    return [
        Entry(tuple(group), cause if first_status[cause] == status else group[0].fingerprint)
        for (cause, status), group in buckets_by_key.items()
    ]


def _status(bucket: Bucket) -> str:
    """Return the status by which buckets of one cause are separated."""
    is_separate = bucket.comparison in {Comparison.NEW, Comparison.ACCEPTED}
    return bucket.comparison.value if is_separate else _UNCHANGED
