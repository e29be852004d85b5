"""Relatedness of labels: by a taxonomy, or by their words (Keeper, section 4.2).

The paper queries the knowledge graph of Wikidata; such a query could be a `Relatedness` too.
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
_STOP_WORDS = frozenset({
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "it", "kind", "no", "not", "of",
    "on", "or", "other", "part", "the", "to", "type", "with",
})  # fmt: skip
_ENDINGS = (
    (re.compile(r"(?<=[a-z]{3})(?:ies|ie|y)$"), "i"),
    (re.compile(r"(?<=[a-z](?:ch|sh|ss))es$|(?<=[a-z]{2}[xz])es$"), ""),
    (re.compile(r"(?<=[a-z]{4})(?:ings|ing|es|ed|e)$"), ""),
    (re.compile(r"(?<=[a-z]{2}[^\Wsui])s$"), ""),
)
"""Endings of words with their replacements; the first match applies."""
_MIN_HEAD = 4
"""Minimum number of letters of a word that may be the last part of another."""
_MIN_BEFORE = 3
"""Minimum number of letters before that last part."""
_MAX_PROPOSALS = 4
"""Limit of labels that are proposed for an unknown one."""


class Relatedness(Protocol):
    """Decides which labels have a similar meaning."""

    def related(self, one: str, other: str) -> bool:
        """Return whether two labels have a similar meaning; symmetric."""


class CombinedRelatedness:
    """Union of several kinds of relatedness."""

    def __init__(self, *parts: Relatedness) -> None:
        self._parts = parts

    def related(self, one: str, other: str) -> bool:
        """Return whether two labels are related by any of the kinds."""
        return any(part.related(one, other) for part in self._parts)


class Words:
    """Relatedness by words: labels share a word, or a word ends with one of the other label.

    `Campfire` and `Fire` are related. Words are stemmed, and stop words such as `of` are ignored.
    """

    def related(self, one: str, other: str) -> bool:
        """Return whether two labels share a word."""
        return any(
            mine == theirs or _is_kind_of(mine, theirs) or _is_kind_of(theirs, mine)
            for mine in _words_and_stems(one)
            for theirs in _words_and_stems(other)
        )


@lru_cache(maxsize=65_536)
def _words_and_stems(label: str) -> frozenset[str]:
    """Return the words of a label and their stems, without stop words."""
    words = [word for word in _WORD.findall(label.casefold()) if word not in _STOP_WORDS]
    return frozenset((*words, *map(_stem, words)))


def _stem(word: str) -> str:
    for ending, replacement in _ENDINGS:
        stem, count = ending.subn(replacement, word)
        if count:
            return stem
    return word


def _is_kind_of(word: str, other: str) -> bool:
    long_enough = len(other) >= _MIN_HEAD and len(word) >= len(other) + _MIN_BEFORE
    return long_enough and word.endswith(other)


class Taxonomy:
    """A graph of labels; case and extra spaces are ignored."""

    def __init__(self, edges: Iterable[tuple[str, str]]) -> None:
        """Create the graph.

        Args:
            edges: pairs of neighbouring labels, such as a kind of a thing and the thing.
        """
        self._neighbours: dict[str, set[str]] = {}
        for label, other in edges:
            mine, theirs = _normalised(label), _normalised(other)
            self._neighbours.setdefault(mine, {mine}).add(theirs)
            self._neighbours.setdefault(theirs, {theirs}).add(mine)

    def related(self, one: str, other: str) -> bool:
        """Return whether two labels are the same, neighbours, or have a neighbour in common.

        Source: Keeper, section 4.2.
        """
        mine, theirs = _normalised(one), _normalised(other)
        neighbours = self._neighbours.get(mine, {mine})
        return theirs in neighbours or not neighbours.isdisjoint(self._neighbours.get(theirs, ()))


def _normalised(label: str) -> str:
    return " ".join(label.casefold().split())


def proposed_labels(label: str, vocabulary: Vocabulary, *closeness: Relatedness) -> tuple[str, ...]:
    """Return a few labels that an unknown label may mean, the likeliest first.

    The label in another case comes first. Related labels follow in the order of `closeness`, those
    of similar spelling first. Labels that only have a similar spelling come last.

    Args:
        label: the unknown label.
        vocabulary: the labels of the service.
        closeness: kinds of relatedness, the closest first.
    """
    similar = vocabulary.nearest(label)
    same = [candidate for candidate in similar if candidate.lower() == label.lower()]
    others = sorted(
        vocabulary.labels.difference(similar), key=lambda candidate: (len(candidate), candidate)
    )
    related = [
        candidate
        for relatedness in closeness
        for candidate in (*similar, *others)
        if relatedness.related(label, candidate)
    ]
    return tuple(dict.fromkeys((*same, *related, *similar)))[:_MAX_PROPOSALS]


@cache
def known_relations() -> Taxonomy:
    """Return the relations of everyday labels that come with ciguard."""
    with as_file(files(__package__) / _SHIPPED) as file:
        return read_taxonomy(file)


def read_taxonomy(file: Path) -> Taxonomy:
    """Read relations: a label and its parent in each line, separated by a tab or as CSV.

    Empty lines and lines that begin with `#` are skipped.

    Args:
        file: the file; its name ends with `.csv` if it is a CSV file.

    Raises:
        ConfigurationError: if the file cannot be read, has no relation, or a line is invalid.
    """
    try:
        edges = list(_edges(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        msg = (
            f"{file}: cannot be read as relations of labels: {error}. Give a text file in UTF-8 "
            "with a label, a tab and the parent label in each line."
        )
        raise ConfigurationError(msg) from error
    if not edges:
        msg = f"{file}: holds no relation. Write a label, a tab and the parent label in each line."
        raise ConfigurationError(msg)
    return Taxonomy(edges)


def _edges(file: Path) -> Iterator[tuple[str, str]]:
    is_csv = file.suffix == ".csv"
    with file.open(encoding="utf-8-sig", newline="") as lines:
        reader = (
            csv.reader(lines) if is_csv else csv.reader(lines, "excel-tab", quoting=csv.QUOTE_NONE)
        )
        for row in reader:
            labels = [label.strip() for label in row]
            if not any(labels) or labels[0].startswith("#"):
                continue
            if len(labels) != 2 or not all(labels):  # noqa: PLR2004 - a label and its parent
                separator = "comma" if is_csv else "tab"
                text = ("," if is_csv else "\t").join(row)
                msg = (
                    f"{file}: line {reader.line_num}: {text!r} is no relation. Write "
                    f"two labels with a {separator} between them, or # before a comment."
                )
                raise ConfigurationError(msg)
            yield labels[0], labels[1]
