"""Ranges and allowed numbers in docstrings."""

from __future__ import annotations

import pytest

from ciguard.suggesting.clues import ANY, NumberRange
from ciguard.suggesting.documented_numbers import (
    allowed_integers,
    allowed_values,
    documented_range,
    range_of_elements,
    sentences_on_range,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{0, 1, 2}", (0, 1, 2)),
        ("{'same', 'valid'}", ("same", "valid")),
        ("{None, 'mean'}", (None, "mean")),
        ("str, one of 'same' or 'valid'", ("same", "valid")),
        ("{array-like, sparse matrix} of shape (n,)", ()),
        ("{1}", ()),
    ],
)
def test_allowed_values_are_python_literals_or_quoted_texts(
    text: str, expected: tuple[object, ...]
) -> None:
    assert allowed_values(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dimension to reduce, 0, 1 or -1.", (0, 1, -1)),
        ("The derivative order, 1 or 2.", (1, 2)),
        ("Either 0 or 1", (0, 1)),
        ("Takes 1 or 2 values per row", ()),
        ("At least 1 or more", ()),
    ],
)
def test_a_list_of_integers_ends_its_clause(text: str, expected: tuple[int, ...]) -> None:
    assert allowed_integers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("positive float", NumberRange(0, open_low=True)),
        ("Must be positive.", NumberRange(0, open_low=True)),
        ("Standard deviations, positive.", NumberRange(0, open_low=True)),
        ("Weight of the positive term.", ANY),
        ("Order of the norm, at least 1", NumberRange(1)),
        ("Must not be less than 0", NumberRange(0)),
        ("No more than 3", NumberRange(high=3)),
        ("Smoothing in (0, 1]", NumberRange(0, 1, open_low=True)),
        ("Non-negative number below all", NumberRange(0)),
    ],
)
def test_ranges_of_numbers_are_read(text: str, expected: NumberRange) -> None:
    assert documented_range(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Probabilities in [0, 1]", NumberRange(0, 1)),
        ("array with values between -1 and 1", NumberRange(-1, 1)),
        ("An array with at least 2 rows", ANY),
        ("A positive definite matrix", ANY),
    ],
)
def test_ranges_of_elements_are_not_numbers_of_elements(text: str, expected: NumberRange) -> None:
    assert range_of_elements(text) == expected


def test_only_the_first_sentence_and_demands_state_a_range() -> None:
    text = "The rate. It is > 3 for users. Must be at most 5. Use 7 to disable it."

    assert sentences_on_range(text) == "The rate. Must be at most 5."
