from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.knowledge.mining.annotations import AnnotatedSentence, Labels
from ciguard.knowledge.mining.mine import frequent_patterns, group_sentences
from ciguard.knowledge.mining.structure import GappedSequences, Pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

BOOL: Labels = frozenset({("dtype", "bool")})
NOTHING: Labels = frozenset()
WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(tuple)


def sample(text: str, labels: Labels = NOTHING) -> AnnotatedSentence:
    return AnnotatedSentence(tuple(text.split()), labels)


def contains(pattern: Pattern, words: Sequence[str]) -> bool:
    """Return whether a sentence contains a pattern (reference: tries all positions)."""
    items = [item for item in pattern if item not in {"^", "$"}]
    return any(
        [words[position] for position in positions] == items
        and (pattern[0] != "^" or positions[0] == 0)
        and (pattern[-1] != "$" or words[-1] == items[-1])
        for positions in itertools.combinations(range(len(words)), len(items))
    )


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a c", "a b c", True),
        ("c a", "a b c", False),
        ("^ a", "a b", True),
        ("^ b", "a b", False),
        ("b $", "a b", True),
        ("a $", "a b", False),
        ("^ a $", "a", True),
        ("^ a b $", "a x b", True),
        ("a a", "a b", False),
        ("a", "", False),
        ("^ a", "", False),
    ],
)
def test_a_gapped_sequence_matches_tokens_in_order(
    pattern: str, text: str, *, matches: bool
) -> None:
    assert GappedSequences().matches(tuple(pattern.split()), text.split()) is matches


@given(WORDS, WORDS)
def test_matching_agrees_with_a_search_of_all_positions(pattern: Pattern, words: Pattern) -> None:
    assert GappedSequences().matches(pattern, words) == contains(pattern, words)


@given(st.lists(st.tuples(WORDS, st.booleans()), min_size=1, max_size=8), st.integers(1, 3))
def test_every_frequent_pattern_matches_exactly_its_groups(
    sentences: list[tuple[Pattern, bool]], min_support: int
) -> None:
    rows = group_sentences(
        AnnotatedSentence(words, BOOL if is_bool else NOTHING) for words, is_bool in sentences
    )

    for pattern, numbers in frequent_patterns(rows, min_support):
        matching = [n for n, row in enumerate(rows) if contains(pattern, row.words)]
        if pattern[-1] == "$":
            # The miner looks for the end only after the first match, so it may miss some rows.
            assert set(numbers) <= set(matching)
        else:
            assert list(numbers) == matching
        assert sum(rows[n].weight for n in numbers) >= min_support - 1e-6


def test_the_smallest_of_patterns_with_the_same_matches_is_kept() -> None:
    rows = group_sentences(
        [sample("whether to x", BOOL), sample("whether to y", BOOL), sample("to z")]
    )

    patterns = {pattern for pattern, _ in frequent_patterns(rows, 2)}

    assert ("whether",) in patterns
    assert ("whether", "to") not in patterns


def test_a_pattern_with_only_one_set_of_labels_is_not_extended() -> None:
    rows = group_sentences([sample("a b c", BOOL), sample("a b d", BOOL), sample("a e", BOOL)])

    assert max(len(p) for p, _ in frequent_patterns(rows, 2) if p[0] != "^") == 1


def test_the_weight_of_a_sentence_is_the_square_root_of_its_count() -> None:
    rows = group_sentences([sample("a", BOOL), sample("a"), *[sample("a", BOOL)] * 2, sample("b")])

    assert [(row.words, row.weight) for row in rows] == [(("a",), 2.0), (("b",), 1.0)]
    assert rows[0].labels == {BOOL: 1.5, NOTHING: 0.5}
