"""Messages with which torch, TensorFlow, Keras and Python reject calls."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.outcomes import Rejected
from ciguard.domain.records import record_from_json
from ciguard.domain.values import (
    CallValue,
    ListValue,
    LiteralValue,
    TensorValue,
    Uniform,
    Value,
    value_to_json,
)
from ciguard.knowledge import Experience, refined, understand
from ciguard.knowledge.clues import Clue, ClueSource, Structure
from ciguard.knowledge.refinement.messages import Advice, Presence, advice_in, parameters_in
from ciguard.knowledge.refinement.requirements import requirement
from ciguard.values import SamplingScope, compile_sampler

_FILL = Uniform(0, 0.0, 1.0)


def tensor(*shape: int, dtype: str = "float32") -> TensorValue:
    return TensorValue(dtype, shape, _FILL)


def advice_of(message: str, **values: Value) -> dict[str, dict[str, Any]]:
    advice = advice_in(message, values, tuple(values))
    return {item.parameter: item.fields for item in advice}


def texts(*words: str) -> tuple[LiteralValue, ...]:
    return tuple(map(LiteralValue, words))


@pytest.mark.parametrize(
    ("message", "ndim"),
    [
        ("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input", (3, 4)),
        ("input must be 4-dimensional[2,3]", (4, 4)),
        ("x must be rank 3 but is rank 2", (3, 3)),
        ("Shape (2,) must have rank at least 3", (3, 5)),
        ("expected input to have two or fewer dimensions but got an input with 5", (0, 2)),
        ("Input sample_rate should be a scalar tensor, got [2,3] instead.", (0, 0)),
        ("indices should be a vector", (1, 1)),
        ("`x.shape.rank` must be 3, 4 or 5. Received: x.shape=(4,) of rank 1.", (3, 5)),
        ("`x.shape.rank` must be at least 3. Received: x.shape=() with rank 0", (3, 5)),
        ("`x.shape.rank` must be 1. Received: x.shape=() with rank 0", (1, 1)),
        ("`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims=0.", (3, 5)),
    ],
)
def test_a_demanded_rank_is_parsed(message: str, ndim: tuple[int, int]) -> None:
    bad = tensor(1, 1, 1, 1, 1) if ndim[0] < 3 else tensor(2)

    assert advice_of(message, x=bad) == {"x": {"ndim": ndim}}


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("{{node X}} Sliding window strides field must specify 4 dimensions [Op:X]", "strides"),
        ("Length for attr 'ksizes' of 1 must be at least minimum 4 ; NodeDef: {{node X}}", "sizes"),
    ],
)
def test_the_demanded_length_of_a_list_is_parsed(message: str, name: str) -> None:
    advice = advice_of(message, images=tensor(2, 2), **{name: ListValue((LiteralValue(1),))})

    assert advice == {name: {"length": (4, 4)}}


def test_an_unknown_name_is_that_of_a_parameter_with_a_similar_name() -> None:
    message = "`dilation_rate.shape.rank` must be 1. Received: dilation_rate=(2, 2) of rank 2"

    advice = advice_of(message, input=tensor(2, 2), dilations=tensor(2, 2))

    assert advice == {"dilations": {"ndim": (1, 1)}}


def test_an_unknown_name_is_no_other_of_several_parameters() -> None:
    message = "{{node X}} X: input_sizes input must be 1-dim, not 4 [Op:X]"

    assert not advice_of(message, input=tensor(1, 1, 1, 1), filters=tensor(1, 1, 1, 1))


def test_the_parameter_whose_argument_is_quoted_is_blamed() -> None:
    message = "Input should be a scalar tensor, got [2,3] instead."

    assert advice_of(message, a=tensor(4), b=tensor(2, 3)) == {"b": {"ndim": (0, 0)}}


def test_the_parameter_that_is_named_is_blamed() -> None:
    message = "Dimension of `weight` must be 2-D, got (3,)"

    assert advice_of(message, input=tensor(3), weight=tensor(3)) == {"weight": {"ndim": (2, 2)}}


@pytest.mark.parametrize(
    ("message", "allowed"),
    [
        ("Expected reduce to be one of prod, mean, amax or amin but got x.",
         ("prod", "mean", "amax", "amin")),
        ("mode argument must be either sum, mean or amax, got x", ("sum", "mean", "amax")),
        ("mode must be 'linear' or 'cubic', got x", ("linear", "cubic")),
        ("`mode` values other  than 'NHWC' are not supported. Received: mode=x", ("NHWC",)),
    ],
)  # fmt: skip
def test_allowed_strings_are_parsed(message: str, allowed: tuple[str, ...]) -> None:
    advice = advice_of(message, input=tensor(2), mode=LiteralValue("x"))

    assert advice == {"mode": {"allowed": texts(*allowed)}}


def test_a_multiple_is_parsed_for_a_name_written_as_two_words() -> None:
    advice = advice_of("The frame length must be a multiple of 4.", frame_length=LiteralValue(3))

    assert advice["frame_length"]["allowed"] == tuple(map(LiteralValue, (4, 8, 12)))


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ("geometric_ expects p to be in (0, 1), but got p=7", {"low": 0.0, "high": 0.999}),
        ("`p` must be at least 0. Received: -3.", {"low": 0.0}),
        ("p must be > 0, got 0", {"low": 1.0}),
        ("p must be non-negative", {"low": 0.0}),
    ],
)
def test_a_range_is_parsed(message: str, fields: dict[str, float]) -> None:
    assert advice_of(message, p=LiteralValue(7)) == {"p": fields}


def test_dtypes_are_parsed_from_the_definition_that_tensorflow_quotes() -> None:
    message = (
        "Value for attr 'T' of int32 is not in the list of allowed values: half, float\n\t; "
        "NodeDef: {{node X}}; Op<name=X; signature=data:T, ids:Tidx, more:T -> out:T; "
        "attr=T:type,allowed=[DT_HALF, DT_FLOAT]; attr=Tidx:type,allowed=[DT_INT32, DT_INT64]>"
    )

    assert advice_of(message, data=tensor(dtype="int32"), ids=tensor(), more=tensor()) == {
        "data": {"dtypes": ("float16", "float32")},
        "ids": {"dtypes": ("int32", "int64")},
        "more": {"dtypes": ("float16", "float32"), "dtype_of": "data"},
    }


def test_an_expected_dtype_applies_to_the_last_argument_with_the_actual_one() -> None:
    message = "expected scalar type Long but found Int"
    values: dict[str, Value] = {
        "x": tensor(),
        "i": tensor(dtype="int32"),
        "j": tensor(dtype="int32"),
    }

    assert advice_of(message, **values) == {"j": {"dtypes": ("int64",)}}


def test_a_failed_conversion_relates_the_dtype_to_the_other_argument() -> None:
    message = "Tensor conversion requested dtype float32 for Tensor with dtype int64: <tf.Tensor"

    assert advice_of(message, x=tensor(), y=tensor(dtype="int64")) == {"y": {"dtype_of": "x"}}


def test_matching_sizes_are_demanded_of_all_tensors() -> None:
    message = "The size of tensor a (2) must match the size of tensor b (3) at dimension 1"

    assert advice_of(message, x=tensor(2, 2), y=tensor(2, 3)) == {"y": {"shape_of": "x"}}


@pytest.mark.parametrize(
    ("message", "values", "expected"),
    [
        ("'bool' object has no attribute 'startswith'",
         {"x": tensor(2), "mode": LiteralValue(value=True)}, {"mode": (Structure.STRING,)}),
        ("'int' object has no attribute 'shape'",
         {"x": LiteralValue(3)}, {"x": (Structure.TENSOR,)}),
        ("object of type 'int' has no len()", {"size": LiteralValue(3)},
         {"size": (Structure.INTS,)}),
        ("'list' object cannot be interpreted as an integer",
         {"x": tensor(2), "n": ListValue((LiteralValue(1),))}, {"n": (Structure.INT,)}),
        ("Cannot convert 0.5 to EagerTensor of dtype int32",
         {"x": tensor(2), "n": LiteralValue(0.5)}, {"n": (Structure.INT,)}),
        ("f(): argument 'n' (position 2) must be int, not Tensor",
         {"x": tensor(2), "n": tensor(3)}, {"n": (Structure.INT,)}),
    ],
)  # fmt: skip
def test_the_expected_structure_is_parsed(
    message: str, values: dict[str, Value], expected: dict[str, tuple[Structure, ...]]
) -> None:
    advice = advice_of(message, **values)

    assert {name: fields["structures"] for name, fields in advice.items()} == expected


@pytest.mark.parametrize(
    ("message", "maker"),
    [
        ("Input must be a SparseTensor.", "tensorflow.sparse.from_dense"),
        ("'EagerTensor' object has no attribute 'dense_shape'", "tensorflow.sparse.from_dense"),
        (("Could not run 'aten::f'. 'aten::f' is only available for these backends: [SparseCPU, "
         "Meta]."), "torch.Tensor.to_sparse"),
        ("'Tensor' object has no attribute '_forward_pre_hooks'", "torch.nn.Linear"),
    ],
)  # fmt: skip
def test_a_demanded_object_is_built_by_a_call(message: str, maker: str) -> None:
    (fields,) = advice_of(message, x=tensor(2, 2)).values()

    assert isinstance(fields["allowed"][0], CallValue)
    assert fields["allowed"][0].function == maker


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("f() missing 1 required positional argument: 'tensor'", ("tensor", Presence.ALWAYS)),
        ('f() missing 1 required positional arguments: "tensor"', ("tensor", Presence.ALWAYS)),
        ("At least one of 'tensor' or 'max' must not be None", ("tensor", Presence.ALWAYS)),
        ("f() got an unexpected keyword argument 'tensor'", ("tensor", Presence.NEVER)),
    ],
)
def test_the_demanded_presence_is_parsed(message: str, expected: tuple[str, Presence]) -> None:
    advice = advice_in(message, {}, ("other", "tensor"))

    assert [(item.parameter, item.presence) for item in advice] == [expected]


def test_the_overloads_that_torch_lists_are_parsed() -> None:
    message = (
        "f() received an invalid combination of arguments - got (), but expected one of:\n"
        " * (Tensor other)\n * (Number other, *, Tensor out = None)\n"
    )

    assert advice_in(message, {}, ("other", "out")) == (
        Advice("other", {"structures": (Structure.TENSOR, Structure.NUMBER)}, Presence.ALWAYS),
        Advice("out", {"structures": (Structure.TENSOR,)}),
    )


def test_an_input_of_a_layer_is_found_by_its_name_without_prefix() -> None:
    assert parameters_in("shape must be a vector", ("seed", "input:shape")) == {"input:shape"}


@given(st.text(), st.text())
def test_the_advice_in_any_message_has_valid_fields_of_a_clue(words: str, more: str) -> None:
    values: dict[str, Value] = {"x": tensor(2, 3), "n": LiteralValue(3), "mode": LiteralValue("x")}

    for message in (f"x must be {words}", f"{words} expected one of {more}, got 3", words):
        for advice in advice_in(message, values, tuple(values)):
            assert advice.parameter in values
            Clue(source=ClueSource.REJECTION, evidence=message, **advice.fields)


_DEMANDS = st.sampled_from(
    ("x must be {}", "n must be at least {}", "n must be in [{}, {}]", "x must have shape [{}]",
     "n must have {} elements", "n must be a multiple of {}", "expected x to be {}D", "n > {}",
     "mode must be one of {}, {}", "x must be rank {} but is rank 2", "n must be < {}, got 3")
)  # fmt: skip


@given(_DEMANDS, st.one_of(st.integers(0), st.floats(), st.text()), st.integers())
def test_calls_can_be_drawn_after_any_demand(demand: str, number: object, other: int) -> None:
    message = demand.format(number, other)
    record = record_from_json(
        {
            "api": "lib.f",
            "kind": "function",
            "parameters": [
                {"name": "x", "schema_type": "Tensor"},
                {"name": "n", "schema_type": "int"},
                {"name": "mode", "schema_type": "str"},
            ],
        }
    )
    values: dict[str, Value] = {"x": tensor(2, 3), "n": LiteralValue(3), "mode": LiteralValue("x")}
    experience = Experience()
    for _ in range(3):
        experience.note(values, tuple(values), Rejected("ValueError", message))

    for parameter in refined(understand(record), experience).parameters:
        draw = compile_sampler(parameter.constraint)
        value = draw(random.Random(0), SamplingScope())
        assert len(json.dumps(value_to_json(value))) < 20_000


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ("n must be <= 3.5e+3", {"high": 3500.0}),
        ("n must be less than 5", {"high": 4.0}),
        ("n must be >= 0 and < 1", {"low": 0.0, "high": 0.999}),
        ("n must be in the range [0,255]", {"low": 0.0, "high": 255.0}),
        ("n must be greater than 0", {"low": 1.0}),
        ("n must be >= 1,000", {}),
        ("n must be less than 2^31", {}),
        ("n must be greater than 1e999", {}),
        ("n must be > " + "9" * 400, {}),
        ("n must be in [0, 1e999)", {}),
    ],
)
def test_a_number_in_a_message_becomes_a_limit(message: str, fields: dict[str, float]) -> None:
    assert requirement(message) == fields


def test_dtype_of_an_input_of_another_operator_is_that_of_the_argument_with_the_expected_one() -> (
    None
):
    message = (
        "cannot compute Conv2DBackpropInput as input #2(zero-based) was expected to be a double "
        "tensor but is a float tensor [Op:Conv2DBackpropInput]"
    )

    advice = advice_of(
        message,
        input=tensor(1, 2, 2, 1),
        filters=tensor(1, 1, 1, 1, dtype="float64"),
        output_shape=TensorValue("int32", (4,), _FILL),
    )

    assert advice == {"filters": {"dtype_of": "input"}}


NTH = (
    "cannot compute Backprop as input #{}(zero-based) was expected to be a int32 tensor but is a "
    "float tensor [Op:Backprop]"
)


@pytest.mark.parametrize(
    ("operator", "nth", "blamed"),
    [("Backprop", 0, "x"), ("Backprop", 1, "filters"), ("", 0, "sizes"), ("Conv", 1, "sizes")],
)
def test_number_of_an_input_is_that_of_the_operator_which_rejects(
    operator: str, nth: int, blamed: str
) -> None:
    values = {"x": tensor(1, 2), "filters": tensor(1, 2), "sizes": tensor(4)}

    advice = advice_in(NTH.format(nth), values, tuple(values), operator)

    assert [(item.parameter, item.fields) for item in advice] == [(blamed, {"dtypes": ("int32",)})]


def test_first_input_of_an_operator_takes_its_dtype_from_no_other() -> None:
    steps = TensorValue("int32", (4,), _FILL)

    assert advice_of(NTH.format(0), x=tensor(1), sizes=tensor(4), steps=steps) == {
        "sizes": {"dtypes": ("int32",)}
    }
