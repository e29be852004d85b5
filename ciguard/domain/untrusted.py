"""Untrusted JSON objects, whose keys are validated on access."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")
MAX_TEXT_LENGTH = 2_000
"""Maximum number of characters of a text that is shown or compared unchanged."""


@dataclass(frozen=True, slots=True)
class Untrusted:
    """An untrusted JSON object. Each method raises a ValueError that names a malformed key."""

    data: Any
    name: str
    """Name of the object in error messages, such as `the plan`."""

    def __post_init__(self) -> None:
        if not isinstance(self.data, dict):
            message = f"{self.name} is not a JSON object"
            raise ValueError(message)  # noqa: TRY004 - one type of error for all malformed JSON

    def value(self, key: str, kind: type[_T]) -> _T:
        """Return the value at `key`. The value must be of type `kind`."""
        value = self.data.get(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            message = f"{self.name}: {key!r} is not of type {kind.__name__}"
            raise ValueError(message)
        return value

    def count(self, key: str) -> int:
        """Return the non-negative integer at `key`, of at most 63 bits."""
        value = self.value(key, int)
        if not 0 <= value < 1 << 63:
            message = f"{self.name}: {key!r} is not between 0 and 2**63 - 1"
            raise ValueError(message)
        return value

    def seconds(self, key: str) -> float:
        """Return the duration at `key`, in seconds."""
        value = self.data.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0:
            message = f"{self.name}: {key!r} is not a finite number of seconds, at least 0"
            raise ValueError(message)
        return float(value)

    def text(self, key: str) -> str:
        """Return the string at `key`, of at most `MAX_TEXT_LENGTH` characters."""
        return self._bounded(self.value(key, str), key)

    def names(self, key: str) -> tuple[str, ...]:
        """Return the list at `key`, of strings of at most `MAX_TEXT_LENGTH` characters each."""
        return tuple(self._bounded(text, key) for text in self.texts(key))

    def members(self) -> tuple[str, ...]:
        """Return all keys of the object, each of at most `MAX_TEXT_LENGTH` characters."""
        return tuple(self._bounded(name, f"{name:.60}…") for name in self.data)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the list at `key`, of strings of any length."""
        values = self.value(key, list)
        if not all(isinstance(value, str) for value in values):
            message = f"{self.name}: {key!r} is not a list of strings"
            raise ValueError(message)
        return tuple(values)

    def rows(self, key: str, convert: Callable[[Untrusted], _T]) -> tuple[_T, ...]:
        """Return the results of `convert` for the objects in the list at `key`."""
        return tuple(convert(Untrusted(row, f"a row of {key!r}")) for row in self.value(key, list))

    def inner(self, key: str) -> Untrusted:
        """Return a reader of the object at `key`."""
        return Untrusted(self.data.get(key), f"{key!r} in {self.name}")

    def _bounded(self, text: str, key: str) -> str:
        """Return `text`, or raise a ValueError that names `key` if it is too long."""
        if len(text) > MAX_TEXT_LENGTH:
            message = f"{self.name}: {key!r} is longer than {MAX_TEXT_LENGTH} characters"
            raise ValueError(message)
        return text
