"""Operator BC (boundary checking)."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import pytest
from code_records import CALLS, apis, block_of, layer, layer_call, optional, required, rng_of
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.programs import Operator
from ciguard.domain.values import LiteralValue
from ciguard.levels.code.boundary import STEP, Boundary, values_beyond
from ciguard.levels.code.knowledge import Apis
from ciguard.levels.code.literals import text_of, value_of
from ciguard.levels.code.program_runs import source_of
from ciguard.oracles.specifications import (
    Requirement,
    Specification,
    choice,
    interval,
    ranks,
    specifications_of,
    violation_in_words,
    with_conventions,
)
from ciguard.values import Dtype, Float

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge import Parameter
    from ciguard.levels.code.blocks import LibraryCall

BREAK = Boundary(apis(), specifications_of)


@cache
def parameter(annotation: str, default: str = "1") -> Parameter:
    known = Apis([layer("lib.Any", "", optional("size", annotation, default))]).find("lib.Any")
    assert known is not None
    return known.parameters[0]


def texts(annotation: str, requirement: Requirement, current: str | None = "1") -> list[str]:
    values = values_beyond(parameter(annotation), requirement, current)
    return [text_of(value) for value in values]


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (interval(low=0), ["-1"]),
        (interval(low=0, excludes_low=True), ["0", "-1"]),
        (interval(low=1), ["0", "-1"]),
        (interval(low=2), ["1", "0", "-1"]),
        (interval(low=-5, high=5), ["-6", "6"]),
        (interval(high=3, excludes_high=True), ["3"]),
        (interval(low=0.5), ["0", "-1"]),
        (interval(), []),
    ],
)
def test_integers_go_one_beyond_the_ends(requirement: Float, expected: list[str]) -> None:
    assert texts("int", requirement) == expected


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (interval(low=0), ["-0.0001", "-1.0"]),
        (interval(low=0, excludes_low=True), ["0.0", "-0.0001", "-1.0"]),
        (interval(low=0, high=1), ["-0.0001", "1.0001", "-1.0"]),
        (interval(low=1), ["0.9999", "0.0", "-1.0"]),
    ],
)
def test_reals_go_a_small_step_beyond_the_ends(requirement: Float, expected: list[str]) -> None:
    assert texts("float", requirement, "0.5") == expected


def test_one_item_of_a_list_is_mutated() -> None:
    bent = texts("Union[int, tuple[int, int]]", interval(low=0, excludes_low=True), "(2, 3)")

    assert bent == ["(0, 3)", "(-1, 3)"]


def test_a_choice_gets_an_unknown_text() -> None:
    assert texts("str", choice(("valid", "same")), "'same'") == ["'no_such_option'"]


@pytest.mark.parametrize(
    ("annotation", "requirement"),
    [
        ("bool", interval(low=0)),
        ("bool", choice(("bilinear", "bicubic"))),
        ("Tensor", interval(low=0, high=1)),
        ("str", interval(low=0)),
        ("int", choice(("a", "b"))),
        ("Tensor", ranks(2, 2)),
        ("Tensor", Dtype(("int64",))),
        ("str", choice(("a", "no_such_option"))),
    ],
)
def test_a_specification_of_another_kind_has_no_mutant(
    annotation: str, requirement: Requirement
) -> None:
    assert texts(annotation, requirement) == []


INTERVALS = st.builds(
    lambda low, width, open_low, open_high: interval(
        low=low, high=low + width, excludes_low=open_low, excludes_high=open_high
    ),
    st.integers(-100, 100) | st.sampled_from([0.25, 0.5, 1.75]),
    st.integers(1, 50),
    st.booleans(),
    st.booleans(),
)


@given(
    INTERVALS,
    st.sampled_from(["int", "float", "Union[int, tuple[int, int]]"]),
    st.sampled_from(["1", "(1, 1)", None, "SIZE"]),
)
def test_every_value_beyond_a_requirement_violates_it(
    requirement: Float, kind: str, current: str | None
) -> None:
    values = values_beyond(parameter(kind), requirement, current)

    assert values
    assert all(violation_in_words(value, requirement) for value in values)


@given(st.sampled_from(CALLS), st.integers(0, 2**32))
def test_every_mutant_quotes_the_violated_sentence(call: LibraryCall, seed: int) -> None:
    mutant = BREAK(block_of(call), 0, rng_of(seed))

    if mutant is not None:
        step = mutant.step
        known = apis().find(step.api)
        value = value_of(step.after)
        assert known is not None
        assert value is not None
        specifications = specifications_of(known.record)[step.parameter]
        assert any(
            violation_in_words(value, specification.requirement)
            and specification.sentence == step.sentence
            for specification in specifications
        )
        assert step.operator is Operator.BOUNDARY


def test_every_violation_of_a_call_has_a_mutant() -> None:
    mutants = BREAK.mutants(block_of(layer_call("torch.nn.MaxPool2d", "2")), 0)

    assert [(m.step.parameter, m.step.before, m.step.after) for m in mutants] == [
        ("kernel_size", "2", "0"),
        ("kernel_size", "2", "-1"),
    ]
    assert {m.step.sentence for m in mutants} == {"The size of the sliding window, must be > 0"}
    assert [m.block.calls[0] for m in mutants] == [
        layer_call("torch.nn.MaxPool2d", kernel_size="0"),
        layer_call("torch.nn.MaxPool2d", kernel_size="-1"),
    ]


def test_a_convention_is_violated_like_a_specification() -> None:
    norm = layer("torch.nn.LayerNorm", "", optional("eps", "float", "1e-05"))
    by_convention = Boundary(Apis([norm]), lambda api: with_conventions(api, {}))

    mutants = by_convention.mutants(block_of(layer_call("torch.nn.LayerNorm")), 0)

    assert [(m.step.parameter, m.step.after) for m in mutants] == [
        ("eps", "-0.0001"),
        ("eps", "-1.0"),
    ]
    assert {source_of(m.step) for m in mutants} == {
        "convention: “a term against division by zero is not negative”"
    }


def test_a_call_without_specifications_has_no_mutant() -> None:
    blocks = [
        block_of(layer_call("torch.nn.AvgPool2d", "2")),
        block_of(layer_call("torch.nn.Unheard", "2")),
        block_of(layer_call("torch.nn.Dropout", "*options")),
    ]

    assert [BREAK(block, 0, rng_of(0)) for block in blocks] == [None, None, None]


def test_input_sizes_are_not_mutated() -> None:
    record = layer("lib.Linear", "", required("in_features", "int", "Must be > 0."))

    assert "in_features" in specifications_of(record)
    assert (
        Boundary(Apis([record]), specifications_of).mutants(
            block_of(layer_call("lib.Linear", "3")), 0
        )
        == ()
    )


def test_specifications_are_read_once_per_api() -> None:
    records_read: list[ApiRecord] = []

    def read(record: ApiRecord) -> dict[str, tuple[Specification, ...]]:
        records_read.append(record)
        return {}

    operator = Boundary(apis(), read)
    for _ in range(3):
        operator.mutants(block_of(CALLS[0]), 0)

    assert len(records_read) == 1


def test_the_step_of_reals_is_that_of_the_paper() -> None:
    assert math.isclose(STEP, 1e-4)
    assert values_beyond(parameter("float"), interval(high=2), "1.0")[0] == LiteralValue(2.0001)
