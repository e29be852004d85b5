"""Finds similar labels in a vocabulary, as recognisers confuse similar labels most often."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary

_MAX_RELATED = 24
_WORD = re.compile(r"\w+")


class Relations:
    """Index of the similar labels of a vocabulary."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        groups: tuple[tuple[str, ...], ...] = (),
        *,
        is_open: bool = False,
    ) -> None:
        """Index the labels.

        Args:
            vocabulary: all labels.
            groups: labels that are related although their words differ; unknown labels are ignored.
            is_open: True if the service may return labels that the vocabulary lacks.
        """
        self.labels = tuple(sorted(vocabulary.labels))
        self._vocabulary = vocabulary
        self.is_open = is_open
        self._spellings = {label.lower(): label for label in reversed(self.labels)}
        self._by_word = self._words()
        self._related_by_group: dict[str, list[str]] = {}
        for group in groups:
            known = [label for name in group if (label := self.spelled(name))]
            for label in known:
                self._related_by_group.setdefault(label, []).extend(
                    other for other in known if other != label
                )
        self._cache: dict[str, tuple[str, ...]] = {}

    def _words(self) -> dict[str, list[str]]:
        """Return the labels that begin or end with each word, short labels first."""
        by_word: dict[str, list[str]] = {}
        for label in sorted(self.labels, key=lambda label: (len(label), label)):
            for word in _outer_words(label):
                by_word.setdefault(word, []).append(label)
        return by_word

    def spelled(self, text: str) -> str:
        """Return the label that equals the text, ignoring case; empty if no label does."""
        text = text.strip()
        return text if text in self._vocabulary.labels else self._spellings.get(text.lower(), "")

    def related(self, text: str) -> tuple[str, ...]:
        """Return a few other labels that are similar to a text, the nearest first.

        If the text is not a label, the labels with the most similar spelling come first.
        """
        if text not in self._cache:
            self._cache[text] = self._find_related(text)
        return self._cache[text]

    def _find_related(self, text: str) -> tuple[str, ...]:
        label = self.spelled(text)
        corrections = () if label else self._vocabulary.nearest(text)
        candidates = [*corrections, *self._related_by_group.get(label, ())]
        for similar in (label or text, *corrections[:1]):
            candidates += [
                label_with_word
                for word in _outer_words(similar)
                for label_with_word in self._by_word.get(word, ())[:_MAX_RELATED]
            ]
        return tuple(other for other in dict.fromkeys(candidates) if other != label)[:_MAX_RELATED]


def _outer_words(label: str) -> tuple[str, ...]:
    words = _WORD.findall(label.lower())
    return tuple(dict.fromkeys((words[0], words[-1]))) if words else ()


def relations_of(vocabulary: Vocabulary | None) -> Relations:
    """Return the relations of a user's vocabulary; for None, those of ciguard's own labels."""
    groups = tuple(
        tuple(label.strip() for label in line.split(",")) for line in _lines("labels.txt")
    )
    own = frozenset(label for group in groups for label in group)
    return Relations(vocabulary or Vocabulary(own), groups)


def topics_of(vocabulary: Vocabulary | None) -> Relations:
    """Return the relations of the paths in a user's vocabulary, which are topics.

    For None, or a vocabulary without paths, they are those of ciguard's own topics.
    """
    labels = vocabulary.labels if vocabulary else frozenset[str]()
    paths = frozenset(label for label in labels if label.startswith("/"))
    own = frozenset(_lines("topics.txt"))
    return Relations(Vocabulary(paths or own), is_open=not paths)


@cache
def _lines(name: str) -> tuple[str, ...]:
    text = (files(__package__) / name).read_text("utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))
