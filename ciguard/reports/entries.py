"""What lists for machines have one entry for: the buckets of one cause that stand alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.findings import Comparison, cause_name
from ciguard.reports.wording import ordered, publishable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.findings import Bucket

_MAX_NAMED = 5
_MAX_API = 120
_UNCHANGED = "unchanged"
_OWNERS = (_UNCHANGED, Comparison.ACCEPTED.value, Comparison.NEW.value)
"""Which of several entries with one cause has its name, the first that there is."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Buckets with one cause."""

    buckets: tuple[Bucket, ...]
    """The gravest first. All are new, all accepted, or all met or not run as before."""
    fingerprint: str
    """The same in every run, whichever of the cause's buckets it meets."""

    @property
    def shown(self) -> Bucket:
        """The gravest bucket."""
        return self.buckets[0]

    @property
    def others(self) -> str:
        """A sentence that names the others; empty if there are none. Fuzzed text in it is inert."""
        others = self.buckets[1:]
        if not others:
            return ""
        apis = dict.fromkeys(publishable(b.finding.api, limit=_MAX_API) for b in others)
        named = ", ".join([*apis][:_MAX_NAMED])
        more = f" and {len(apis) - _MAX_NAMED} more" if len(apis) > _MAX_NAMED else ""
        return f"{len(others)} more with the same cause: {named}{more}."


def entries(buckets: Iterable[Bucket]) -> list[Entry]:
    """Return one entry per cause, new ones first, then by severity.

    What is new of a cause that was known before is an entry of its own: it must not disappear in
    one that everybody knows.
    """
    members: dict[tuple[str, str], list[Bucket]] = {}
    for bucket in ordered(buckets):
        members.setdefault((cause_name(bucket), _standing(bucket)), []).append(bucket)
    owners: dict[str, str] = {}
    for cause, standing in sorted(members, key=lambda key: _OWNERS.index(key[1])):
        owners.setdefault(cause, standing)
    return [
        Entry(tuple(those), cause if owners[cause] == standing else those[0].fingerprint)
        for (cause, standing), those in members.items()
    ]


def _standing(bucket: Bucket) -> str:
    is_apart = bucket.comparison in {Comparison.NEW, Comparison.ACCEPTED}
    return bucket.comparison.value if is_apart else _UNCHANGED
