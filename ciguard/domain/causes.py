"""The cause that several buckets share, and what says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.untrusted import Untrusted

if TYPE_CHECKING:
    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What is taken for one root cause. Buckets with the same name are one group."""

    name: str
    """`g1:` and 16 hex digits, or the fingerprint of a bucket that shares its cause with none."""
    kind: str
    """What joins the buckets: `failed check`, `native frames`, `raising function`, `message`, …"""
    text: str
    """The check, the frames, the message. May hold fuzzed text: escape where it is shown."""

    @property
    def words(self) -> str:
        """Return it as a phrase, such as `failed check: tensor.cc: dtype() == expected_dtype`."""
        return f"{self.kind}: {self.text}" if self.text else self.kind


def cause_to_json(cause: Cause | None) -> Json:
    """Return the JSON form of a cause; null where there is none."""
    return cause and {"name": cause.name, "kind": cause.kind, "text": cause.text}


def cause_from_json(encoded: Json) -> Cause | None:
    """Rebuild a cause.

    Raises:
        ValueError: if `encoded` is not the JSON form of a cause.
    """
    if encoded is None:
        return None
    read = Untrusted(encoded, "'cause'")
    return Cause(name=read.text("name"), kind=read.text("kind"), text=read.text("text"))
