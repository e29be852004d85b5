"""Arguments of which nothing is known but the name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciguard.campaign.undocumented import undocumented_odd_arguments, with_plain_values
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.records import ApiRecord, ParameterKind, ParameterRecord
from ciguard.domain.values import ListValue, LiteralValue

ODD, PLAIN = LiteralValue("x"), LiteralValue(2)
CALL = ApiCall(api="lib.f", kind=CallKind.FUNCTION, arguments=(ODD,))
BARE = ParameterRecord(name="a")


def record(*parameters: ParameterRecord, inputs: tuple[ParameterRecord, ...] = ()) -> ApiRecord:
    return ApiRecord(api="lib.f", kind=CallKind.FUNCTION, parameters=parameters, inputs=inputs)


def test_an_argument_with_only_a_name_is_undocumented() -> None:
    assert undocumented_odd_arguments(CALL, [record(BARE)]) == ["a"]
    assert undocumented_odd_arguments(replace(CALL, arguments=(PLAIN,)), [record(BARE)]) == []
    assert undocumented_odd_arguments(CALL, []) == []


@pytest.mark.parametrize(
    "parameter",
    [
        ParameterRecord(name="a", doc="What to do."),
        ParameterRecord(name="a", doc_type="str"),
        ParameterRecord(name="a", annotation="str"),
        ParameterRecord(name="a", schema_type="Tensor"),
        ParameterRecord(name="a", default="None"),
        ParameterRecord(name="a", dtypes=("float32",)),
        ParameterRecord(name="a", same_dtype_as="b"),
        ParameterRecord(name="a", allowed=("x",)),
        ParameterRecord(name="a", minimum=0),
        ParameterRecord(name="a", length=2),
    ],
)
def test_any_fact_on_any_target_documents_an_argument(parameter: ParameterRecord) -> None:
    assert undocumented_odd_arguments(CALL, [record(parameter)]) == []
    assert undocumented_odd_arguments(CALL, [record(BARE), record(parameter)]) == []


def test_an_argument_named_in_the_docstring_is_documented() -> None:
    call = replace(CALL, arguments=(), keywords=(("b", ODD),))
    bare = record(BARE)

    assert undocumented_odd_arguments(call, [bare]) == ["b"]
    assert undocumented_odd_arguments(call, [replace(bare, undeclared_parameters=("b",))]) == []
    assert undocumented_odd_arguments(CALL, [replace(bare, unread=("a a value",))]) == []
    assert undocumented_odd_arguments(CALL, [replace(bare, unread=("axis a value",))]) == ["a"]


def test_extra_keywords_are_documented_by_the_variadic_parameter() -> None:
    call = replace(CALL, arguments=(), keywords=(("b", ODD),))
    rest = ParameterRecord(name="kwargs", kind=ParameterKind.VAR_KEYWORD)

    assert undocumented_odd_arguments(call, [record(rest)]) == ["b"]
    assert undocumented_odd_arguments(call, [record(replace(rest, doc="Of the base class."))]) == []


def test_extra_positional_arguments_belong_to_the_variadic_parameter() -> None:
    call = replace(CALL, arguments=(PLAIN, PLAIN, ODD))
    rest = ParameterRecord(name="more", kind=ParameterKind.VAR_POSITIONAL)
    named = ParameterRecord(name="b", kind=ParameterKind.KEYWORD_ONLY)

    assert undocumented_odd_arguments(call, [record(BARE, rest, named)]) == ["more"]
    assert (
        undocumented_odd_arguments(call, [record(BARE, replace(rest, doc="Tensors."), named)]) == []
    )


def test_inputs_of_layers_are_arguments() -> None:
    call = replace(CALL, kind=CallKind.LAYER, arguments=(), inputs=(ODD,))

    assert undocumented_odd_arguments(call, [record(inputs=(BARE,))]) == ["a"]


def test_lists_of_plain_values_are_plain() -> None:
    lists = [
        (ListValue((PLAIN, PLAIN)), []),
        (ListValue((PLAIN, ODD)), ["a"]),
        (ListValue(()), ["a"]),
    ]

    for value, odd in lists:
        assert undocumented_odd_arguments(replace(CALL, arguments=(value,)), [record(BARE)]) == odd


def test_plain_values_replace_only_unusual_ones() -> None:
    call = replace(CALL, arguments=(ODD, ODD), keywords=(("c", ODD),))
    described = ParameterRecord(name="b", doc="A text.")

    calls = list(with_plain_values(call, record(BARE, described), ["a", "c"]))

    assert {c.arguments for c in calls} == {(LiteralValue(1), ODD), (LiteralValue(None), ODD)}
    assert {c.keywords for c in calls} == {
        (), (("c", LiteralValue(1)),), (("c", LiteralValue(None)),)
    }  # fmt: skip
