"""Entries of machine-readable lists: one per cause and comparison with the baseline."""

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
_OWNERS = (_UNCHANGED, Comparison.ACCEPTED.value, Comparison.NEW.value)
"""Statuses by precedence: of several entries with one cause, the first is named after it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Buckets with one cause."""

    buckets: tuple[Bucket, ...]
    """Buckets, the most severe first: all new, all accepted, or all unchanged."""
    fingerprint: str
    """Identifier that stays the same in every run, whichever of the buckets the run meets."""

    @property
    def shown(self) -> Bucket:
        """The most severe bucket."""
        return self.buckets[0]

    @property
    def others(self) -> str:
        """Sentence that names the other buckets; empty if there are none. It is escaped."""
        others = self.buckets[1:]
        if not others:
            return ""
        apis = dict.fromkeys(publishable(b.finding.api, limit=_MAX_API) for b in others)
        named = ", ".join([*apis][:_MAX_NAMED])
        more = f" and {len(apis) - _MAX_NAMED} more" if len(apis) > _MAX_NAMED else ""
        return f"{len(others)} more with the same cause: {named}{more}."


def entries(buckets: Iterable[Bucket]) -> list[Entry]:
    """Return one entry per cause and status, new ones first, then by severity.

    New buckets of a known cause form an entry of their own, so that the known entry cannot hide
    them.
    """
    members: dict[tuple[str, str], list[Bucket]] = {}
    for bucket in in_display_order(buckets):
        members.setdefault((cause_name(bucket), _status(bucket)), []).append(bucket)
    owners: dict[str, str] = {}
    for cause, status in sorted(members, key=lambda key: _OWNERS.index(key[1])):
        owners.setdefault(cause, status)
    return [
        Entry(tuple(group), cause if owners[cause] == status else group[0].fingerprint)
        for (cause, status), group in members.items()
    ]


def _status(bucket: Bucket) -> str:
    is_separate = bucket.comparison in {Comparison.NEW, Comparison.ACCEPTED}
    return bucket.comparison.value if is_separate else _UNCHANGED
