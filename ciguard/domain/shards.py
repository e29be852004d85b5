"""Shards: equal parts of a campaign that run independently of each other."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")

MAX_SHARDS = 1024
_SHARD = re.compile(r"([0-9]{1,9})/([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """One of several equal parts of a campaign. `1/1` is the whole campaign."""

    index: int = 1
    """Number of the shard, from 1."""
    of: int = 1
    """Number of shards in the campaign."""

    def __post_init__(self) -> None:
        if not 1 <= self.of <= MAX_SHARDS:
            msg = f"{self.of} shards: the number of shards must be 1 to {MAX_SHARDS}"
            raise ValueError(msg)
        if not 1 <= self.index <= self.of:
            msg = f"shard {self.index} of {self.of}: the shard must be 1 to {self.of}"
            raise ValueError(msg)

    def __str__(self) -> str:
        """Return the form that `parse_shard` reads, such as `2/8`."""
        return f"{self.index}/{self.of}"

    @property
    def is_whole_campaign(self) -> bool:
        """True if the shard is the whole campaign."""
        return self.of == 1

    def select(self, names: Iterable[str]) -> frozenset[str]:
        """Return the names that belong to this shard, independent of their order."""
        return frozenset(sorted(names)[self.index - 1 :: self.of])

    def part(self, items: Sequence[T]) -> Sequence[T]:
        """Return the items that belong to this shard; all items if none belongs to it."""
        return items[self.index - 1 :: self.of] or items

    def seed(self, seed: int) -> int:
        """Return this shard's seed, derived from the campaign's seed."""
        return seed if self.is_whole_campaign else seed * self.of + self.index

    def has(self, name: str) -> bool:
        """Return whether a name belongs to this shard; its hash assigns it to exactly one shard."""
        digest = hashlib.sha256(name.encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.index - 1


def parse_shard(text: str) -> Shard:
    """Parse a shard such as `2/8`.

    Raises:
        ValueError: if the text is malformed or a number is out of range.
    """
    match = _SHARD.fullmatch(text.strip())
    if match is None:
        msg = "not a shard such as 2/8"
        raise ValueError(msg)
    return Shard(int(match[1]), int(match[2]))
