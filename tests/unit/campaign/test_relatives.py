from __future__ import annotations

from typing import Any

from ciguard.campaign.relatives import Relatives
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.records import ApiRecord, ParameterKind, ParameterRecord
from ciguard.domain.values import LiteralValue

ONE = LiteralValue(1)


def record(
    api: str, *required: str, optional: str = "", kind: CallKind = CallKind.FUNCTION
) -> ApiRecord:
    parameters = [ParameterRecord(name=name, required=True) for name in required]
    parameters += [
        ParameterRecord(name=name, required=False, kind=ParameterKind.KEYWORD_ONLY)
        for name in optional.split()
    ]
    return ApiRecord(api=api, kind=kind, parameters=tuple(parameters))


def call(api: str, **changes: Any) -> ApiCall:
    return ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(ONE,), **changes)


def test_relatives_are_the_apis_with_the_same_required_parameters() -> None:
    relatives = Relatives([record("l.f", "x"), record("l.g", "x"), record("l.h", "x", "y")])

    assert [related.api for related in relatives.calls(call("l.f"))] == ["l.g"]


def test_relatives_with_similar_names_come_first() -> None:
    names = ("l.apply_max", "l.scale", "l.apply_min", "m.Apply_Max_V2")
    relatives = Relatives([record(name, "x") for name in names])

    apis = [related.api for related in relatives.calls(call("l.apply_max"))]

    assert apis == ["m.Apply_Max_V2", "l.apply_min", "l.scale"]


def test_relatives_of_an_operator_are_limited() -> None:
    relatives = Relatives([record(f"l.f{number}", "x") for number in range(200)])

    assert len(relatives.calls(call("l.f0"))) < 50


def test_relatives_include_methods_by_their_receiver() -> None:
    relatives = Relatives(
        [record("l.f", "input"), record("l.Tensor.f", "self", kind=CallKind.METHOD)]
    )

    (related,) = relatives.calls(call("l.f"))

    assert (related.api, related.kind) == ("l.Tensor.f", CallKind.METHOD)


def test_relatives_get_no_keyword_arguments_that_they_lack() -> None:
    relatives = Relatives(
        [record("l.f", "x", optional="axis how"), record("l.g", "x", optional="axis")]
    )
    keywords = (("axis", ONE), ("how", ONE))

    (related,) = relatives.calls(call("l.f", keywords=keywords))

    assert related.keywords == (("axis", ONE),)


def test_calls_of_layers_and_of_unknown_apis_have_no_relatives() -> None:
    relatives = Relatives([record("l.f", "x"), record("l.g", "x")])

    assert not relatives.calls(call("l.f", inputs=(ONE,)))
    assert not relatives.calls(call("l.unknown"))
