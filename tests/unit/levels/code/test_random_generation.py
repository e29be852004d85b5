"""Operator RG (random generation), and the constraints that a program can write."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from code_records import CALLS, MAX_POOL, apis, block_of, layer, layer_call, optional, rng_of
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.programs import Operator
from ciguard.domain.values import LiteralValue, TupleValue
from ciguard.levels.code.binding import bind
from ciguard.levels.code.generation import Generation, drawable_values
from ciguard.levels.code.knowledge import INPUT_SIZES, Apis
from ciguard.levels.code.legal import MAX_INTEGER, admits, draw, literal_part
from ciguard.levels.code.literals import is_same, text_of, value_of
from ciguard.levels.code.parameter_relations import is_coherent
from ciguard.values import (
    AnyOf,
    Bool,
    Constraint,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    OneOf,
    Optional,
    String,
    Tensor,
    Tuple,
    conforms,
)

if TYPE_CHECKING:
    from ciguard.knowledge import Api
    from ciguard.levels.code.blocks import LibraryCall

GENERATE = Generation(apis())
SEEDS = st.integers(0, 2**32)
CONSTRAINTS = st.recursive(
    st.sampled_from(
        [
            Int(min=1, max=500),
            Int(min=-3, max=3),
            Float(min=0.0, max=1.0),
            Float(min=-2.0, max=0.5, nan=True, inf=True),
            Bool(),
            OneOf((LiteralValue("zeros"), LiteralValue("reflect"))),
            Ints(length=(2, 2), min=1, max=900),
            String(),
            Tensor(),
            Dtype(),
        ]
    ),
    lambda inner: (
        inner.map(Optional)
        | st.lists(inner, min_size=1, max_size=3).map(
            lambda options: AnyOf(tuple((1.0, option) for option in options))
        )
        | st.lists(inner, min_size=1, max_size=3).map(lambda items: Tuple(tuple(items)))
        | inner.map(lambda item: List(item=item, length=(2, 2)))
    ),
    max_leaves=4,
)


@given(CONSTRAINTS, SEEDS)
def test_drawn_values_conform_and_can_be_written(constraint: Constraint, seed: int) -> None:
    part = literal_part(constraint)

    if part is not None:
        drawn = draw(part, rng_of(seed))
        assert conforms(drawn, part)
        assert value_of(text_of(drawn)) == drawn
        assert admits(constraint, drawn)


@given(CONSTRAINTS, SEEDS)
def test_drawn_integers_are_small(constraint: Constraint, seed: int) -> None:
    part = literal_part(constraint)

    if part is not None:
        assert all(abs(number) <= MAX_INTEGER for number in _numbers(draw(part, rng_of(seed))))


def _numbers(value: object) -> list[float]:
    match value:
        case LiteralValue(int() | float() as number):
            return [number]
        case TupleValue(items):
            return [number for item in items for number in _numbers(item)]
        case _:
            return []


@given(st.sampled_from(CALLS), SEEDS)
def test_one_parameter_gets_another_legal_value(call: LibraryCall, seed: int) -> None:
    block = block_of(call)
    mutant = GENERATE(block, 0, rng_of(seed))

    if mutant is not None:
        step = mutant.step
        api = apis().find(step.api)
        assert api is not None
        before = bind(block.calls[0], api.record)
        after = bind(mutant.block.calls[0], api.record)
        assert before is not None
        assert after is not None
        assert after.named == {**before.named, step.parameter: step.after}
        assert after.further == before.further
        assert step.before == before.named.get(step.parameter, "")
        assert not is_same(step.after, step.before or None)
        _assert_legal(api, step.parameter, step.after)
        assert is_coherent(api.record, after.named)


def _assert_legal(api: Api, name: str, text: str) -> None:
    parameter = next(p for p in api.parameters if p.name == name)
    part = drawable_values(parameter, api.record)
    value = value_of(text)
    assert part is not None
    assert value is not None
    assert conforms(value, part)
    assert admits(parameter.constraint, value)


def _steps(call: LibraryCall, count: int = 100) -> Counter[tuple[str, str]]:
    rng = rng_of(0)
    mutants = [GENERATE(block_of(call), 0, rng) for _ in range(count)]
    return Counter((m.step.parameter, m.step.after) for m in mutants if m is not None)


def test_input_sizes_and_output_forms_are_not_varied() -> None:
    varied = {name for call in CALLS for name, _ in _steps(call)}

    assert varied.isdisjoint(INPUT_SIZES | {"inplace", "return_indices", "name"})
    assert {"out_channels", "kernel_size", "bias", "padding_mode", "p", "activation"} - varied == {
        "activation"  # its only known value is the argument itself
    }


def test_a_flag_is_flipped() -> None:
    steps = _steps(layer_call("torch.nn.MaxPool2d", "2", ceil_mode="True"))

    assert {after for name, after in steps if name == "ceil_mode"} == {"False"}


def test_an_enumerated_text_becomes_one_of_the_others() -> None:
    steps = _steps(layer_call("torch.nn.Conv2d", "3", "16", "5", padding_mode="'circular'"))

    assert {after for name, after in steps if name == "padding_mode"} == {"'zeros'", "'reflect'"}


def test_free_text_is_never_drawn() -> None:
    steps = _steps(layer_call("torch.nn.Conv2d", "3", "16", "5"))

    assert not [after for name, after in steps if name == "padding" and after.startswith("'")]


def test_a_list_of_sizes_has_one_for_each_dimension_of_the_name() -> None:
    steps = _steps(layer_call("torch.nn.MaxPool2d", "2"))

    values = [value_of(after) for name, after in steps if name == "kernel_size"]
    lists = [value for value in values if isinstance(value, TupleValue)]
    assert lists
    assert {len(value.items) for value in lists} == {2}


def test_channels_stay_divisible_by_groups() -> None:
    steps = _steps(layer_call("torch.nn.Conv2d", "4", "4", "3", groups="2"), 300)

    channels = {int(after) for name, after in steps if name == "out_channels"}
    assert channels
    assert all(number % 2 == 0 for number in channels)


def test_groups_of_unknown_channels_and_wholes_as_reals_are_never_drawn() -> None:
    record = layer(
        "lib.Conv",
        "",
        optional("groups", "int", "1", "Positive int."),
        optional("multiplier", "Union[int, float]", "1"),
        optional("flag", "bool", "True"),
    )
    generate, rng = Generation(Apis([record])), rng_of(0)

    mutants = [generate(block_of(layer_call("lib.Conv")), 0, rng) for _ in range(60)]

    steps = [m.step for m in mutants if m]
    assert {step.parameter for step in steps} == {"multiplier", "flag"}
    assert not [step.after for step in steps if "." in step.after]


def test_padding_stays_within_half_of_the_kernel() -> None:
    steps = _steps(layer_call("torch.nn.MaxPool2d", "3", padding="1"))

    assert "1" not in {after for name, after in steps if name == "kernel_size"}


def test_a_non_literal_argument_is_not_varied() -> None:
    steps = _steps(layer_call("torch.nn.Conv2d", "3", "WIDTH", "5"))

    assert not [after for name, after in steps if name == "out_channels"]


def test_numbers_are_drawn_from_within_and_from_the_ends_as_three_to_one_to_one() -> None:
    rng = rng_of(0)

    drawn = Counter(getattr(draw(Float(min=0.0, max=7.0), rng), "value", None) for _ in range(5000))

    # The sampler itself draws ends now and then.
    assert 900 < drawn[0.0] < 1700
    assert 900 < drawn[7.0] < 1700
    assert sum(drawn.values()) - drawn[0.0] - drawn[7.0] > 2200


def test_the_step_quotes_the_documentation() -> None:
    mutants = [GENERATE(block_of(CALLS[6]), 0, rng_of(seed)) for seed in range(5)]

    assert {m.step.sentence for m in mutants if m} == {"p: float. Float between 0 and 1."}
    assert {m.step.operator for m in mutants if m} == {Operator.GENERATION}


@pytest.mark.parametrize(
    "call",
    [
        layer_call("torch.nn.Unheard"),
        layer_call("torch.nn.ReLU", inplace="True"),
        layer_call("torch.nn.LSTM", "1"),
    ],
)
def test_a_call_without_variable_parameters_is_not_mutated(call: LibraryCall) -> None:
    assert GENERATE(block_of(call), 0, rng_of(0)) is None


def test_a_number_of_no_known_range_is_drawn_only_where_it_is_needed() -> None:
    api = apis().find(MAX_POOL.api)
    assert api is not None
    bare = type(api.parameters[0])(
        name="power", constraint=Float(), evidence=api.parameters[0].evidence[:1]
    )

    assert drawable_values(bare, MAX_POOL) is None
    needed = drawable_values(bare, MAX_POOL, is_needed=True)
    assert isinstance(needed, Float)
    assert needed.min > 0


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("scale_factor", Int),
        ("factor", Float),
        ("value", Float),
        ("size", Tuple),
        ("key_dim", Int),
        ("power", None),
    ],
)
def test_an_undocumented_required_parameter_is_drawn_by_its_name(
    name: str, drawn: type | None
) -> None:
    api = apis().find(MAX_POOL.api)
    assert api is not None
    undocumented = replace(api.parameters[0], name=name, evidence=())

    assert drawable_values(undocumented, MAX_POOL) is None
    assert isinstance(drawable_values(undocumented, MAX_POOL, is_needed=True), drawn or type(None))


@pytest.mark.parametrize(
    ("api", "arguments", "expected"),
    [
        ("torch.nn.Conv2d", {"in_channels": "4", "groups": "3"}, False),
        ("torch.nn.Conv2d", {"in_channels": "6", "out_channels": "9", "groups": "3"}, True),
        ("torch.nn.Conv2d", {"in_channels": "C", "groups": "3"}, True),
        ("torch.nn.Conv2d", {"kernel_size": "1", "padding": "4"}, True),
        ("torch.nn.MaxPool2d", {"kernel_size": "(2, 1)", "padding": "1"}, False),
        ("torch.nn.MaxPool2d", {"kernel_size": "(2, 3)", "padding": "(1, 1)"}, True),
        ("torch.nn.MaxPool2d", {"kernel_size": "()", "padding": "1"}, True),
        ("torch.nn.ConvTranspose2d", {"padding_mode": "'reflect'"}, False),
        ("torch.nn.BatchNorm", {"eps": "0.0"}, False),
    ],
)
def test_arguments_agree_with_each_other(
    api: str, arguments: dict[str, str], *, expected: bool
) -> None:
    called = apis().find(api)

    assert called is not None
    assert is_coherent(called.record, arguments) is expected


def test_exactly_one_of_size_and_factor_is_given() -> None:
    record = layer(
        "torch.nn.Upsample",
        "",
        optional("size", "int", "None"),
        optional("scale_factor", "float", "None"),
    )

    assert not is_coherent(record, {})
    assert not is_coherent(record, {"size": "4", "scale_factor": "2.0"})
    assert is_coherent(record, {"size": "4"})


@pytest.mark.parametrize(
    ("constraint", "text", "expected"),
    [
        (Int(min=1, max=3), "7", True),
        (Int(), "2.0", False),
        (Int(), "True", False),
        (Float(), "2", True),
        (Float(), "'2'", False),
        (Bool(), "True", True),
        (String(), "'same'", True),
        (Optional(Int()), "None", True),
        (Int(), "None", False),
        (Ints(length=(2, 2)), "(1, 2)", True),
        (Ints(length=(2, 2)), "(1, 2, 3)", False),
        (List(item=Float(), length=(1, 3)), "[1, 0.5]", True),
        (Tuple((Int(), Bool())), "(1, True)", True),
        (Tuple((Int(), Bool())), "(1,)", False),
        (OneOf((LiteralValue("a"), LiteralValue("b"))), "'c'", False),
        (OneOf((LiteralValue("a"),)), "'c'", True),
        (OneOf((LiteralValue(1),)), "4", True),
        (OneOf((LiteralValue(1),)), "(4, 4)", False),
        (AnyOf(((1.0, Int()), (1.0, String()))), "'same'", True),
        (Tensor(), "1", False),
    ],
)
def test_a_value_is_admitted_by_its_kind(
    constraint: Constraint, text: str, *, expected: bool
) -> None:
    value = value_of(text)

    assert value is not None
    assert admits(constraint, value) is expected
