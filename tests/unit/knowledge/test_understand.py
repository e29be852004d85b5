from __future__ import annotations

from record_examples import ADD_METHOD, ALL, CONV1D_LAYER, CONV2D_OP, SUM

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import LiteralValue
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
    Tensor,
    references,
)


def _parameter(record: ApiRecord, name: str) -> Parameter:
    return next(p for p in understand(record).parameters if p.name == name)


def _only(**fields: object) -> Constraint:
    record = ApiRecord(
        api="lib.f",
        kind=CallKind.FUNCTION,
        source="schema",
        parameters=(ParameterRecord(name="zzz", **fields),),  # type: ignore[arg-type]
    )
    return understand(record).parameters[0].constraint


def test_an_operator_definition_decides_dtypes_and_options() -> None:
    filters = _parameter(CONV2D_OP, "filter").constraint
    padding = _parameter(CONV2D_OP, "padding").constraint

    assert isinstance(filters, Tensor)
    assert filters.dtypes == ("float16", "float32", "float64", "int32")
    assert filters.dtype_of == "input"
    assert isinstance(padding, OneOf)
    assert set(padding.values) == set(map(LiteralValue, ("SAME", "VALID", "EXPLICIT")))


def test_a_family_shares_channels_between_image_and_filter() -> None:
    image = _parameter(CONV2D_OP, "input").constraint
    filters = _parameter(CONV2D_OP, "filter").constraint

    assert isinstance(image, Tensor)
    assert isinstance(filters, Tensor)
    assert image.shape is not None
    assert filters.shape is not None
    assert image.shape[3] == filters.shape[2]


def test_the_options_that_a_weaker_source_names_too_are_drawn_more_often() -> None:
    padding = _parameter(CONV2D_OP, "padding").constraint

    assert isinstance(padding, OneOf)
    assert padding.values.count(LiteralValue("SAME")) > padding.values.count(
        LiteralValue("EXPLICIT")
    )


def test_every_constraint_says_who_said_so() -> None:
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


def test_a_second_tensor_follows_the_first() -> None:
    other = _parameter(ADD_METHOD, "other").constraint

    assert references(other) == {"self"}


def test_a_layer_s_input_has_the_channels_of_its_constructor() -> None:
    api = understand(CONV1D_LAYER)

    (given,) = api.inputs
    assert isinstance(given.constraint, Tensor)
    assert given.constraint.shape is not None
    assert given.constraint.shape[1] == "in_channels"
    channels = _parameter(CONV1D_LAYER, "in_channels").constraint
    assert isinstance(channels, Int)
    assert channels.size == "in_channels"


def test_of_what_nothing_is_known_most_values_are_tensors() -> None:
    constraint = _only()

    assert isinstance(constraint, AnyOf)
    weights = {type(option): weight for weight, option in constraint.options}
    assert weights[Tensor] > sum(weights.values()) / 2


def test_a_list_of_tensors_is_uniform_and_long_enough() -> None:
    constraint = _only(schema_type="list(Tensor)", minimum=2)

    assert isinstance(constraint, List)
    assert constraint.uniform
    assert constraint.length[0] == 2


def test_an_unbuildable_dtype_is_left_out() -> None:
    constraint = _only(schema_type="Tensor", dtypes=("float32", "qint8", "variant"))

    assert isinstance(constraint, Tensor)
    assert constraint.dtypes == ("float32",)


def test_what_cannot_be_made_is_not_generated() -> None:
    record = ApiRecord(
        api="lib.f",
        kind=CallKind.FUNCTION,
        parameters=(ParameterRecord(name="zzz", annotation="Callable[[], int]"),),
    )

    assert not understand(record).parameters[0].is_generated


def test_a_reference_to_no_parameter_is_dropped() -> None:
    assert references(_only(schema_type="Tensor", doc="same shape as `gone`")) == frozenset()


def test_the_stronger_source_decides_an_aspect_and_the_weaker_adds_the_rest() -> None:
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


def test_half_of_a_shape_is_never_mixed_with_half_of_another() -> None:
    first = Clue(source=ClueSource.FAMILY, evidence="a", ndim=(2, 2))
    second = Clue(source=ClueSource.DOC_PHRASE, evidence="b", shape=("N",), shape_of="y")

    merged, _ = merge.merge([second, first])

    assert (merged.ndim, merged.shape, merged.shape_of) == ((2, 2), None, "")


def test_a_dtype_attribute_is_limited_to_what_can_be_built() -> None:
    constraint = _only(schema_type="type", dtypes=("float32", "quint8"))

    assert constraint == Dtype(("float32",))


def test_understanding_is_repeatable() -> None:
    assert [understand(record) for record in ALL] == [understand(record) for record in ALL]
