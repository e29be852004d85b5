"""Vocabulary of a service: the labels that it can return, from a file of the user."""

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
_MAX_SIMILAR = 3
_MAX_WITH_LAST_WORD = 2
_MIN_SIMILARITY = 0.6


@dataclass(frozen=True)
class Vocabulary:
    """The labels that a service can return."""

    labels: frozenset[str]

    @cached_property
    def _label_by_lower_case(self) -> dict[str, str]:
        return {label.lower(): label for label in sorted(self.labels)}

    @cached_property
    def _labels_by_last_word(self) -> dict[str, list[str]]:
        labels_by_word: dict[str, list[str]] = {}
        for label in sorted(self.labels, key=lambda label: (len(label), label)):
            labels_by_word.setdefault(label.lower().rpartition(" ")[2], []).append(label)
        return labels_by_word

    def nearest(self, text: str) -> tuple[str, ...]:
        """Return up to 5 labels that may be meant by an unknown label.

        In this order: the same letters in another case, labels with a similar spelling, and labels
        that end with the same word, such as `Human face` for `face`.
        """
        lower = text.lower()
        labels = [self._label_by_lower_case[lower]] if lower in self._label_by_lower_case else []
        close = difflib.get_close_matches(
            lower, self._label_by_lower_case, _MAX_SIMILAR, _MIN_SIMILARITY
        )
        labels += [self._label_by_lower_case[match] for match in close]
        labels += self._labels_by_last_word.get(lower.rpartition(" ")[2], [])[:_MAX_WITH_LAST_WORD]
        return tuple(dict.fromkeys(labels))[:_MAX_PROPOSALS]


def read_vocabulary(file: Path) -> Vocabulary:
    """Read labels: one on each line, or in the last column of a CSV file.

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
        msg = (
            f"{file} cannot be read as a list of labels: {error}. Name a UTF-8 text file with one "
            "label per line, or a CSV file."
        )
        raise ConfigurationError(msg) from error
    if not labels:
        msg = (
            f"{file} contains no label. Write one label on each line, or use a CSV file whose last "
            "column is the label."
        )
        raise ConfigurationError(msg)
    return Vocabulary(labels)
