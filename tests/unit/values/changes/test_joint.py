from __future__ import annotations

from collections import Counter
from math import prod
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.values import (
    CallValue,
    Constant,
    Explicit,
    ListValue,
    LiteralValue,
    MemberValue,
    TensorValue,
    Uniform,
    Value,
)
from ciguard.values.changes import mutate_jointly

LEFT = TensorValue("float32", (3, 4), Uniform(1, 0.0, 1.0))
RIGHT = TensorValue("float32", (4, 3), Uniform(2, 0.0, 1.0))
INDICES = TensorValue("int64", (3,), Explicit((0, 1, 2)))
AXIS = LiteralValue(3)


def mutated(seed: int, **values: Value) -> tuple[dict[str, Value], tuple[str, ...]]:
    changed = dict(values)
    names = mutate_jointly(Random(seed), changed)
    return changed, names


def shapes(values: dict[str, Value]) -> list[tuple[int, ...]]:
    return [value.shape for value in values.values() if isinstance(value, TensorValue)]


@given(st.integers(0, 2**32))
def test_mutate_jointly_names_exactly_the_changed_arguments(seed: int) -> None:
    values: dict[str, Value] = {"x": LEFT, "y": RIGHT, "i": INDICES, "axis": AXIS}

    changed, names = mutated(seed, **values)

    assert set(names) == {name for name in values if changed[name] is not values[name]}
    assert changed["axis"] is AXIS


@given(st.integers(0, 2**32))
def test_mutate_jointly_allocates_little_and_keeps_explicit_elements_complete(seed: int) -> None:
    changed, _ = mutated(seed, x=LEFT, y=RIGHT, i=INDICES)

    for value in changed.values():
        assert isinstance(value, TensorValue)
        assert prod(value.shape) <= 4096
        if isinstance(value.fill, Explicit):
            assert len(value.fill.data) == prod(value.shape)


def test_mutate_jointly_empties_one_size_in_all_operands() -> None:
    drawn = [shapes(mutated(seed, x=LEFT, y=RIGHT)[0]) for seed in range(300)]

    assert [(0, 4), (4, 0)] in drawn
    assert [(3, 0), (0, 3)] in drawn


def test_mutate_jointly_widens_a_dimension_only_of_empty_tensors() -> None:
    drawn = [shape for seed in range(300) for shape in shapes(mutated(seed, x=LEFT, y=RIGHT)[0])]

    wide = [shape for shape in drawn if max(shape) >= 2**31 - 1]
    assert wide
    assert all(0 in shape for shape in wide)


def test_mutate_jointly_changes_rank_dtype_and_elements_of_all_operands() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(300):
        changed, _ = mutated(seed, x=LEFT, y=RIGHT)
        x, y = changed["x"], changed["y"]
        assert isinstance(x, TensorValue)
        assert isinstance(y, TensorValue)
        kinds["rank"] += len(x.shape) == len(y.shape) != 2
        kinds["dtype"] += x.dtype == y.dtype != "float32"
        kinds["elements"] += isinstance(x.fill, Constant) and x.fill == y.fill

    assert all(kinds[kind] for kind in ("rank", "dtype", "elements"))


def test_mutate_jointly_reaches_tensors_in_lists_and_forms() -> None:
    quantised = CallValue("lib.bitcast", (RIGHT, MemberValue("lib.qint8")))
    values: dict[str, Value] = {"xs": ListValue((LEFT, LEFT)), "q": quantised}

    names = {name for seed in range(50) for name in mutated(seed, **values)[1]}

    assert names == {"xs", "q"}


def test_mutate_jointly_keeps_calls_whose_lists_fix_the_shape() -> None:
    view = CallValue("lib.expand", (LEFT, ListValue((LiteralValue(3), LiteralValue(4)))))

    assert all(mutated(seed, x=view) == ({"x": view}, ()) for seed in range(20))


def test_mutate_jointly_without_tensors_changes_nothing() -> None:
    assert mutated(0, axis=AXIS) == ({"axis": AXIS}, ())


def test_mutate_jointly_often_halves_the_precision_of_all_operands() -> None:
    drawn = [mutated(seed, x=LEFT, y=RIGHT)[0].values() for seed in range(1000)]
    dtypes = [{one.dtype for one in row if isinstance(one, TensorValue)} for row in drawn]

    halved = sum(names in ({"float16"}, {"bfloat16"}) for names in dtypes)

    assert 100 < halved < 300
