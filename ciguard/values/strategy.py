"""Compiler from constraints to Hypothesis strategies, which are slow but whose values can shrink.

They serve annotated functions, minimisation and the tests of ciguard. A strategy draws one value,
not a whole call, so references to other parameters are resolved in the given scope.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st

from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.values.constraints import (
    AnyOf,
    Array,
    Bool,
    Bytes,
    Constraint,
    Dict,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Mapping,
    Object,
    OneOf,
    Optional,
    String,
    Tensor,
    Tuple,
)
from ciguard.values.dictionaries import dictionary, key_text
from ciguard.values.floating import closed_range
from ciguard.values.sample import compile_sampler
from ciguard.values.sample_tensor import fill_table
from ciguard.values.scope import SamplingScope

if TYPE_CHECKING:
    import random

    from ciguard.domain.values import Fill

Strategy: TypeAlias = st.SearchStrategy[Value]


def compile_strategy(constraint: Constraint, scope: SamplingScope | None = None) -> Strategy:
    """Return a Hypothesis strategy for values that conform to `constraint`.

    References to other parameters are resolved in `scope`; without a scope, they are ignored.
    """
    return _compile(constraint, SamplingScope() if scope is None else scope)


@singledispatch
def _compile(constraint: Constraint, scope: SamplingScope) -> Strategy:
    del scope
    msg = f"{constraint!r} is not a value constraint"
    raise TypeError(msg)


def _through_sampler(constraint: Constraint, scope: SamplingScope) -> Strategy:
    """Return a strategy that draws with the constraint's sampler. Its values do not shrink well."""
    draw = compile_sampler(constraint)

    def sample(rng: random.Random) -> Value:
        inner = SamplingScope()
        inner.values, inner.sizes = scope.values, dict(scope.sizes)
        return draw(rng, inner)

    return st.randoms(use_true_random=False).map(sample)


def _literals(strategy: st.SearchStrategy[bool | int | float | str | bytes | None]) -> Strategy:
    return strategy.map(LiteralValue)


@_compile.register(Int)
def _int_strategy(constraint: Int, scope: SamplingScope) -> Strategy:
    if constraint.axis_of or constraint.size:
        return _through_sampler(constraint, scope)
    if constraint.step > 1:
        minimum, step = constraint.min, constraint.step
        steps = st.integers(0, (constraint.max - minimum) // step)
        return _literals(steps.map(lambda count: minimum + count * step))
    return _literals(st.integers(constraint.min, constraint.max))


@_compile.register(Float)
def _float_strategy(constraint: Float, scope: SamplingScope) -> Strategy:
    del scope
    minimum, maximum = closed_range(constraint)
    width: Any = constraint.width
    finite: Strategy = _literals(st.floats(minimum, maximum, width=width))
    special = [float("nan")] * constraint.nan + [float("inf"), float("-inf")] * constraint.inf
    return finite | _literals(st.sampled_from(special)) if special else finite


@_compile.register(Bool)
def _bool_strategy(constraint: Bool, scope: SamplingScope) -> Strategy:
    del constraint, scope
    return _literals(st.booleans())


@_compile.register(OneOf)
def _one_of_strategy(constraint: OneOf, scope: SamplingScope) -> Strategy:
    del scope
    return st.sampled_from(constraint.values)


@_compile.register(String)
def _string_strategy(constraint: String, scope: SamplingScope) -> Strategy:
    del scope
    if constraint.pattern:
        return _literals(st.from_regex(constraint.pattern, fullmatch=True))
    letters = constraint.alphabet or st.characters(codec="utf-8")
    minimum, maximum = constraint.min_length, constraint.max_length
    return _literals(st.text(letters, min_size=minimum, max_size=maximum))


@_compile.register(Bytes)
def _bytes_strategy(constraint: Bytes, scope: SamplingScope) -> Strategy:
    del scope
    return _literals(st.binary(max_size=constraint.max_length))


@_compile.register(Dtype)
def _dtype_strategy(constraint: Dtype, scope: SamplingScope) -> Strategy:
    if constraint.dtype_of:
        return _through_sampler(constraint, scope)
    return st.sampled_from(constraint.names).map(DtypeValue)


@_compile.register(Ints)
def _ints_strategy(constraint: Ints, scope: SamplingScope) -> Strategy:
    if constraint.length_of or constraint.axes_of or constraint.sizes or constraint.increasing:
        return _through_sampler(constraint, scope)
    wrap = TupleValue if constraint.as_tuple else ListValue
    items = st.integers(constraint.min, constraint.max).map(LiteralValue)
    minimum, maximum = constraint.length
    return st.lists(items, min_size=minimum, max_size=maximum).map(lambda drawn: wrap(tuple(drawn)))


@_compile.register(Tensor)
def _tensor_strategy(constraint: Tensor, scope: SamplingScope) -> Strategy:
    sampled = _through_sampler(constraint, scope)
    depends_on_shape_or_dtype = (
        constraint.shape_of or constraint.broadcast_with or constraint.dtype_of
    )
    depends_on_elements = constraint.axis_of or constraint.index_of or constraint.increasing
    if depends_on_shape_or_dtype or depends_on_elements:
        return sampled
    value_type = ArrayValue if isinstance(constraint, Array) else TensorValue
    if constraint.shape is not None:
        exact = tuple(dim for dim in constraint.shape if isinstance(dim, int))
        return (
            _with_exact_shape(constraint, exact) if len(exact) == len(constraint.shape) else sampled
        )
    minimum, maximum = constraint.ndim
    shapes = st.lists(st.integers(1, 4), min_size=minimum, max_size=maximum).map(tuple)

    def redraw(drawn: tuple[Value, tuple[int, ...]]) -> Value:
        value, shape = drawn
        # A fill from the table fits any shape, so Hypothesis can shrink the shape by itself.
        if isinstance(value, TensorValue | ArrayValue):
            return value_type(value.dtype, shape, value.fill)
        return value

    return st.tuples(sampled, shapes).map(redraw)


def _with_exact_shape(constraint: Tensor, shape: tuple[int, ...]) -> Strategy:
    """Return a strategy for tensors of one shape. It shrinks dtype and fill to the first ones."""
    value_type = ArrayValue if isinstance(constraint, Array) else TensorValue

    def of_dtype(dtype: str) -> Strategy:
        fills = sorted(
            [*_zero_fill(constraint, dtype), *fill_table(constraint, dtype)], key=_complexity
        )
        return st.sampled_from(fills).map(lambda fill: value_type(dtype, shape, fill))

    return st.sampled_from(constraint.dtypes).flatmap(of_dtype)


def _zero_fill(constraint: Tensor, dtype: str) -> list[Fill]:
    """Return the constant fill 0 in a list, or an empty list if 0 is out of range.

    The table of fills lacks it: its constant fills are the ends of a range.
    """
    low, high = constraint.low or 0.0, constraint.high or 0.0
    return [Constant(0)] if dtype != "string" and low <= 0 <= high else []


def _complexity(fill: Fill) -> float:
    """Return a sort key that puts constant fills with small numbers first.

    Hypothesis shrinks towards the first fill.
    """
    if isinstance(fill, Constant) and math.isfinite(fill.value):
        return abs(fill.value)
    return math.inf


@_compile.register(List)
def _list_strategy(constraint: List, scope: SamplingScope) -> Strategy:
    if constraint.length_of or constraint.uniform:
        return _through_sampler(constraint, scope)
    minimum, maximum = constraint.length
    wrap = TupleValue if constraint.as_tuple else ListValue
    items = st.lists(_compile(constraint.item, scope), min_size=minimum, max_size=maximum)
    return items.map(lambda drawn: wrap(tuple(drawn)))


@_compile.register(Tuple)
def _tuple_strategy(constraint: Tuple, scope: SamplingScope) -> Strategy:
    return st.tuples(*(_compile(item, scope) for item in constraint.items)).map(TupleValue)


def _pairs(
    items: tuple[tuple[str, Constraint], ...], scope: SamplingScope
) -> st.SearchStrategy[tuple[tuple[str, Value], ...]]:
    """Return a strategy for named values, such as keyword arguments."""
    keys = [key for key, _ in items]
    values = st.tuples(*(_compile(item, scope) for _, item in items))
    return values.map(lambda drawn: tuple(zip(keys, drawn, strict=True)))


@_compile.register(Dict)
def _dict_strategy(constraint: Dict, scope: SamplingScope) -> Strategy:
    return _pairs(constraint.items, scope).map(DictValue)


@_compile.register(Mapping)
def _mapping_strategy(constraint: Mapping, scope: SamplingScope) -> Strategy:
    minimum, maximum = constraint.length
    pairs = st.tuples(_compile(constraint.key, scope), _compile(constraint.item, scope))
    unique = st.lists(
        pairs, min_size=minimum, max_size=maximum, unique_by=lambda pair: key_text(pair[0])
    )
    return unique.map(dictionary)


@_compile.register(Object)
def _object_strategy(constraint: Object, scope: SamplingScope) -> Strategy:
    arguments = st.tuples(*(_compile(item, scope) for item in constraint.arguments))
    keywords = _pairs(constraint.keywords, scope)
    return st.tuples(arguments, keywords).map(
        lambda drawn: CallValue(constraint.function, drawn[0], drawn[1])
    )


@_compile.register(Optional)
def _optional_strategy(constraint: Optional, scope: SamplingScope) -> Strategy:
    return _literals(st.none()) | _compile(constraint.inner, scope)


@_compile.register(AnyOf)
def _any_of_strategy(constraint: AnyOf, scope: SamplingScope) -> Strategy:
    return st.one_of(*(_compile(option, scope) for _, option in constraint.options))
