"""The root cause that several buckets share, and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.untrusted import Untrusted

if TYPE_CHECKING:
    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The presumed root cause of a bucket. Buckets whose causes have the same name form a group."""

    name: str
    """`g1:` and 16 hex digits; the bucket's own fingerprint if no other bucket can share it."""
    kind: str
    """Kind of evidence for the cause: `failed check`, `native frames`, `raising function`, …"""
    text: str
    """The failed check, frames or message itself. May hold fuzzed text: escape it for display."""

    @property
    def words(self) -> str:
        """The cause as a phrase, such as `failed check: tensor.cc: dtype() == expected_dtype`."""
        return f"{self.kind}: {self.text}" if self.text else self.kind


def cause_to_json(cause: Cause | None) -> Json:
    """Return the JSON form of a cause; None for None."""
    return cause and {"name": cause.name, "kind": cause.kind, "text": cause.text}


def cause_from_json(encoded: Json) -> Cause | None:
    """Rebuild a cause.

    Raises:
        ValueError: if `encoded` is not the JSON form of a cause.
    """
    if encoded is None:
        return None
    reader = Untrusted(encoded, "'cause'")
    return Cause(name=reader.text("name"), kind=reader.text("kind"), text=reader.text("text"))
