from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from constraint_examples import FREE
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.values import DtypeValue, ListValue, LiteralValue, MemberValue, Value
from ciguard.values import (
    AnyOf,
    Array,
    Between,
    Bool,
    Bytes,
    Constraint,
    Dict,
    Dim,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Named,
    Object,
    OneOf,
    Optional,
    RankOf,
    SizeOf,
    String,
    Tensor,
    Tuple,
    constraint_from_json,
    constraint_to_json,
)

_names = st.text(max_size=4)
_ints = st.integers(-(2**70), 2**70)
_numbers = st.one_of(_ints, st.floats(allow_nan=False))
_pairs = st.tuples(_ints, _ints)
_texts = st.lists(_names, max_size=3).map(tuple)
_values: st.SearchStrategy[Value] = st.one_of(
    st.one_of(st.none(), st.booleans(), _ints, _names, st.binary(max_size=3)).map(LiteralValue),
    st.floats(allow_nan=False).map(LiteralValue),
    _names.map(DtypeValue),
    _names.map(MemberValue),
    st.lists(_ints.map(LiteralValue), max_size=2).map(lambda items: ListValue(tuple(items))),
)
_dims: st.SearchStrategy[Dim] = st.one_of(
    _ints,
    _names,
    st.builds(Named, _names, _ints, _ints),
    st.builds(RankOf, _names),
    st.builds(SizeOf, _names, _ints),
    st.builds(Between, _ints, _ints),
)


def _tensors(kind: Any) -> st.SearchStrategy[Any]:
    return st.builds(
        kind,
        dtypes=_texts,
        dtype_of=_names,
        ndim=_pairs,
        shape=st.none() | st.lists(_dims, max_size=3).map(tuple),
        shape_of=_names,
        broadcast_with=_names,
        low=st.none() | _numbers,
        high=st.none() | _numbers,
        axis_of=_names,
        index_of=_names,
        increasing=st.booleans(),
    )


_leaves: st.SearchStrategy[Constraint] = st.one_of(
    st.builds(Int, min=_ints, max=_ints, size=_names, axis_of=_names),
    st.builds(Float, min=_numbers, max=_numbers, nan=st.booleans(), inf=st.booleans()),
    st.just(Bool()),
    st.lists(_values, max_size=3).map(lambda values: OneOf(tuple(values))),
    st.builds(String, max_length=_ints),
    st.builds(Bytes, max_length=_ints),
    st.builds(Dtype, _texts, _names),
    st.builds(
        Ints,
        length=_pairs,
        min=_ints,
        max=_ints,
        length_of=_names,
        axes_of=_names,
        sizes=_texts,
        increasing=st.booleans(),
        as_tuple=st.booleans(),
    ),
    _tensors(Tensor),
    _tensors(Array),
)


def _nested(inner: st.SearchStrategy[Constraint]) -> st.SearchStrategy[Constraint]:
    several = st.lists(inner, max_size=2).map(tuple)
    named = st.lists(st.tuples(_names, inner), max_size=2).map(tuple)
    weighted = st.lists(st.tuples(_numbers, inner), min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(List, item=inner, length=_pairs, length_of=_names, uniform=st.booleans()),
        st.builds(Tuple, several),
        st.builds(Dict, named),
        st.builds(Object, _names, several, named),
        st.builds(Optional, inner, _numbers),
        st.builds(AnyOf, weighted),
    )


_constraints = st.recursive(_leaves, _nested, max_leaves=4)


@given(_constraints)
def test_constraint_round_trips_through_json_text(constraint: Constraint) -> None:
    text = json.dumps(constraint_to_json(constraint), allow_nan=False)

    assert constraint_from_json(json.loads(text)) == constraint


@pytest.mark.parametrize("constraint", FREE, ids=repr)
def test_example_round_trips_through_json(constraint: Constraint) -> None:
    assert constraint_from_json(constraint_to_json(constraint)) == constraint


def test_examples_include_all_kinds_of_constraints() -> None:
    assert {type(constraint) for constraint in FREE} >= set(get_args(Constraint))


def test_constraint_to_json_omits_empty_defaults() -> None:
    plain = Tensor(dtypes=("float32",), ndim=(2, 2))

    assert constraint_to_json(plain) == {"tensor": {"dtypes": ["float32"], "ndim": [2, 2]}}


def test_empty_shape_differs_from_an_open_shape() -> None:
    scalar = Tensor(dtypes=("float32",), shape=())

    assert constraint_from_json(constraint_to_json(scalar)) == scalar


@pytest.mark.parametrize(
    ("encoded", "message"),
    [
        (None, "None is not a constraint"),
        ([], "is not a constraint"),
        ({}, "is not a constraint"),
        ({"int": {}, "bool": {}}, "is not a constraint"),
        ({"integer": {}}, "is not a constraint: an object with one of the keys int, float"),
        ({"int": 3}, "is not a constraint"),
        ({"int": {"min": True}}, "int: min: True is not of type int"),
        ({"int": {"min": 1.0}}, "int: min: 1.0 is not of type int"),
        ({"float": {"min": "0"}}, "float: min: '0' is not a number"),
        ({"float": {"min": []}}, "float: min: "),
        ({"ints": {"length": [1]}}, "ints: length: "),
        ({"tensor": {"dtypes": "float32"}}, "tensor: dtypes: 'float32' is not of type list"),
        ({"tensor": {"shape": [{"named": ["H", 1]}]}}, "is not a dimension"),
        ({"tensor": {"shape": [{"rank_of": [3]}]}}, "is not a dimension"),
        ({"tensor": {"shape": [{"rank": ["x"]}]}}, "is not a dimension"),
        ({"tensor": {"shape": [1.5]}}, "is not a dimension"),
        ({"tensor": {"shapes": [1]}}, "tensor: unknown key 'shapes'"),
        ({"one_of": {}}, "one_of: the key 'values' is missing"),
        ({"one_of": {"values": [["b", 5]]}}, "one_of: values: "),
        ({"any_of": {"options": []}}, "AnyOf needs at least one option"),
        ({"any_of": {"options": [[1.0]]}}, "any_of: options: "),
        ({"optional": {"inner": {"int": {"max": None}}}}, "optional: inner: int: max: None"),
    ],
)  # fmt: skip
def test_constraint_from_json_of_malformed_json_raises_with_kind_and_key(
    encoded: object, message: str
) -> None:
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        constraint_from_json(encoded)
