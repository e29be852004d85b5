"""Relatedness of labels, and proposals for unknown ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.errors import ConfigurationError
from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
from ciguard.levels.app.repair.relatedness import (
    CombinedRelatedness,
    SharedWords,
    Taxonomy,
    known_relations,
    proposed_labels,
    read_taxonomy,
)

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ["Fire", "campfire", "Fires", "Human face", "Face", "faces", "Tree", "of the", "", "Ash"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Campfire", "Fire"), ("Clothing", "clothes"), ("Human face", "Face"), ("tree", "Trees"),
        ("Strawberries", "berry"), ("cookies", "Cookie"), ("boxes", "Box"), ("House", "houses"),
        ("dog", "Dogs"), ("Glass bottle", "bottles"), ("dishes", "dish"),
    ],
)  # fmt: skip
def test_labels_with_a_common_word_are_related(one: str, other: str) -> None:
    assert SharedWords().related(one, other)
    assert SharedWords().related(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Fire", "Flame"), ("Carpet", "Pet"), ("Bowl of rice", "Cup of tea"), ("Fir", "Fire"),
        ("Bus", "Bu"), ("", ""), ("Fire", ""), ("Glass", "Glas"), ("Ash", "Wash"),
    ],
)  # fmt: skip
def test_labels_without_a_common_word_are_unrelated(one: str, other: str) -> None:
    assert not SharedWords().related(one, other)


def test_taxonomy_relates_neighbours_and_labels_with_a_common_neighbour() -> None:
    taxonomy = Taxonomy([("flame", "fire"), ("ash", "fire"), ("volcanic  Ash", "Ash")])

    assert taxonomy.related("Flame", "Fire")
    assert taxonomy.related("Flame", "ash")
    assert taxonomy.related("Volcanic ash", "fire")
    assert not taxonomy.related("volcanic ash", "flame")
    assert taxonomy.related("Amber", "amber")
    assert not taxonomy.related("Amber", "fire")


@given(
    st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS))),
    st.sampled_from(LABELS), st.sampled_from(LABELS),
)  # fmt: skip
def test_relatedness_is_symmetric_and_combined_by_union(
    edges: list[tuple[str, str]], one: str, other: str
) -> None:
    several = (Taxonomy(edges), SharedWords(), known_relations())
    joined = CombinedRelatedness(*several)

    assert all(item.related(one, other) == item.related(other, one) for item in several)
    assert joined.related(one, other) == any(item.related(one, other) for item in several)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Fire", "Flame"), ("fire", "Ash"), ("Flame", "Smoke"), ("Trousers", "Pants"),
        ("Clothing", "clothes"), ("Human face", "face"), ("Aluminum", "aluminium"),
        ("Paper", "Cardboard"), ("food", "Cuisine"), ("Dog", "Puppy"),
    ],
)  # fmt: skip
def test_known_relations_relate_everyday_labels(one: str, other: str) -> None:
    assert known_relations().related(one, other)


@pytest.mark.parametrize(
    ("one", "other"), [("Fire", "Amber"), ("Fire", "Dog"), ("Food", "Paper"), ("Pizza", "Puppy")]
)
def test_known_relations_separate_everyday_labels_of_different_kinds(one: str, other: str) -> None:
    assert not CombinedRelatedness(known_relations(), SharedWords()).related(one, other)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine.tsv", '# mine\n\nflame\tfire\n"hot" ash\tfire\n'),
        ("mine.csv", '\ufeff# mine, of course\r\nflame,fire\r\n"""hot"" ash",fire\r\n'),
    ],
)
def test_taxonomy_is_read_from_lines_and_csv(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")

    assert read_taxonomy(tmp_path / name).related("Flame", '"hot" ash')


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.tsv", b"flame\tfire\nash\n", r"x\.tsv: line 2: 'ash' is not a relation.* by a tab"),
        ("x.tsv", b"\n\na\tb\tc\n", r"x\.tsv: line 3: 'a.*c' is not a relation"),
        ("x.csv", b"flame,\n", r"x\.csv: line 1: 'flame,' is not a relation.* by a comma"),
        ("x.tsv", b"# nothing\n", r"x\.tsv contains no relation\. Write"),
        ("x.tsv", b"\xff\xfe", r"x\.tsv cannot be read.* Name a UTF-8 text file"),
        ("gone.tsv", None, r"gone\.tsv cannot be read"),
    ],
)
def test_invalid_taxonomy_file_is_rejected_with_a_remedy(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(ConfigurationError, match=message):
        read_taxonomy(tmp_path / name)


def test_proposals_are_equal_then_related_then_similarly_spelled_labels() -> None:
    vocabulary = Vocabulary(
        frozenset(
            {"Plants", "Trousers", "Clothing", "Human face", "Race", "FIRE", "Flame", "Tires"}
        )
    )
    closeness = (known_relations(), SharedWords())

    assert proposed_labels("pants", vocabulary, *closeness) == ("Clothing", "Trousers", "Plants")
    assert proposed_labels("clothes", vocabulary, *closeness)[0] == "Clothing"
    assert proposed_labels("face", vocabulary, *closeness)[0] == "Human face"
    assert proposed_labels("fire", vocabulary, *closeness)[:2] == ("FIRE", "Flame")
    assert proposed_labels("face", vocabulary) == vocabulary.nearest("face")
    assert proposed_labels("xyzzy", vocabulary, *closeness) == ()
