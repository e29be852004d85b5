"""Which labels mean something alike: by a taxonomy, or by their words (Keeper, section 4.2).

The paper asks the knowledge graph of Wikidata; what asks a graph like that is a `Relatedness` too.
"""

from __future__ import annotations

import csv
import re
from functools import cache, lru_cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Protocol

from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary

_SHIPPED = "relations.tsv"
_WORD = re.compile(r"[^\W_]+")
_NO_CONTENT = frozenset({
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "it", "kind", "no", "not", "of",
    "on", "or", "other", "part", "the", "to", "type", "with",
})  # fmt: skip
_ENDINGS = (
    (re.compile(r"(?<=[a-z]{3})(?:ies|ie|y)$"), "i"),
    (re.compile(r"(?<=[a-z](?:ch|sh|ss))es$|(?<=[a-z]{2}[xz])es$"), ""),
    (re.compile(r"(?<=[a-z]{4})(?:ings|ing|es|ed|e)$"), ""),
    (re.compile(r"(?<=[a-z]{2}[^\Wsui])s$"), ""),
)
"""What is taken off a word, and what it ends with instead; the first that fits."""
_MIN_HEAD = 4
"""Letters of a word that may be the last part of another."""
_MIN_BEFORE = 3
_PROPOSED = 4
"""Labels at most that may be meant by one."""


class Relatedness(Protocol):
    """Says which labels are near each other."""

    def related(self, one: str, other: str) -> bool:
        """Return whether two labels mean something alike; the same in both directions."""


class CombinedRelatedness:
    """What any of several says is related."""

    def __init__(self, *several: Relatedness) -> None:
        self._several = several

    def related(self, one: str, other: str) -> bool:
        """Return whether any of them says so."""
        return any(each.related(one, other) for each in self._several)


class Words:
    """Labels that share a word, or one of which ends with a word of the other: `Campfire`, `Fire`.

    Words are compared without their endings; those that say nothing, like `of`, are passed over.
    """

    def related(self, one: str, other: str) -> bool:
        """Return whether two labels share a word."""
        return any(
            mine == theirs or _is_kind_of(mine, theirs) or _is_kind_of(theirs, mine)
            for mine in _forms(one)
            for theirs in _forms(other)
        )


@lru_cache(maxsize=65_536)
def _forms(label: str) -> frozenset[str]:
    """Return the words of a label that say something, with their endings and without."""
    words = [word for word in _WORD.findall(label.casefold()) if word not in _NO_CONTENT]
    return frozenset((*words, *map(_stem, words)))


def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        stem, count = ending.subn(instead, word)
        if count:
            return stem
    return word


def _is_kind_of(word: str, other: str) -> bool:
    long_enough = len(other) >= _MIN_HEAD and len(word) >= len(other) + _MIN_BEFORE
    return long_enough and word.endswith(other)


class Taxonomy:
    """A graph of labels; capital letters and spaces more or less make no difference."""

    def __init__(self, edges: Iterable[tuple[str, str]]) -> None:
        """Begin.

        Args:
            edges: labels that stand beside each other, such as a kind of thing and the thing.
        """
        self._beside: dict[str, set[str]] = {}
        for one, other in edges:
            mine, theirs = _plain(one), _plain(other)
            self._beside.setdefault(mine, {mine}).add(theirs)
            self._beside.setdefault(theirs, {theirs}).add(mine)

    def related(self, one: str, other: str) -> bool:
        """Return whether two labels are the same, neighbours, or have a neighbour in common.

        Source: Keeper, section 4.2.
        """
        mine, theirs = _plain(one), _plain(other)
        beside = self._beside.get(mine, {mine})
        return theirs in beside or not beside.isdisjoint(self._beside.get(theirs, ()))


def _plain(label: str) -> str:
    return " ".join(label.casefold().split())


def meant(label: str, vocabulary: Vocabulary, *closeness: Relatedness) -> tuple[str, ...]:
    """Return a few labels that may be meant by one that does not exist, the likeliest first.

    That is the same in other letters, then those that are related in the order of `closeness`, the
    ones that are spelled alike before others, then those that are only spelled alike.

    Args:
        label: that the vocabulary does not have.
        vocabulary: labels of the service.
        closeness: what relates labels, the nearest relation first.
    """
    alike = vocabulary.nearest(label)
    same = [one for one in alike if one.lower() == label.lower()]
    others = sorted(vocabulary.labels.difference(alike), key=lambda one: (len(one), one))
    near = [one for each in closeness for one in (*alike, *others) if each.related(label, one)]
    return tuple(dict.fromkeys((*same, *near, *alike)))[:_PROPOSED]


@cache
def known_relations() -> Taxonomy:
    """Return the relations of everyday labels that come with ciguard."""
    with as_file(files(__package__) / _SHIPPED) as file:
        return read_taxonomy(file)


def read_taxonomy(file: Path) -> Taxonomy:
    """Read relations: in each line a label, a tab and one above it; or a CSV file with two columns.

    Empty lines are passed over, and those that begin with `#`.

    Args:
        file: with `.csv` at the end of its name if it is a CSV file.

    Raises:
        ConfigurationError: if the file cannot be read, a line has no two labels, or there is none.
    """
    try:
        edges = list(_edges(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        msg = (
            f"{file}: cannot be read as relations of labels: {error}. Name a text file in UTF-8 "
            "with a label, a tab and the label above it in each line."
        )
        raise ConfigurationError(msg) from error
    if not edges:
        msg = (
            f"{file}: no relation in it. Write a label, a tab and the label above it in each line."
        )
        raise ConfigurationError(msg)
    return Taxonomy(edges)


def _edges(file: Path) -> Iterator[tuple[str, str]]:
    is_csv = file.suffix == ".csv"
    with file.open(encoding="utf-8-sig", newline="") as lines:
        read = (
            csv.reader(lines) if is_csv else csv.reader(lines, "excel-tab", quoting=csv.QUOTE_NONE)
        )
        for row in read:
            labels = [label.strip() for label in row]
            if not any(labels) or labels[0].startswith("#"):
                continue
            if len(labels) != 2 or not all(labels):  # noqa: PLR2004 - a label and one above it
                between = "comma" if is_csv else "tab"
                found = ("," if is_csv else "\t").join(row)
                msg = (
                    f"{file}: line {read.line_num}: {found!r} is no relation. Write "
                    f"two labels with a {between} between them, or # before a remark."
                )
                raise ConfigurationError(msg)
            yield labels[0], labels[1]
