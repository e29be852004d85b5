"""Predictions of acceptance from stated constraints, and from the outcomes of guided calls."""

from __future__ import annotations

import pytest
from admission import Admission, stated
from conversions import conversions

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.records import ApiRecord, ParameterKind, ParameterRecord
from ciguard.domain.values import ListValue, LiteralValue, TensorValue, Uniform, Value
from ciguard.knowledge import Experience, understand

FILL = Uniform(0, 0.0, 1.0)


def tensor(*shape: int, dtype: str = "float32") -> TensorValue:
    return TensorValue(dtype, shape, FILL)


def refusal(api: str, parameters: tuple[ParameterRecord, ...], *arguments: Value) -> str:
    record = ApiRecord(api=api, kind=CallKind.FUNCTION, parameters=parameters, lacks=("string",))
    return Admission(stated(understand(record))).refusal(call(api, *arguments))


def call(api: str, *arguments: Value) -> ApiCall:
    return ApiCall(
        api=api, kind=CallKind.FUNCTION, arguments=arguments, keywords=(), inputs=(), seed=0
    )


INPUT = ParameterRecord(name="input", schema_type="Tensor")
OTHER = ParameterRecord(name="other", schema_type="Tensor")
X = ParameterRecord(name="x", schema_type="Tensor", dtypes=("float32", "float64", "int32"))
Y = ParameterRecord(name="y", schema_type="Tensor", dtypes=X.dtypes, same_dtype_as="x")
SIZE = ParameterRecord(name="p", schema_type="float")
AXIS = ParameterRecord(name="axis", required=False, default="0", doc="An integer, the axis.")
CLASS = ParameterRecord(name="p", annotation="Distribution")


@pytest.mark.parametrize(
    ("parameters", "arguments", "is_refused"),
    [
        ((INPUT, OTHER), (tensor(2, 3), tensor(1, 3)), False),
        ((INPUT, OTHER), (tensor(1, 3), tensor(2, 3)), True),
        ((INPUT, OTHER), (tensor(3), tensor(1, 3)), True),
        ((SIZE,), (LiteralValue(1),), False),
        ((SIZE,), (tensor(),), False),
        ((SIZE,), (tensor(1),), True),
        ((CLASS,), (tensor(1),), True),
        ((INPUT,), (tensor(1, dtype="string"),), True),
    ],
)
def test_argument_of_torch_is_refused_by_what_is_stated(
    parameters: tuple[ParameterRecord, ...], arguments: tuple[Value, ...], *, is_refused: bool
) -> None:
    assert bool(refusal("torch.add_", parameters, *arguments)) is is_refused


@pytest.mark.parametrize(
    ("parameters", "arguments", "is_refused"),
    [
        ((X, Y), (tensor(2, dtype="float64"), LiteralValue(1)), False),
        ((X, Y), (LiteralValue(1), tensor(2, dtype="float64")), False),
        ((X, Y), (tensor(2), tensor(2, dtype="float64")), True),
        ((X, Y), (tensor(2, dtype="int32"), LiteralValue(0.5)), True),
        ((X, AXIS), (tensor(2),), False),
        ((X, AXIS), (tensor(),), True),
    ],
)
def test_number_of_tensorflow_gets_the_dtype_of_the_other_tensor(
    parameters: tuple[ParameterRecord, ...], arguments: tuple[Value, ...], *, is_refused: bool
) -> None:
    assert bool(refusal("tensorflow.math.add", parameters, *arguments)) is is_refused


def test_operator_that_takes_sizes_one_by_one_is_refused_without_any() -> None:
    sizes = ParameterRecord(
        name="sizes", kind=ParameterKind.VAR_POSITIONAL, required=False, schema_type="int[]"
    )

    assert refusal("torch.Tensor.repeat", (INPUT, sizes), tensor(2))


def test_lists_are_converted_to_the_required_dtype_before_the_usual_one() -> None:
    numbers = ListValue((LiteralValue(1), LiteralValue(2)))

    dtypes = [made.dtype for made in conversions(numbers, ("float64", "string"))]

    assert dtypes == ["float64", "int32"]


@pytest.mark.parametrize(
    ("number", "required", "dtypes"),
    [
        (True, "int64", ["int64", "bool"]),
        (True, "uint8", ["bool"]),
        (1.7e308, "float64", ["float64"]),
        (1.7e308, "float32", []),
    ],
)
def test_number_is_converted_only_where_tensorflow_does(
    number: float, required: str, dtypes: list[str]
) -> None:
    assert [made.dtype for made in conversions(LiteralValue(number), (required,))] == dtypes


def test_trait_with_which_no_guided_call_passed_is_refused() -> None:
    record = ApiRecord(api="torch.f", kind=CallKind.FUNCTION, parameters=(INPUT,))
    experience = Experience()
    for _ in range(20):
        experience.note({"input": tensor(2)}, ("input",), Passed(b"", 0.0))
        rejected = Rejected("RuntimeError", "no kernel")
        experience.note({"input": tensor(2, dtype="bool")}, ("input",), rejected)

    admission = Admission(stated(understand(record)), experience)

    assert not admission.refusal(call("torch.f", tensor(2)))
    assert "dtype:bool" in admission.refusal(call("torch.f", tensor(2, dtype="bool")))


def test_api_of_which_no_guided_call_passed_is_refused() -> None:
    record = ApiRecord(api="torch.f", kind=CallKind.FUNCTION, parameters=(INPUT,))
    experience = Experience()
    for _ in range(40):
        experience.note({"input": tensor(2)}, ("input",), Rejected("RuntimeError", "was removed"))

    assert Admission(stated(understand(record)), experience).refusal(call("torch.f", tensor(2)))
