"""The labels that a service can answer, as a file that the user names."""

from __future__ import annotations

import csv
import difflib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_PROPOSED = 5
_CLOSE = 3
_OF_EACH = 2
_MIN_ALIKE = 0.6


@dataclass(frozen=True)
class Vocabulary:
    """All labels of a service."""

    labels: frozenset[str]

    @cached_property
    def _by_lower(self) -> dict[str, str]:
        return {label.lower(): label for label in sorted(self.labels)}

    @cached_property
    def _by_last_word(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for label in sorted(self.labels, key=lambda label: (len(label), label)):
            found.setdefault(label.lower().rpartition(" ")[2], []).append(label)
        return found

    def nearest(self, text: str) -> tuple[str, ...]:
        """Return a few labels that may be meant by one that does not exist.

        The same in other letters, those that are spelled alike, and those that are a kind of it, as
        `Human face` is of `face`.
        """
        lower = text.lower()
        found = [self._by_lower[lower]] if lower in self._by_lower else []
        close = difflib.get_close_matches(lower, self._by_lower, _CLOSE, _MIN_ALIKE)
        found += [self._by_lower[one] for one in close]
        found += self._by_last_word.get(lower.rpartition(" ")[2], [])[:_OF_EACH]
        return tuple(dict.fromkeys(found))[:_PROPOSED]


def read_vocabulary(file: Path) -> Vocabulary:
    """Read labels: one in each line, or in the last column of a CSV file.

    Raises:
        ConfigurationError: if the file cannot be read or holds no label.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows: Iterable[list[str]] = (
                csv.reader(lines) if file.suffix.lower() == ".csv" else ([line] for line in lines)
            )
            labels = frozenset(row[-1].strip() for row in rows if row and row[-1].strip())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        msg = f"{file}: cannot be read as a list of labels: {error}"
        raise ConfigurationError(msg) from error
    if not labels:
        msg = f"{file}: no label in it. Write one in each line, or a CSV file with labels last."
        raise ConfigurationError(msg)
    return Vocabulary(labels)
