"""Shards: a campaign cut into equal parts that know nothing of each other while they run."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")

MAX_SHARDS = 1024
_WRITTEN = re.compile(r"([0-9]{1,9})/([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """One of so many equal parts of a campaign. `1/1` is all of it."""

    index: int = 1
    """From 1."""
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.of <= MAX_SHARDS:
            msg = f"{self.of} shards; there may be 1 to {MAX_SHARDS}"
            raise ValueError(msg)
        if not 1 <= self.index <= self.of:
            msg = f"of {self.of} shards there is none with the number {self.index}"
            raise ValueError(msg)

    def __str__(self) -> str:
        """Return it as `parse_shard` reads it."""
        return f"{self.index}/{self.of}"

    @property
    def is_all(self) -> bool:
        """Whether the campaign is not cut."""
        return self.of == 1

    def of_these(self, names: Iterable[str]) -> frozenset[str]:
        """Return this shard's equal part of names, whatever order they come in."""
        return frozenset(sorted(names)[self.index - 1 :: self.of])

    def part(self, items: Sequence[T]) -> Sequence[T]:
        """Return this shard's equal part of items; all, where there are too few for all shards."""
        return items[self.index - 1 :: self.of] or items

    def seed(self, seed: int) -> int:
        """Return a seed of this shard's own for a campaign's seed."""
        return seed if self.is_all else seed * self.of + self.index

    def has(self, name: str) -> bool:
        """Return whether a name falls to this shard: every name to one, the same on any machine."""
        digest = hashlib.sha256(name.encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.index - 1


def parse_shard(text: str) -> Shard:
    """Read `2/8`.

    Raises:
        ValueError: with the reason, if it is no shard.
    """
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        msg = "not a shard"
        raise ValueError(msg)
    return Shard(int(found[1]), int(found[2]))
