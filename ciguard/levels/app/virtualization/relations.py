"""Which labels of a vocabulary are like another: a service that errs seldom errs by far."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary

_MOST = 24
_WORD = re.compile(r"\w+")


class Relations:
    """Labels of a vocabulary, by what is like them."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        groups: tuple[tuple[str, ...], ...] = (),
        *,
        is_open: bool = False,
    ) -> None:
        """Prepare it.

        Args:
            vocabulary: that every label is from.
            groups: of labels that are related whatever their words; others are left out.
            is_open: whether the service has labels beside these.
        """
        self.labels = tuple(sorted(vocabulary.labels))
        self._vocabulary = vocabulary
        self.is_open = is_open
        self._spellings = {label.lower(): label for label in reversed(self.labels)}
        self._by_word = self._words()
        self._kin: dict[str, list[str]] = {}
        for group in groups:
            known = [found for name in group if (found := self.spelled(name))]
            for label in known:
                self._kin.setdefault(label, []).extend(one for one in known if one != label)
        self._found: dict[str, tuple[str, ...]] = {}

    def _words(self) -> dict[str, list[str]]:
        """Return labels by the word that they begin with, or end with, the short ones first."""
        found: dict[str, list[str]] = {}
        for label in sorted(self.labels, key=lambda label: (len(label), label)):
            for word in _ends(label):
                found.setdefault(word, []).append(label)
        return found

    def spelled(self, text: str) -> str:
        """Return the label that is the text in other letters at most; empty for none."""
        text = text.strip()
        return text if text in self._vocabulary.labels else self._spellings.get(text.lower(), "")

    def related(self, text: str) -> tuple[str, ...]:
        """Return a few other labels that are like a text, the nearest first.

        Of one that is no label, those that may be meant by it are first. There may be none.
        """
        if text not in self._found:
            self._found[text] = self._look(text)
        return self._found[text]

    def _look(self, text: str) -> tuple[str, ...]:
        label = self.spelled(text)
        near = () if label else self._vocabulary.nearest(text)
        found = [*near, *self._kin.get(label, ())]
        for one in (label or text, *near[:1]):
            found += [like for word in _ends(one) for like in self._by_word.get(word, ())[:_MOST]]
        return tuple(one for one in dict.fromkeys(found) if one != label)[:_MOST]


def _ends(label: str) -> tuple[str, ...]:
    words = _WORD.findall(label.lower())
    return tuple(dict.fromkeys((words[0], words[-1]))) if words else ()


def relations_of(vocabulary: Vocabulary | None) -> Relations:
    """Return the relations of a user's vocabulary; None for ciguard's own."""
    groups = tuple(
        tuple(label.strip() for label in line.split(",")) for line in _lines("labels.txt")
    )
    own = frozenset(label for group in groups for label in group)
    return Relations(vocabulary or Vocabulary(own), groups)


def topics_of(vocabulary: Vocabulary | None) -> Relations:
    """Return the relations of the topics in a user's vocabulary, paths; None for ciguard's own."""
    given = vocabulary.labels if vocabulary else frozenset[str]()
    paths = frozenset(label for label in given if label.startswith("/"))
    own = frozenset(_lines("topics.txt"))
    return Relations(Vocabulary(paths or own), is_open=not paths)


@cache
def _lines(name: str) -> tuple[str, ...]:
    text = (files(__package__) / name).read_text("utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))
