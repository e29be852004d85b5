"""Relations of arguments in docstrings."""

from __future__ import annotations

import pytest

from ciguard.suggesting.documented_relations import DescribedKind, documented_relations

NAMES = frozenset({"x", "n", "window", "order"})


def relations(name: str, text: str, subject: DescribedKind) -> list[str]:
    return [condition for condition, _ in documented_relations(name, text, NAMES, subject)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("At least 1 and at most the length of `x`.", ["n <= len(x)"]),
        ("No longer than x.", ["n <= x"]),
        ("Must not exceed ``len(x)``.", ["n <= len(x)"]),
        ("Must be less than ``window``.", ["n < window"]),
        ("Larger than or equal to ``order + 1``.", ["n >= order + 1"]),
        ("Cannot be less than x.", ["n >= x"]),
        ("Not larger than `x` and more than `order`.", ["n <= x", "n > order"]),
        ("Should be odd.", ["n % 2 == 1"]),
        ("An even integer", ["n % 2 == 0"]),
        ("Multiple of 4, divisible by `window`.", ["n % 4 == 0"]),
        ("At most 5.", []),
        ("At least `x` if `window` is given.", []),
        ("At most the length of `x` along the axis.", []),
        ("At most the number of cores.", []),
        ("At most `__import__('os')`.", []),
        ("At most `n`.", []),
        ("At most `x(window)`.", []),
    ],
)
def test_relations_of_an_integer_are_read(text: str, expected: list[str]) -> None:
    assert relations("n", text, DescribedKind.INTEGER) == expected


def test_only_integers_are_even_or_odd() -> None:
    assert relations("n", "Should be odd.", DescribedKind.NUMBER) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Signal with at least ``order + 1`` samples.", ["len(x) >= order + 1"]),
        ("At least two rows.", ["len(x) >= 2"]),
        ("Same length as `window`.", ["len(x) == len(window)"]),
        ("Values of at most `n`.", []),
    ],
)
def test_relations_of_a_sized_argument_are_of_its_length(text: str, expected: list[str]) -> None:
    assert relations("x", text, DescribedKind.SIZED) == expected


def test_the_sentence_of_a_relation_is_its_reason() -> None:
    text = "A window. At most `x`."

    assert list(documented_relations("n", text, NAMES, DescribedKind.INTEGER)) == [
        ("n <= x", "At most `x`.")
    ]
