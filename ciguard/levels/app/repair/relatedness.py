"""Relatedness of labels, by a taxonomy or by their words (Keeper paper, section 4.2).

The paper queries Wikidata's knowledge graph; `Relatedness` could also be implemented in that way.
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

_RELATIONS_FILE = "relations.tsv"
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
"""(Ending of a word, replacement) for stemming; the first ending that matches is replaced."""
_MIN_FINAL_LENGTH = 4
"""Minimum length of a word that may be the final part of a compound, as in `campfire`."""
_MIN_PREFIX_LENGTH = 3
"""Minimum number of letters before that final part."""
_MAX_PROPOSALS = 4
"""Maximum number of labels that are proposed for an unknown one."""


class Relatedness(Protocol):
    """Relation between labels of similar meaning."""

    def related(self, label: str, other: str) -> bool:
        """Return whether two labels have a similar meaning; their order does not matter."""


class CombinedRelatedness:
    """Union of several kinds of relatedness."""

    def __init__(self, *parts: Relatedness) -> None:
        self._parts = parts

    def related(self, label: str, other: str) -> bool:
        """Return whether any kind of relatedness relates two labels."""
        return any(part.related(label, other) for part in self._parts)


class SharedWords:
    """Relatedness by words: of labels that share a word, or the final part of a compound.

    `Campfire` and `Fire` are related. Words are stemmed; stop words such as `of` are ignored.
    """

    def related(self, label: str, other: str) -> bool:
        """Return whether two labels share a word or the final part of a compound."""
        return any(
            left == right or _is_kind_of(left, right) or _is_kind_of(right, left)
            for left in _words_and_stems(label)
            for right in _words_and_stems(other)
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
    long_enough = len(other) >= _MIN_FINAL_LENGTH and len(word) >= len(other) + _MIN_PREFIX_LENGTH
    return long_enough and word.endswith(other)


class Taxonomy:
    """Relatedness by a graph of labels; case and extra spaces are ignored."""

    def __init__(self, edges: Iterable[tuple[str, str]]) -> None:
        """Create the graph.

        Args:
            edges: pairs of neighbouring labels, such as a thing and a kind of that thing.
        """
        self._neighbours: dict[str, set[str]] = {}
        for label, other in edges:
            left, right = _normalised(label), _normalised(other)
            self._neighbours.setdefault(left, {left}).add(right)
            self._neighbours.setdefault(right, {right}).add(left)

    def related(self, label: str, other: str) -> bool:
        """Return whether two labels are equal, neighbours, or have a common neighbour.

        Source: Keeper paper, section 4.2.
        """
        left, right = _normalised(label), _normalised(other)
        neighbours = self._neighbours.get(left, {left})
        return right in neighbours or not neighbours.isdisjoint(self._neighbours.get(right, ()))


def _normalised(label: str) -> str:
    return " ".join(label.casefold().split())


def proposed_labels(
    label: str, vocabulary: Vocabulary, *relatedness_kinds: Relatedness
) -> tuple[str, ...]:
    """Return a few labels that an unknown label may mean, the likeliest first.

    First comes the label in another case, then related labels in the order of `relatedness_kinds`.
    Of equally related labels, those with a similar spelling come first. Unrelated labels with a
    similar spelling come last.

    Args:
        label: the unknown label.
        vocabulary: the labels of the service.
        relatedness_kinds: kinds of relatedness, the closest one first.
    """
    similar = vocabulary.nearest(label)
    case_variants = [candidate for candidate in similar if candidate.lower() == label.lower()]
    others = sorted(
        vocabulary.labels.difference(similar), key=lambda candidate: (len(candidate), candidate)
    )
    related = [
        candidate
        for relatedness in relatedness_kinds
        for candidate in (*similar, *others)
        if relatedness.related(label, candidate)
    ]
    return tuple(dict.fromkeys((*case_variants, *related, *similar)))[:_MAX_PROPOSALS]


@cache
def known_relations() -> Taxonomy:
    """Return the relations of everyday labels that come with ciguard."""
    with as_file(files(__package__) / _RELATIONS_FILE) as file:
        return read_taxonomy(file)


def read_taxonomy(file: Path) -> Taxonomy:
    """Read relations: a label and its parent on each line, separated by a tab or as CSV.

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
            f"{file} cannot be read as a list of related labels: {error}. Name a UTF-8 text file "
            "with a label, a tab and the parent label on each line."
        )
        raise ConfigurationError(msg) from error
    if not edges:
        msg = (
            f"{file} contains no relation. Write a label, a tab and the parent label on each line."
        )
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
                    f"{file}: line {reader.line_num}: {text!r} is not a relation. Write two labels "
                    f"separated by a {separator}, or start a comment with #."
                )
                raise ConfigurationError(msg)
            yield labels[0], labels[1]
