"""Strategies that draw any value and any call of one API."""

from __future__ import annotations

from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import (
    CallValue,
    Constant,
    DictValue,
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
)

NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats())
SCALARS = st.one_of(
    NUMBERS,
    st.none(),
    st.booleans(),
    st.text(max_size=9),
    st.binary(max_size=9),
    st.complex_numbers(),
).map(LiteralValue)
SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)


@st.composite
def tensors(draw: st.DrawFn) -> TensorValue:
    shape = draw(SHAPES)
    count = 1
    for size in shape:
        count *= size
    data = st.lists(st.integers(-9, 9), min_size=count, max_size=count)
    fill = draw(
        st.one_of(
            st.builds(Constant, NUMBERS),
            st.builds(Uniform, st.integers(0, 9), st.just(0.0), st.just(1.0)),
            data.map(lambda numbers: Explicit(tuple(numbers))),
        )
    )
    return TensorValue(draw(st.sampled_from(["float32", "bfloat16", "int8"])), shape, fill)


def _nested(values: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    items = st.lists(values, max_size=4).map(tuple)
    named = st.lists(st.tuples(st.sampled_from("abc"), values), max_size=3).map(tuple)
    return st.one_of(
        st.builds(ListValue, items),
        st.builds(TupleValue, items),
        st.builds(DictValue, named),
        st.builds(CallValue, st.just("torch.Size"), items, named),
    )


VALUES: st.SearchStrategy[Value] = st.recursive(
    st.one_of(SCALARS, tensors()), _nested, max_leaves=8
)
CASES = st.builds(
    ApiCall,
    api=st.just("torch.fold"),
    kind=st.just(CallKind.FUNCTION),
    arguments=st.lists(VALUES, max_size=3).map(tuple),
    keywords=st.lists(
        st.tuples(st.sampled_from("xyz"), VALUES), max_size=3, unique_by=lambda pair: pair[0]
    ).map(tuple),
)
