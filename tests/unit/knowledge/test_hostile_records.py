"""No record of a library, however odd, makes `understand` fail."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord, ParameterKind, ParameterRecord, record_from_json
from ciguard.knowledge import (
    Provenance,
    constraint_lines,
    known_apis,
    read_constraints,
    understand,
)
from ciguard.knowledge.references import without_prose
from ciguard.oracles import documentation_findings
from ciguard.values import Tensor, in_words

PIECES = st.sampled_from(
    [*"()[]{}`'\"1-|*?\n\x00\ud800\u202e", "``", ":math:", ":attr:`x`", "\\frac{", "shape [",
     "of type `int32`", "Default: ", "4-D", "tuple of ", "int", "Tensor", "list(", "Optional[",
     "Literal['a'", ", ", ". ", "between 1 and 0", "[1, 0)", "same shape as `x`", "None", "...",
     "one of 'a', 'b'", "0" * 30, "1e999"]
)  # fmt: skip
texts = st.lists(PIECES, max_size=12).map("".join)
parameters = st.builds(
    ParameterRecord,
    name=st.sampled_from(["x", "axis", "größe", "", "kernel_size", "input:x", "\ud800"]),
    kind=st.sampled_from(ParameterKind),
    required=st.booleans(),
    default=st.none() | texts,
    annotation=texts,
    schema_type=texts,
    dtypes=st.lists(st.sampled_from(["float32", "qint8", "resource", "é"]), max_size=3).map(tuple),
    same_dtype_as=st.sampled_from(["", "x", "absent"]),
    same_length_as=st.sampled_from(["", "x", "absent"]),
    allowed=st.lists(texts, max_size=2).map(tuple),
    minimum=st.none() | st.integers(-3, 3),
    length=st.none() | st.integers(0, 9),
    doc_type=texts,
    doc=texts,
)
records = st.builds(
    ApiRecord,
    api=st.sampled_from(["lib.f", "torch.nn.functional.conv2d", "tensorflow.raw_ops.É", ""]),
    kind=st.sampled_from(CallKind),
    parameters=st.lists(parameters, max_size=4).map(tuple),
    inputs=st.lists(parameters, max_size=2).map(tuple),
    source=st.sampled_from(["", "signature", "opdef", "schema"]),
    undeclared_parameters=st.lists(texts, max_size=2).map(tuple),
)
ORIGIN = Provenance(library="lib", version="1")


@settings(deadline=None)
@given(records)
def test_any_record_is_understood_stored_and_described(record: ApiRecord) -> None:
    api = understand(record)
    lines = list(constraint_lines(known_apis([record], [], ORIGIN)))

    stored = read_constraints(lines, name="file").api(record.api)

    assert [p.constraint for p in stored.parameters] == [p.constraint for p in api.parameters]
    assert stored.record == without_prose(record)
    assert all(in_words(p.constraint) for p in api.parameters)
    assert isinstance(documentation_findings([record], "lib"), list)


@pytest.mark.parametrize("default", ["1e999", "-1e999", "[1e999]", "10" * 400])
@pytest.mark.parametrize("kind", ["int", "float", "int[]", "Scalar", "Tensor"])
def test_an_infinite_default_is_not_a_limit(default: str, kind: str) -> None:
    record = ApiRecord(
        api="lib.f",
        kind=CallKind.FUNCTION,
        parameters=(ParameterRecord(name="x", default=default, schema_type=kind),),
    )

    (parameter,) = understand(record).parameters

    assert "inf" not in in_words(parameter.constraint)


@pytest.mark.parametrize(
    "text",
    ["(" * 2_000, "[1, " * 500, "`" * 1_999, "a 4-D tensor, " * 140, "'a', " * 400, "{" * 2_000,
     "Default: " * 200, "(x " * 600, "shape [" * 280, "shape [" + "0" * 1_900, "$" * 2_000,
     "\\text{" * 300],
    ids=lambda text: text[:6],
)  # fmt: skip
def test_a_long_text_is_understood_in_less_than_a_second(text: str) -> None:
    record = ApiRecord(
        api="lib.f",
        kind=CallKind.FUNCTION,
        source="signature",
        parameters=(
            ParameterRecord(
                name="x", doc=text[:1999], doc_type=text, annotation=text, default=text
            ),
        ),
    )
    started_s = time.process_time()

    understand(record)
    documentation_findings([record], "lib")

    assert time.process_time() - started_s < 1.0


def test_a_digit_that_is_not_a_number_raises_no_error() -> None:
    record = record_from_json(
        {
            "api": "torch.f",
            "kind": "function",
            "parameters": [{"name": "x", "doc": "Tensor of shape [²], ²-D, length ²."}],
        }
    )

    assert understand(record).parameters[0].name == "x"


def test_dtypes_that_the_target_lacks_are_not_drawn() -> None:
    tensor = {"name": "x", "doc_type": "Tensor"}
    record = record_from_json(
        {"api": "jax.f", "kind": "function", "parameters": [tensor], "lacks": ["float64", "int64"]}
    )

    (parameter,) = understand(record).parameters

    assert isinstance(parameter.constraint, Tensor)
    assert {"float64", "int64"}.isdisjoint(parameter.constraint.dtypes)
    assert "float32" in parameter.constraint.dtypes
