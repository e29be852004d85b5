"""Compile a constraint into a Hypothesis strategy: slower than the sampler, but it shrinks.

Used where Hypothesis drives: annotated functions, minimising, and tests of ciguard itself. A
strategy knows one value, not a call: references to other parameters are resolved against the
given scope.
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
from ciguard.values.sample_tensor import fills_of
from ciguard.values.scope import SamplingScope

if TYPE_CHECKING:
    import random

    from ciguard.domain.values import Fill

Strategy: TypeAlias = st.SearchStrategy[Value]


def compile_strategy(constraint: Constraint, scope: SamplingScope | None = None) -> Strategy:
    """Return a Hypothesis strategy of values that conform to `constraint` within `scope`."""
    return _compile(constraint, SamplingScope() if scope is None else scope)


@singledispatch
def _compile(constraint: Constraint, scope: SamplingScope) -> Strategy:
    del scope
    msg = f"{constraint!r} is not a value constraint"
    raise TypeError(msg)


def _through_sampler(constraint: Constraint, scope: SamplingScope) -> Strategy:
    """Where relations decide the value, the sampler draws it, from Hypothesis's randomness."""
    draw = compile_sampler(constraint)

    def sample(rng: random.Random) -> Value:
        inner = SamplingScope()
        inner.values, inner.sizes = scope.values, dict(scope.sizes)
        return draw(rng, inner)

    return st.randoms(use_true_random=False).map(sample)


def _literals(strategy: st.SearchStrategy[bool | int | float | str | bytes | None]) -> Strategy:
    return strategy.map(LiteralValue)


@_compile.register(Int)
def _int(constraint: Int, scope: SamplingScope) -> Strategy:
    if constraint.axis_of or constraint.size:
        return _through_sampler(constraint, scope)
    if constraint.step > 1:
        least, step = constraint.min, constraint.step
        steps = st.integers(0, (constraint.max - least) // step)
        return _literals(steps.map(lambda count: least + count * step))
    return _literals(st.integers(constraint.min, constraint.max))


@_compile.register(Float)
def _float(constraint: Float, scope: SamplingScope) -> Strategy:
    del scope
    least, most = closed_range(constraint)
    width: Any = constraint.width
    finite: Strategy = _literals(st.floats(least, most, width=width))
    special = [float("nan")] * constraint.nan + [float("inf"), float("-inf")] * constraint.inf
    return finite | _literals(st.sampled_from(special)) if special else finite


@_compile.register(Bool)
def _bool(constraint: Bool, scope: SamplingScope) -> Strategy:
    del constraint, scope
    return _literals(st.booleans())


@_compile.register(OneOf)
def _one_of(constraint: OneOf, scope: SamplingScope) -> Strategy:
    del scope
    return st.sampled_from(constraint.values)


@_compile.register(String)
def _string(constraint: String, scope: SamplingScope) -> Strategy:
    del scope
    if constraint.pattern:
        return _literals(st.from_regex(constraint.pattern, fullmatch=True))
    letters = constraint.alphabet or st.characters(codec="utf-8")
    least, most = constraint.min_length, constraint.max_length
    return _literals(st.text(letters, min_size=least, max_size=most))


@_compile.register(Bytes)
def _bytes(constraint: Bytes, scope: SamplingScope) -> Strategy:
    del scope
    return _literals(st.binary(max_size=constraint.max_length))


@_compile.register(Dtype)
def _dtype(constraint: Dtype, scope: SamplingScope) -> Strategy:
    if constraint.dtype_of:
        return _through_sampler(constraint, scope)
    return st.sampled_from(constraint.names).map(DtypeValue)


@_compile.register(Ints)
def _ints(constraint: Ints, scope: SamplingScope) -> Strategy:
    if constraint.length_of or constraint.axes_of or constraint.sizes or constraint.increasing:
        return _through_sampler(constraint, scope)
    wrap = TupleValue if constraint.as_tuple else ListValue
    items = st.integers(constraint.min, constraint.max).map(LiteralValue)
    least, most = constraint.length
    return st.lists(items, min_size=least, max_size=most).map(lambda found: wrap(tuple(found)))


@_compile.register(Tensor)
def _tensor(constraint: Tensor, scope: SamplingScope) -> Strategy:
    sampled = _through_sampler(constraint, scope)
    related = constraint.shape_of or constraint.broadcast_with or constraint.dtype_of
    relations = constraint.axis_of or constraint.index_of or constraint.increasing
    if related or relations:
        return sampled
    make = ArrayValue if isinstance(constraint, Array) else TensorValue
    if constraint.shape is not None:
        exact = tuple(dim for dim in constraint.shape if isinstance(dim, int))
        return _of_shape(constraint, exact) if len(exact) == len(constraint.shape) else sampled
    least, most = constraint.ndim
    shapes = st.lists(st.integers(1, 4), min_size=least, max_size=most).map(tuple)

    def redraw(drawn: tuple[Value, tuple[int, ...]]) -> Value:
        value, shape = drawn
        # The table holds fills that fit any shape; only the shape is Hypothesis's to shrink.
        if isinstance(value, TensorValue | ArrayValue):
            return make(value.dtype, shape, value.fill)
        return value

    return st.tuples(sampled, shapes).map(redraw)


def _of_shape(constraint: Tensor, shape: tuple[int, ...]) -> Strategy:
    """Draw dtype and fill only; they shrink to the first dtype and to one number everywhere."""
    make = ArrayValue if isinstance(constraint, Array) else TensorValue

    def of_dtype(dtype: str) -> Strategy:
        fills = sorted([*_zero(constraint, dtype), *fills_of(constraint, dtype)], key=_complexity)
        return st.sampled_from(fills).map(lambda fill: make(dtype, shape, fill))

    return st.sampled_from(constraint.dtypes).flatmap(of_dtype)


def _zero(constraint: Tensor, dtype: str) -> list[Fill]:
    """Return zero everywhere, where that conforms: tables hold only the ends of a range."""
    low, high = constraint.low or 0.0, constraint.high or 0.0
    return [Constant(0)] if dtype != "string" and low <= 0 <= high else []


def _complexity(fill: Fill) -> float:
    """Return what Hypothesis shrinks: first comes one number everywhere, the smallest of all."""
    if isinstance(fill, Constant) and math.isfinite(fill.value):
        return abs(fill.value)
    return math.inf


@_compile.register(List)
def _list(constraint: List, scope: SamplingScope) -> Strategy:
    if constraint.length_of or constraint.uniform:
        return _through_sampler(constraint, scope)
    least, most = constraint.length
    wrap = TupleValue if constraint.as_tuple else ListValue
    items = st.lists(_compile(constraint.item, scope), min_size=least, max_size=most)
    return items.map(lambda found: wrap(tuple(found)))


@_compile.register(Tuple)
def _tuple(constraint: Tuple, scope: SamplingScope) -> Strategy:
    return st.tuples(*(_compile(item, scope) for item in constraint.items)).map(TupleValue)


def _pairs(
    items: tuple[tuple[str, Constraint], ...], scope: SamplingScope
) -> st.SearchStrategy[tuple[tuple[str, Value], ...]]:
    keys = [key for key, _ in items]
    values = st.tuples(*(_compile(item, scope) for _, item in items))
    return values.map(lambda found: tuple(zip(keys, found, strict=True)))


@_compile.register(Dict)
def _dict(constraint: Dict, scope: SamplingScope) -> Strategy:
    return _pairs(constraint.items, scope).map(DictValue)


@_compile.register(Mapping)
def _mapping(constraint: Mapping, scope: SamplingScope) -> Strategy:
    least, most = constraint.length
    pairs = st.tuples(_compile(constraint.key, scope), _compile(constraint.item, scope))
    unique = st.lists(pairs, min_size=least, max_size=most, unique_by=lambda p: key_text(p[0]))
    return unique.map(dictionary)


@_compile.register(Object)
def _object(constraint: Object, scope: SamplingScope) -> Strategy:
    arguments = st.tuples(*(_compile(item, scope) for item in constraint.arguments))
    keywords = _pairs(constraint.keywords, scope)
    return st.tuples(arguments, keywords).map(
        lambda found: CallValue(constraint.function, found[0], found[1])
    )


@_compile.register(Optional)
def _optional(constraint: Optional, scope: SamplingScope) -> Strategy:
    return _literals(st.none()) | _compile(constraint.inner, scope)


@_compile.register(AnyOf)
def _any_of(constraint: AnyOf, scope: SamplingScope) -> Strategy:
    return st.one_of(*(_compile(option, scope) for _, option in constraint.options))
