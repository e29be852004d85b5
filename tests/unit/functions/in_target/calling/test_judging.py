from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from ciguard.functions.in_target.calling.judging import (
    are_moderate,
    changed,
    comparable,
    has_nan,
    is_user_file,
    snapshot,
)
from ciguard.functions.in_target.describing.notes import documented_exceptions

NAN = float("nan")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (NAN, True), ([1, (2, {"a": NAN})], True), (np.array([1, NAN]), True), (1.0, False),
        (complex(0, NAN), True), (np.array(["a"]), False), (np.arange(3), False), (None, False),
    ],
)  # fmt: skip
def test_nan_is_found_in_numbers_arrays_and_collections(value: Any, expected: bool) -> None:  # noqa: FBT001
    assert has_nan(value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1, 2.5, "a", None], True), (1e7, False), (NAN, False), (float("inf"), False),
        (np.array([1e5]), True), (np.array([1e7]), False), (np.array([NAN]), False),
        (object(), False), (len, True), (np.array([], "float32"), True),
        (0.0, True), (-1e-12, True), (5e-324, False), (np.array([0, 1.0]), True),
        (np.array([1, -1e-30]), False), (np.array([0, 255], "uint8"), True),
    ],
)  # fmt: skip
def test_numbers_are_moderate_if_neither_infinite_nor_large_nor_tiny(
    value: Any,
    *,
    expected: bool,
) -> None:
    assert are_moderate([value]) is expected


def test_changes_inside_arguments_are_found() -> None:
    arguments: dict[str, Any] = {"a": [1, [2]], "b": np.zeros(3), "c": {"k": 1}, "d": 4}
    before = snapshot(arguments)

    arguments["a"][1].append(3)
    arguments["b"][0] = NAN
    arguments["c"]["k"] = 1.0

    assert changed(before, arguments) == ["a", "b", "c"]


def test_unchanged_arguments_with_nan_count_as_unchanged() -> None:
    arguments = {"a": np.array([NAN]), "b": NAN}

    assert changed(snapshot(arguments), arguments) == []


def test_installed_files_are_not_user_code() -> None:
    assert is_user_file(__file__, __file__)
    assert not is_user_file(os.__file__, __file__)
    assert not is_user_file(np.__file__, __file__)
    assert is_user_file(np.__file__, np.__file__)


DOCUMENTED = {
    "google": "Do.\n\n    Raises:\n        ValueError: if not.\n        m.KeyError: never.\n",
    "numpy": "Do.\n\n    Raises\n    ------\n    ValueError\n        If not.\n    KeyError\n",
    "sphinx": "Do.\n\n    :raises ValueError: if not.\n    :raise m.KeyError: never.\n",
}


@pytest.mark.parametrize("text", DOCUMENTED.values(), ids=DOCUMENTED)
def test_documented_exceptions_are_read_in_every_docstring_style(text: str) -> None:
    def function() -> None: ...

    function.__doc__ = text + "\n    Returns:\n        TypeError: no.\n"

    assert documented_exceptions(function) == ["ValueError", "KeyError"]


def test_what_a_mask_hides_does_not_count() -> None:
    hidden = np.ma.masked_array([1.0, NAN], mask=[False, True])

    assert not has_nan(hidden)
    assert has_nan(np.ma.masked_array([1.0, NAN], mask=[True, False]))
    assert are_moderate([np.ma.masked_array([1.0, 1e9], mask=[False, True])])


def test_results_with_masks_are_compared_where_they_are_visible() -> None:
    first, second = (np.ma.masked_array([1.0, x], mask=[False, True]) for x in (NAN, 7.0))

    elements, mask = comparable(first)

    assert elements.tolist() == comparable(second)[0].tolist() == [1.0, 0.0]
    assert mask.tolist() == [False, True]
    assert comparable((first, 2))[0][0].tolist() == [1.0, 0.0]
    assert comparable([3, 4]) == [3, 4]


def test_a_changed_mask_is_a_change() -> None:
    array = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    before = snapshot({"x": array})
    array.mask = [True, False]

    assert changed(before, {"x": array}) == ["x"]
