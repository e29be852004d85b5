from __future__ import annotations

import random

import pytest
from record_examples import ADD_METHOD, ALL, CONV1D_LAYER, CONV2D_OP, SUM

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import ListValue, LiteralValue
from ciguard.knowledge import Clue, ClueSource, Parameter, Structure, merge, understand
from ciguard.values import (
    AnyOf,
    Bool,
    Constraint,
    Dtype,
    Int,
    Ints,
    List,
    OneOf,
    Optional,
    SamplingScope,
    Tensor,
    compile_sampler,
    references,
)


def _parameter(record: ApiRecord, name: str) -> Parameter:
    return next(p for p in understand(record).parameters if p.name == name)


def _constraint_of(**fields: object) -> Constraint:
    record = ApiRecord(
        api="lib.f",
        kind=CallKind.FUNCTION,
        source="schema",
        parameters=(ParameterRecord(name="zzz", **fields),),  # type: ignore[arg-type]
    )
    return understand(record).parameters[0].constraint


def test_an_operator_definition_decides_dtypes_and_allowed_values() -> None:
    filters = _parameter(CONV2D_OP, "filter").constraint
    padding = _parameter(CONV2D_OP, "padding").constraint

    assert isinstance(filters, Tensor)
    assert filters.dtypes == ("float16", "float32", "float64", "int32")
    assert filters.dtype_of == "input"
    assert isinstance(padding, OneOf)
    assert set(padding.values) == set(map(LiteralValue, ("SAME", "VALID", "EXPLICIT")))


def test_a_family_rule_relates_the_channels_of_image_and_filter() -> None:
    image = _parameter(CONV2D_OP, "input").constraint
    filters = _parameter(CONV2D_OP, "filter").constraint

    assert isinstance(image, Tensor)
    assert isinstance(filters, Tensor)
    assert image.shape is not None
    assert filters.shape is not None
    assert image.shape[3] == filters.shape[2]


def test_values_that_a_weaker_source_names_too_are_drawn_more_often() -> None:
    padding = _parameter(CONV2D_OP, "padding").constraint

    assert isinstance(padding, OneOf)
    assert padding.values.count(LiteralValue("SAME")) > padding.values.count(
        LiteralValue("EXPLICIT")
    )


def test_every_constraint_has_evidence_with_its_source() -> None:
    evidence = _parameter(CONV2D_OP, "filter").evidence

    assert {(e.source, e.aspect) for e in evidence} >= {
        (ClueSource.OPDEF, "dtypes"),
        (ClueSource.FAMILY, "shape"),
    }
    assert all(item.text for item in evidence)


def test_torch_schema_types_become_constraints() -> None:
    dim = _parameter(SUM, "dim").constraint

    assert isinstance(dim, Optional)
    assert isinstance(dim.inner, AnyOf)
    assert {type(option) for _, option in dim.inner.options} == {Int, Ints}
    assert references(dim) == {"input"}
    assert _parameter(SUM, "keepdim").constraint == Bool()
    assert isinstance(_parameter(SUM, "dtype").constraint, Optional)


def test_a_second_tensor_is_related_to_the_first() -> None:
    other = _parameter(ADD_METHOD, "other").constraint

    assert references(other) == {"self"}


def test_the_input_of_a_layer_has_the_channels_of_its_constructor() -> None:
    api = understand(CONV1D_LAYER)

    (first_input,) = api.inputs
    assert isinstance(first_input.constraint, Tensor)
    assert first_input.constraint.shape is not None
    assert first_input.constraint.shape[1] == "in_channels"
    channels = _parameter(CONV1D_LAYER, "in_channels").constraint
    assert isinstance(channels, Int)
    assert channels.size == "in_channels"


def test_most_values_of_an_unknown_parameter_are_tensors() -> None:
    constraint = _constraint_of()

    assert isinstance(constraint, AnyOf)
    weights = {type(option): weight for weight, option in constraint.options}
    assert weights[Tensor] > sum(weights.values()) / 2


def test_a_list_of_tensors_is_uniform_and_long_enough() -> None:
    constraint = _constraint_of(schema_type="list(Tensor)", minimum=2)

    assert isinstance(constraint, List)
    assert constraint.uniform
    assert constraint.length[0] == 2


def test_a_list_is_as_long_as_the_operator_definition_says() -> None:
    record = ApiRecord(
        api="lib.f",
        kind=CallKind.FUNCTION,
        source="opdef",
        parameters=(
            ParameterRecord(name="indices", schema_type="list(Tensor)"),
            ParameterRecord(name="data", schema_type="list(Tensor)", same_length_as="indices"),
        ),
    )
    rng = random.Random(0)
    scope = SamplingScope()
    scope.values["indices"] = ListValue((LiteralValue(1),) * 5)

    drawn = compile_sampler(_parameter(record, "data").constraint)(rng, scope)

    assert isinstance(drawn, ListValue)
    assert len(drawn.items) == 5


def test_a_dtype_that_cannot_be_built_is_left_out() -> None:
    constraint = _constraint_of(schema_type="Tensor", dtypes=("float32", "qint8", "variant"))

    assert isinstance(constraint, Tensor)
    assert constraint.dtypes == ("float32",)


def test_a_callable_parameter_is_not_generated() -> None:
    record = ApiRecord(
        api="lib.f",
        kind=CallKind.FUNCTION,
        parameters=(ParameterRecord(name="zzz", annotation="Callable[[], int]"),),
    )

    assert not understand(record).parameters[0].is_generated


def test_a_reference_to_a_missing_parameter_is_dropped() -> None:
    assert (
        references(_constraint_of(schema_type="Tensor", doc="same shape as `gone`")) == frozenset()
    )


def test_the_strongest_source_decides_each_aspect() -> None:
    strong = Clue(source=ClueSource.SCHEMA, evidence="int", structures=(Structure.INT,))
    weak = Clue(
        source=ClueSource.NAME, evidence="n", structures=(Structure.TENSOR,), low=1.0, high=4.0
    )

    merged, evidence = merge.merge([weak, strong])

    assert merged.structures == (Structure.INT,)
    assert (merged.low, merged.high) == (1.0, 4.0)
    assert [(e.source, e.aspect) for e in evidence] == [
        (ClueSource.SCHEMA, "structures"),
        (ClueSource.NAME, "range"),
    ]


def test_a_type_hint_adds_the_types_of_further_overloads_to_a_schema() -> None:
    schema = Clue(source=ClueSource.SCHEMA, evidence="Tensor", structures=(Structure.TENSOR,))
    hint = Clue(
        source=ClueSource.ANNOTATION,
        evidence="Tensor | Number",
        structures=(Structure.NUMBER, Structure.TENSOR),
    )
    other = Clue(source=ClueSource.ANNOTATION, evidence="int", structures=(Structure.INT,))

    assert merge.merge([hint, schema])[0].structures == (Structure.TENSOR, Structure.NUMBER)
    assert merge.merge([other, schema])[0].structures == (Structure.TENSOR,)


def test_the_shape_fields_of_two_sources_are_never_mixed() -> None:
    first = Clue(source=ClueSource.FAMILY, evidence="a", ndim=(2, 2))
    second = Clue(source=ClueSource.DOC_PHRASE, evidence="b", shape=("N",), shape_of="y")

    merged, _ = merge.merge([second, first])

    assert (merged.ndim, merged.shape, merged.shape_of) == ((2, 2), None, "")


def test_a_dtype_attribute_is_limited_to_dtypes_that_can_be_built() -> None:
    constraint = _constraint_of(schema_type="type", dtypes=("float32", "quint8"))

    assert constraint == Dtype(("float32",))


def test_understanding_is_repeatable() -> None:
    assert [understand(record) for record in ALL] == [understand(record) for record in ALL]


@pytest.mark.parametrize(
    ("name", "expected"), [("num_bins", Int), ("target_height", Int), ("zzz", AnyOf)]
)
def test_the_number_of_things_is_an_int_if_the_name_is_that_of_a_count_or_size(
    name: str, expected: type[Constraint]
) -> None:
    record = ApiRecord(
        api="lib.f",
        kind=CallKind.FUNCTION,
        source="signature",
        parameters=(ParameterRecord(name=name, doc="number of hash bins."),),
    )

    assert isinstance(understand(record).parameters[0].constraint, expected)


@pytest.mark.parametrize(
    ("name", "doc", "default", "may_be_fractional"),
    [
        ("widening", "The number of copies of each channel.", "1", False),
        ("widening", "The number of copies of each channel.", None, True),  # it may be an average
        ("widening", "The number of seconds between two calls.", "0.5", True),
        ("most", "A scalar integer `Tensor`, the most boxes of a class.", None, False),
        ("most", "A scalar, the largest weight of a class.", "1", True),
        ("row_count", "A scalar, how many rows are kept.", None, False),
    ],
)
def test_sizes_and_counts_are_never_fractional(
    name: str, doc: str, default: str | None, *, may_be_fractional: bool
) -> None:
    parameter = ParameterRecord(name=name, doc=doc, default=default, required=default is None)
    record = ApiRecord(
        api="lib.grow", kind=CallKind.FUNCTION, source="docstring", parameters=(parameter,)
    )
    sample, rng = compile_sampler(_parameter(record, name).constraint), random.Random(0)

    drawn = [sample(rng, SamplingScope()) for _ in range(200)]

    numbers = [one.value for one in drawn if isinstance(one, LiteralValue)]
    assert any(isinstance(n, float) and n % 1 for n in numbers) is may_be_fractional
