from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import LiteralValue
from ciguard.knowledge import mined
from ciguard.knowledge.clues import Clue, ClueSource, Structure
from ciguard.values import Named

OPTIONS = (LiteralValue("same"), LiteralValue("valid"))
SHAPE = ("batch", Named("height", 4, 8), Named("width", 4, 8), "channels")


def clues(doc: str, *, doc_type: str = "", api: str = "tensorflow.f") -> list[Clue]:
    parameter = ParameterRecord(name="x", doc=doc, doc_type=doc_type)
    record = ApiRecord(
        api=api,
        kind=CallKind.FUNCTION,
        parameters=(parameter, ParameterRecord(name="values")),
    )
    return mined.read(record, parameter)


def clue_value(field: str, doc: str, **more: str) -> object:
    return next((v for clue in clues(doc, **more) if (v := getattr(clue, field))), None)


@pytest.mark.parametrize(
    ("field", "doc", "value"),
    [
        ("structures", "A `Tensor`.", (Structure.TENSOR,)),
        ("structures", "A list of tensors.", (Structure.TENSORS,)),
        ("structures", "A list of `ints`.", (Structure.INTS,)),
        ("structures", "An optional `bool`.", (Structure.BOOL,)),
        ("dtypes", "Must be one of the following types: `int32`, `int64`.", ("int32", "int64")),
        (
            "dtypes",
            "Must be one of the following types: `half`, `float32`, `int64`.",
            ("float16", "float32", "int64"),
        ),
        ("dtypes", "A `Tensor` of type `string`.", ("string",)),
        ("dtype_of", "Must have the same type as `values`.", "values"),
        ("shape", "4-D with shape `[batch, height, width, channels]`.", SHAPE),
        ("ndim", "A 2-D `Tensor`.", (2, 2)),
        ("ndim", "1-D or higher.", (1, 4)),
        ("allowed", "Supported modes are `same` and `valid`.", OPTIONS),
    ],
)
def test_a_mined_rule_becomes_a_clue(field: str, doc: str, value: object) -> None:
    assert clue_value(field, doc) == value


def test_a_clue_quotes_the_sentence_and_the_rule_with_its_confidence() -> None:
    clue = clues("Ignored. Must have the same type as `values`.")[-1]

    assert clue.source is ClueSource.MINED_RULE
    assert clue.evidence == "Must have the same type as `values`."
    assert "-> dtype &PARAM (support " in clue.rule
    assert "confidence" in clue.rule


def test_a_long_sentence_is_quoted_truncated() -> None:
    (clue,) = clues("A `Tensor` " + "of the very same kind as all the others before it " * 9)

    assert clue.evidence.endswith("…")
    assert len(clue.evidence) == 120


@pytest.mark.parametrize(
    ("field", "doc"),
    [
        # A list of dtype names is not a choice of strings, and neither is a single option.
        ("allowed", "One of `float32` or `float64`."),
        ("allowed", "Only `same`."),
        # The mined bound is 0, but a number of rows may have to be positive.
        ("low", "The number of rows of the output matrix."),
        # The rule behind this rank was learned from parameters that are not tensors.
        ("ndim", "A name for the operation (optional)."),
    ],
)
def test_an_unreliable_constraint_is_not_a_clue(field: str, doc: str) -> None:
    assert clue_value(field, doc) is None


def test_the_documented_type_is_parsed_with_the_rules_of_the_library() -> None:
    assert clue_value("structures", "", doc_type="Tensor, optional", api="torch.f") == (
        Structure.TENSOR,
    )
    assert clue_value("structures", "", doc_type="Tensor, optional", api="jittor.f") == (
        Structure.TENSOR,
    )


def test_formulas_are_parsed_without_markup() -> None:
    doc = r"input tensor of shape :math:`(\text{minibatch} , \text{iH} , 3)`"

    assert clue_value("shape", doc, api="torch.f") is not None


def test_a_library_without_rules_has_no_mined_clues() -> None:
    assert clues("A `Tensor`.", api="planted.f") == []


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_documentation_can_be_parsed(doc: str, doc_type: str) -> None:
    for clue in clues(doc, doc_type=doc_type, api="torch.f"):
        assert clue.source is ClueSource.MINED_RULE


def test_a_hundred_kilobytes_of_documentation_take_less_than_five_seconds() -> None:
    start = time.perf_counter()

    clues("A `Tensor` (of shape [n, " * 4_000)

    assert time.perf_counter() - start < 5.0


@pytest.mark.parametrize(
    ("doc_type", "has_dtypes"),
    [("Tensor or float", False), ("int or Tensor", False), ("int Tensor or float Tensor", True)],
)
def test_scalar_that_may_stand_for_a_tensor_is_no_dtype_of_it(
    doc_type: str, *, has_dtypes: bool
) -> None:
    record = ApiRecord(api="torch.eq", kind=CallKind.FUNCTION, parameters=())
    clues = mined.read(record, ParameterRecord(name="other", doc_type=doc_type))

    assert any(clue.dtypes for clue in clues) is has_dtypes
