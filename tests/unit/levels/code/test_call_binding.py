"""Binding of arguments to parameters, and changes of arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from code_records import CONV2D, DENSE, F_ELU, RECURRENT, function_call, layer_call

from ciguard.domain.records import record_from_json
from ciguard.levels.code.binding import bind, call_with_arguments, with_argument
from ciguard.levels.code.blocks import LibraryCall
from ciguard.levels.code.literals import is_same, text_of, value_of

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord

FIXED = record_from_json(
    {
        "api": "lib.clip",
        "kind": "function",
        "parameters": [
            {"name": "x", "kind": "positional_only"},
            {"name": "low", "kind": "positional_only"},
            {"name": "high"},
        ],
    }
)


def test_positional_and_keyword_arguments_are_bound_to_their_parameters() -> None:
    bound = bind(layer_call(CONV2D.api, "3", "16", kernel_size="5"), CONV2D)

    assert bound is not None
    assert bound.named == {"in_channels": "3", "out_channels": "16", "kernel_size": "5"}


def test_arguments_of_a_catch_all_are_kept_apart() -> None:
    bound = bind(layer_call(DENSE.api, "10", name='"fc"'), DENSE)

    assert bound is not None
    assert (dict(bound.named), dict(bound.further)) == ({"units": "10"}, {"name": '"fc"'})


@pytest.mark.parametrize(
    ("record", "positional", "keywords"),
    [
        (CONV2D, ("*sizes",), ()),
        (CONV2D, tuple("123456789"), ()),
        (CONV2D, (), (("", "options"),)),
        (RECURRENT[0], ("16", "32"), ()),
    ],
)
def test_an_ambiguous_call_is_not_bound(
    record: ApiRecord, positional: tuple[str, ...], keywords: tuple[tuple[str, str], ...]
) -> None:
    call = LibraryCall(api=record.api, positional=positional, keywords=keywords)

    assert bind(call, record) is None


def test_a_changed_argument_and_later_ones_become_keywords() -> None:
    call = with_argument(
        layer_call(CONV2D.api, "3", "16", "5", padding="2"), CONV2D, "out_channels", "7"
    )

    assert call.positional == ("3",)
    assert call.keywords == (("out_channels", "7"), ("kernel_size", "5"), ("padding", "2"))


def test_a_missing_argument_is_added() -> None:
    call = with_argument(layer_call(CONV2D.api, "3", "16", "5"), CONV2D, "stride", "2")

    assert (call.positional, call.keywords) == (("3", "16", "5"), (("stride", "2"),))


def test_positional_only_arguments_stay_positional() -> None:
    call = with_argument(function_call("lib.clip", "x", "0", "1"), FIXED, "low", "-1")

    assert (call.positional, call.keywords) == (("x", "-1", "1"), ())


def test_the_data_of_a_function_is_written_first() -> None:
    call = call_with_arguments(
        function_call("torch.nn.functional.relu", "h"),
        F_ELU.api,
        F_ELU,
        {"alpha": "0.5", "x": "h"},
    )

    assert (call.positional, call.keywords) == (("h",), (("alpha", "0.5"),))


def test_positional_only_arguments_are_written_by_position() -> None:
    call = call_with_arguments(
        function_call("lib.other", "h"), "lib.clip", FIXED, {"x": "h", "low": "0", "high": "1"}
    )

    assert (call.positional, call.keywords) == (("h", "0"), (("high", "1"),))


@pytest.mark.parametrize(
    "text", ["1", "-2", "0.5", "'same'", "None", "True", "(1, 2)", "[3]", "(1,)"]
)
def test_literals_are_read_and_written_back(text: str) -> None:
    value = value_of(text)

    assert value is not None
    assert text_of(value) == text


@pytest.mark.parametrize("text", ["x", "nn.ReLU", "2 * width", "f(1)", "", "{1: 2}", "(1, x)"])
def test_other_expressions_are_no_literals(text: str) -> None:
    assert value_of(text) is None


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("2", "2", True),
        ("2", "(2, 2)", True),
        ("(2, 3)", "[2, 3]", True),
        ("2", "2.0", False),
        ("True", "1", False),
        ("WIDTH", "WIDTH", True),
        ("WIDTH", "2", False),
        ("2", None, False),
    ],
)
def test_arguments_are_compared_as_values(text: str, other: str | None, *, expected: bool) -> None:
    assert is_same(text, other) is expected
