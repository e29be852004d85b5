"""Vocabulary of a service: the labels that it can answer, from a file of the user."""

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

_MAX_PROPOSALS = 5
_MAX_CLOSE = 3
_MAX_WITH_LAST_WORD = 2
_MIN_SIMILARITY = 0.6


@dataclass(frozen=True)
class Vocabulary:
    """All labels of a service."""

    labels: frozenset[str]

    @cached_property
    def _by_lower(self) -> dict[str, str]:
        return {label.lower(): label for label in sorted(self.labels)}

    @cached_property
    def _by_last_word(self) -> dict[str, list[str]]:
        labels_by_word: dict[str, list[str]] = {}
        for label in sorted(self.labels, key=lambda label: (len(label), label)):
            labels_by_word.setdefault(label.lower().rpartition(" ")[2], []).append(label)
        return labels_by_word

    def nearest(self, text: str) -> tuple[str, ...]:
        """Return a few labels that an unknown one may mean.

        These are the label in another case, labels of similar spelling, and labels that end with
        the same word, such as `Human face` for `face`.
        """
        lower = text.lower()
        labels = [self._by_lower[lower]] if lower in self._by_lower else []
        close = difflib.get_close_matches(lower, self._by_lower, _MAX_CLOSE, _MIN_SIMILARITY)
        labels += [self._by_lower[match] for match in close]
        labels += self._by_last_word.get(lower.rpartition(" ")[2], [])[:_MAX_WITH_LAST_WORD]
        return tuple(dict.fromkeys(labels))[:_MAX_PROPOSALS]


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
        msg = (
            f"{file}: holds no label. Write one in each line, or in the last column of a CSV file."
        )
        raise ConfigurationError(msg)
    return Vocabulary(labels)
