"""Objects that somebody else may have written: every key is checked when it is taken."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")
MAX_TEXT_LENGTH = 2_000
"""Characters of a text that is shown or compared as it is."""


@dataclass(frozen=True, slots=True)
class Untrusted:
    """An object of a file. Every method raises ValueError, naming the key."""

    data: Any
    name: str
    """What it is, for messages."""

    def __post_init__(self) -> None:
        if not isinstance(self.data, dict):
            message = f"{self.name} is no object"
            raise ValueError(message)  # noqa: TRY004  (what is wrong is the file)

    def of(self, key: str, kind: type[_T]) -> _T:
        """Return the value of a key, which is of that very type."""
        value = self.data.get(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            message = f"{self.name}: {key!r} is not of type {kind.__name__}"
            raise ValueError(message)
        return value

    def count(self, key: str) -> int:
        """Return a whole number that is not negative, and no larger than a machine's."""
        value = self.of(key, int)
        if not 0 <= value < 1 << 63:
            message = f"{self.name}: {key!r} is no count"
            raise ValueError(message)
        return value

    def seconds(self, key: str) -> float:
        """Return a span of time."""
        value = self.data.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0:
            message = f"{self.name}: {key!r} is no number of seconds"
            raise ValueError(message)
        return float(value)

    def text(self, key: str) -> str:
        """Return a text of at most `MAX_TEXT_LENGTH` characters."""
        return self._bounded(self.of(key, str), key)

    def names(self, key: str) -> tuple[str, ...]:
        """Return a list of texts of at most `MAX_TEXT_LENGTH` characters."""
        return tuple(self._bounded(text, key) for text in self.texts(key))

    def members(self) -> tuple[str, ...]:
        """Return the names in the object, each of at most `MAX_TEXT_LENGTH` characters."""
        return tuple(self._bounded(name, "a key") for name in self.data)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        values = self.of(key, list)
        if not all(isinstance(value, str) for value in values):
            message = f"{self.name}: {key!r} is no list of texts"
            raise ValueError(message)
        return tuple(values)

    def rows(self, key: str, read: Callable[[Untrusted], _T]) -> tuple[_T, ...]:
        """Return a list of objects, each read by `read`."""
        return tuple(read(Untrusted(row, f"a row of {key!r}")) for row in self.of(key, list))

    def inner(self, key: str) -> Untrusted:
        """Return the object of a key."""
        return Untrusted(self.data.get(key), f"{key!r} in {self.name}")

    def _bounded(self, text: str, key: str) -> str:
        if len(text) > MAX_TEXT_LENGTH:
            message = f"{self.name}: {key!r} is longer than {MAX_TEXT_LENGTH} characters"
            raise ValueError(message)
        return text
