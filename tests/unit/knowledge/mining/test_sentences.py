from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.knowledge.mining.sentences import MAX_TEXT_LENGTH, sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def test_a_sentence_ends_with_a_full_stop_before_white_space() -> None:
    assert texts("A `Tensor`. Must be positive! Why? Because.") == [
        "A `Tensor`.",
        "Must be positive!",
        "Why?",
        "Because.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "See e.g. the example, i.e. this one.",
        "Between 0.5 and 1.0, as in tf.nn.relu.",
        "Default vs. given.",
    ],
)
def test_abbreviations_numbers_and_dotted_names_do_not_end_a_sentence(text: str) -> None:
    assert texts(text) == [text]


def test_a_blank_line_or_a_bullet_starts_a_sentence() -> None:
    assert texts("one of\n  - `same`\n  - `valid`\n\nlast") == [
        "one of",
        "- `same`",
        "- `valid`",
        "last",
    ]


def test_text_without_letters_and_digits_has_no_sentence() -> None:
    assert texts(" ... \n\n --- . ") == []


@given(st.text(alphabet=st.sampled_from("ab.! \n`)-1é漢"), max_size=200))
def test_every_sentence_has_the_right_offsets(text: str) -> None:
    for sentence in sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text


@pytest.mark.parametrize("filler", [". ", "a. ", "e.g. ", "\n\n", "\n" * 3 + " ", "((", "x"])
def test_a_hundred_kilobytes_are_split_in_less_than_a_second(filler: str) -> None:
    start = time.perf_counter()

    split = sentences(filler * (100_000 // len(filler)))

    assert time.perf_counter() - start < 1.0
    assert sum(len(sentence.text) for sentence in split) <= MAX_TEXT_LENGTH
