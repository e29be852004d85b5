from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.knowledge.mining.sentences import MAX_TEXT_LENGTH, sentences


def texts(text: str) -> list[str]:
    return [one.text for one in sentences(text)]


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
def test_an_abbreviation_a_number_and_a_dotted_name_end_no_sentence(text: str) -> None:
    assert texts(text) == [text]


def test_a_blank_line_and_a_bullet_begin_a_sentence() -> None:
    assert texts("one of\n  - `same`\n  - `valid`\n\nlast") == [
        "one of",
        "- `same`",
        "- `valid`",
        "last",
    ]


def test_what_has_no_letter_or_digit_is_no_sentence() -> None:
    assert texts(" ... \n\n --- . ") == []


@given(st.text(alphabet=st.sampled_from("ab.! \n`)-1é漢"), max_size=200))
def test_every_sentence_stands_where_it_says(text: str) -> None:
    for one in sentences(text):
        assert text[one.start : one.end] == one.text


@pytest.mark.parametrize("filler", [". ", "a. ", "e.g. ", "\n\n", "\n" * 3 + " ", "((", "x"])
def test_a_hundred_kilobytes_are_split_in_no_time(filler: str) -> None:
    start = time.perf_counter()

    found = sentences(filler * (100_000 // len(filler)))

    assert time.perf_counter() - start < 1.0
    assert sum(len(one.text) for one in found) <= MAX_TEXT_LENGTH
