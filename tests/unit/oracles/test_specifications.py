"""Specifications read from documentation, and their violations."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord, ParameterKind, ParameterRecord
from ciguard.domain.values import (
    Constant,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    Uniform,
    Value,
)
from ciguard.knowledge import ClueSource
from ciguard.oracles.specifications import (
    Requirement,
    aspect_of,
    choice,
    interval,
    ranks,
    requirement_in_words,
    requirements_in,
    sentences,
    specifications_of,
    violation_in_words,
)
from ciguard.values import Dtype, conforms, in_range

UNIT = interval(low=0.0, high=1.0)
ASPECTS = {"range", "member", "rank", "dtype"}


def record(*parameters: ParameterRecord, source: str = "signature") -> ApiRecord:
    return ApiRecord(
        api="planted.total", kind=CallKind.FUNCTION, parameters=parameters, source=source
    )


def requirements(parameter: ParameterRecord) -> list[Requirement]:
    specifications = specifications_of(record(parameter)).get(parameter.name, ())
    return [specification.requirement for specification in specifications]


@pytest.mark.parametrize(
    ("sentence", "requirement"),
    [
        ("Must be non-negative", interval(low=0.0)),
        ("The value must be positive", interval(low=0.0, excludes_low=True)),
        ("This value must be at least 2", interval(low=2.0)),
        ("the width, must be >= 0 and <= kernel_size / 2", interval(low=0.0)),
        ("It must be >= 0 and < 5", interval(low=0.0, high=5.0, excludes_high=True)),
        ("An int that is >= 2", interval(low=2.0)),
        ("Float between 0 and 1", UNIT),
        ("Float in [0.0, 1.0]", UNIT),
        ("a scalar or 1D tensor of values in the range [0, 1]", UNIT),
        ("Range in (0,1]", interval(low=0.0, high=1.0, excludes_low=True)),
        ("Must be in the range [-4, 4)", interval(low=-4.0, high=4.0, excludes_high=True)),
        ("A positive integer specifying the groups", interval(low=0.0, excludes_low=True)),
        ("A positive float, the scale", interval(low=0.0)),
        ("one of 'reduced', 'complete', 'r'", choice(("reduced", "complete", "r"))),
        ("the reduction: 'none' | 'mean' | 'sum'", choice(("none", "mean", "sum"))),
        ('It can be either "bilinear" or "nearest"', choice(("bilinear", "nearest"))),
        ("A 4-D tensor of shape [batch, h, w, d]", ranks(4, 4)),
        ("4D tensor of shape (n, h, w, c) or 3D tensor of shape (h, w, c)", ranks(3, 4)),
        ("1-D or higher numeric Tensor", ranks(1)),
        ("Must be at least 2-dimensional", ranks(2)),
        ("A scalar integer tensor", ranks(0, 0)),
        ("Must be one of the following types: half, int32", Dtype(("float16", "int32"))),
    ],
)
def test_a_plain_sentence_states_a_requirement(sentence: str, requirement: Requirement) -> None:
    assert requirement in requirements_in(sentence, "width")


@pytest.mark.parametrize(
    "sentence",
    [
        "Usually between 0 and 1",
        "Must be positive unless padding is given",
        "If True, must be >= 1",
        "the image height must be positive",
        "Must be less than K",
        "must be <= kernel_size",
        "Must be smaller than 2 * width",
        "a positive definite matrix",
        "A mode such as 'mean' or 'sum'",
        "Examples: 'utf-8', 'utf-16'",
        "For other modes ('count', 'sum'), the result has two axes",
        "A 4-D or a list of 3-D tensors",
        "Must have the same type as x",
        "A tensor of type T",
        "Number of nodes",
        "Values between 0 and 1 result in interpolation",
    ],
)
def test_an_ambiguous_sentence_states_no_requirement(sentence: str) -> None:
    assert requirements_in(sentence, "width") == []


def test_a_description_is_split_into_sentences_without_markup() -> None:
    text = "Size of :attr:`x`, e.g. 2. Must be\n``>= 0``; see below.\n\nDefault: 1.5."

    assert sentences(text) == ["Size of x, e.g. 2", "Must be >= 0", "see below", "Default: 1.5"]


@given(st.text(alphabet="a 'D|,.;:-0123[]()`\n", max_size=300))
def test_any_description_can_be_read(text: str) -> None:
    parts = sentences(text)
    requirements = [requirement for part in parts for requirement in requirements_in(part, "x")]

    assert all(part.strip() for part in parts)
    assert set(map(aspect_of, requirements)) <= ASPECTS


@pytest.mark.parametrize(
    "piece", ["int32, ", "'a' | ", "a ", "1-D, ", "must be ", "(", "positive ", "float ", "[0, "]
)
def test_a_long_description_is_read_up_to_the_limit(piece: str) -> None:
    # A pattern with exponential backtracking would not return.
    parts = sentences(piece * 20_000)
    requirements = [requirement for part in parts for requirement in requirements_in(part, "x")]

    assert set(map(aspect_of, requirements)) <= ASPECTS


def test_the_operator_definition_comes_before_the_documentation() -> None:
    parameter = ParameterRecord(
        name="n", schema_type="int", minimum=2, allowed=("A", "B"), doc="Must be >= 5."
    )

    specifications = specifications_of(record(parameter, source="opdef"))["n"]

    assert [
        (specification.source, specification.requirement) for specification in specifications
    ] == [
        (ClueSource.OPDEF, interval(low=2)),
        (ClueSource.OPDEF, choice(("A", "B"))),
    ]


def test_the_enumeration_of_a_type_hint_is_a_specification_unless_any_string_is_allowed() -> None:
    strict = ParameterRecord(name="how", annotation="Literal['sum', 'mean'] | None")
    loose = ParameterRecord(name="how", annotation="str | Literal['sum', 'mean']")

    assert requirements(strict) == [choice(("sum", "mean"))]
    assert requirements(loose) == []


def test_a_specification_has_its_sentence_and_the_position_of_the_parameter() -> None:
    first = ParameterRecord(name="x")
    second = ParameterRecord(name="p", doc="The share. Float in `[0, 1]`. Default: 0.5.")
    third = ParameterRecord(name="q", kind=ParameterKind.KEYWORD_ONLY, doc="Must be >= 1.")

    specifications = specifications_of(record(first, second, third))

    assert (specifications["p"][0].sentence, specifications["p"][0].position) == (
        "Float in [0, 1]",
        1,
    )
    assert specifications["q"][0].position is None
    assert "x" not in specifications


@pytest.mark.parametrize(
    "parameter",
    [
        ParameterRecord(name="n", default="-1", doc="Must be >= 0."),
        ParameterRecord(name="n", doc="Must be >= 0. Can be -1 to switch it off."),
        ParameterRecord(name="n", doc="Must be >= 0. Ignored in the new engine."),
        ParameterRecord(name="n", default="'auto'", doc="One of 'a', 'b'."),
        ParameterRecord(name="n", doc="One of 'a', 'b'. With 'c' it is chosen."),
        ParameterRecord(name="n", doc="4-D Tensor of shape [n] or 3-D Tensor of shape [m]."),
        ParameterRecord(name="n", doc_type="Tensor", doc="the input."),
        ParameterRecord(name="n", doc_type="FloatTensor", doc="the input."),
    ],
)
def test_a_contradicted_requirement_is_not_a_specification(parameter: ParameterRecord) -> None:
    assert requirements(parameter) == []


def test_a_conforming_default_does_not_contradict_a_specification() -> None:
    assert requirements(ParameterRecord(name="n", default="3", doc="Must be >= 0.")) == [
        interval(low=0.0)
    ]


def tensor(element: float, dtype: str = "float32", shape: tuple[int, ...] = (2,)) -> TensorValue:
    return TensorValue(dtype, shape, Constant(element))


@pytest.mark.parametrize(
    ("value", "requirement", "violation"),
    [
        (LiteralValue(2), UNIT, "2"),
        (LiteralValue(math.inf), UNIT, "inf"),
        (ListValue((LiteralValue(0.5), LiteralValue(-1.0))), UNIT, "[0.5, -1.0]"),
        (tensor(7.0), UNIT, "a tensor with the element 7.0"),
        (TensorValue("int32", (2,), Explicit((0, -3))), UNIT, "a tensor with the element -3"),
        (LiteralValue("median"), choice(("mean", "sum")), "'median'"),
        (tensor(1), ranks(2, 3), "a tensor of 1 dimension"),
        (tensor(1, shape=()), ranks(1), "a tensor of 0 dimensions"),
        (tensor(1, "int32"), Dtype(("int64",)), "a tensor of type int32"),
        (DtypeValue("bool"), Dtype(("int64",)), "the type bool"),
    ],
)
def test_a_non_conforming_value_violates_a_requirement(
    value: Value, requirement: Requirement, violation: str
) -> None:
    assert violation_in_words(value, requirement) == violation


@pytest.mark.parametrize(
    ("value", "requirement"),
    [
        (LiteralValue(1), UNIT),
        (LiteralValue(True), interval(low=5.0)),  # noqa: FBT003 - a value, not a switch
        (LiteralValue(None), UNIT),
        (LiteralValue("2"), UNIT),
        (LiteralValue(math.nan), UNIT),
        (ListValue((LiteralValue(5), LiteralValue("x"))), UNIT),
        (TensorValue("float32", (2,), Uniform(1, 5.0, 9.0)), UNIT),
        (tensor(9.0, shape=(0,)), UNIT),
        (tensor(-1, "uint8"), UNIT),
        (tensor(-0.5, "int32"), UNIT),
        (tensor(math.nan), UNIT),
        (LiteralValue("mean"), choice(("mean", "sum"))),
        (LiteralValue(""), choice(("mean", "sum"))),
        (LiteralValue(3), choice(("mean", "sum"))),
        (LiteralValue(3), ranks(1, 1)),
        (LiteralValue(3), Dtype(("float32",))),
        (tensor(1, shape=(1, 1)), ranks(1)),
    ],
)
def test_conversions_and_what_cannot_be_known_break_nothing(
    value: Value, requirement: Requirement
) -> None:
    assert violation_in_words(value, requirement) == ""


TENSORS = st.builds(
    tensor,
    st.floats(-3, 3, width=32),
    st.sampled_from(["float32", "bool", "uint8"]),
    st.lists(st.integers(1, 2), max_size=5).map(tuple),
)


ENDS = st.sampled_from([-math.inf, -1.0, 0.0, 2.5, math.inf])
INTERVALS = st.builds(interval, ENDS, ENDS, excludes_low=st.booleans(), excludes_high=st.booleans())
OF_THE_SAME_KIND: st.SearchStrategy[tuple[Value, Requirement]] = st.one_of(
    st.tuples((ENDS | st.floats(allow_nan=False)).map(LiteralValue), INTERVALS),
    st.tuples(st.sampled_from("abc").map(LiteralValue), st.just(choice("ab"))),
    st.tuples(TENSORS, st.sampled_from([ranks(2, 3), ranks(1), ranks(0, 0)])),
    st.tuples(st.sampled_from(["bool", "int16"]).map(DtypeValue), st.just(Dtype(("bool",)))),
)


@given(OF_THE_SAME_KIND)
def test_a_value_of_a_requirements_kind_violates_it_unless_it_conforms(
    pair: tuple[Value, Requirement],
) -> None:
    value, requirement = pair

    assert bool(violation_in_words(value, requirement)) is not conforms(value, requirement)


def test_an_excluded_end_violates_an_interval() -> None:
    half = interval(low=0.0, high=1.0, excludes_low=True)

    assert (in_range(0.0, half), in_range(1.0, half)) == (False, True)
    assert requirement_in_words(half) == "in (0, 1]"
    assert requirement_in_words(interval(high=3.0)) == "at most 3"


@pytest.mark.parametrize(
    "words",
    [
        "non-negative integer or -1",
        "must be positive integers or zero",
        "positive integer, or 0 to disable",
        "Must be >= 1 or == -1.",
        "Positive integer. Zero disables it.",
        "2-D Tensor, or higher rank with batch",
    ],
)
def test_a_sentence_with_an_exception_is_not_a_specification(words: str) -> None:
    parameters = (ParameterRecord(name="x", doc=words),)
    described = ApiRecord(api="torch.fold", kind=CallKind.FUNCTION, parameters=parameters)

    assert specifications_of(described) == {}
