"""Constraints of every kind, alone and referring to each other."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from ciguard.domain.values import DtypeValue, LiteralValue, TensorValue, Uniform
from ciguard.values import (
    AnyOf,
    Array,
    Between,
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
    Named,
    Object,
    OneOf,
    Optional,
    RankOf,
    SamplingScope,
    SizeOf,
    String,
    Tensor,
    Tuple,
    compile_sampler,
)

FREE: tuple[Constraint, ...] = (
    Int(min=-3, max=12),
    Int(min=0, max=2**40),
    Int(min=1, max=5, size="C"),
    Int(axis_of="x"),
    Float(min=-1.5, max=2.0),
    Float(min=0.0, max=1.0, nan=True, inf=True),
    Int(min=3, max=2000, step=7),
    Int(min=-5, max=2**70, step=1),
    Float(min=0.0, max=1.0, exclude_min=True, exclude_max=True),
    Float(min=0.1, max=0.2, width=32),
    Float(min=-1e6, max=1e6, exclude_max=True, width=16),
    Bool(),
    OneOf((LiteralValue("SAME"), LiteralValue("VALID"))),
    String(max_length=5),
    String(min_length=2, max_length=5, alphabet="ab"),
    String(pattern="[A-C]{2}[0-9]+"),
    Bytes(max_length=4),
    Dtype(("float32", "int64")),
    Dtype(("float32", "int64"), dtype_of="x"),
    Ints(length=(1, 3), min=1, max=4),
    Ints(length=(2, 2), min=0, max=0, as_tuple=True),
    Ints(length_of="x", min=1, max=3),
    Ints(axes_of="x", length=(1, 4)),
    Ints(sizes=("C", "H"), min=1, max=4),
    Ints(length=(3, 5), min=0, max=9, increasing=True),
    Tensor(),
    Tensor(dtypes=("int32", "float64"), ndim=(2, 3), low=0, high=3),
    Tensor(dtypes=("float32",), shape=("N", 3, "N", Between(1, 2))),
    Tensor(dtypes=("float32",), shape=(Named("H", 4, 8), Named("H", 4, 8))),
    Tensor(dtypes=("int64",), shape=(RankOf("x"), SizeOf("x", 0))),
    Tensor(dtypes=("float32", "int64"), dtype_of="x", shape_of="x"),
    Tensor(dtypes=("float32",), broadcast_with="x"),
    Tensor(dtypes=("int32",), shape=(), axis_of="x"),
    Tensor(dtypes=("int32",), shape=(RankOf("x"),), axis_of="x"),
    Tensor(dtypes=("int64",), ndim=(1, 2), index_of="x"),
    Tensor(dtypes=("int32", "float32"), ndim=(1, 1), low=0, high=5, increasing=True),
    Array(dtypes=("float64",), ndim=(0, 2)),
    List(item=Int(min=0, max=3), length=(0, 3)),
    List(item=Tensor(dtypes=("float32",)), length=(2, 3), uniform=True),
    List(item=Float(min=0.0, max=1.0), length_of="x"),
    List(item=Int(min=1, max=90, step=1), length=(2, 3), as_tuple=True),
    Mapping(key=OneOf((LiteralValue("a"), LiteralValue("b"))), item=Int(), length=(1, 2)),
    Mapping(key=Int(min=0, max=3), item=Bool(), length=(2, 4)),
    Array(dtypes=("float32", "int32"), ndim=(1, 2), nan=True),
    Array(dtypes=("float32",), ndim=(1, 2), low=0, high=1, nan=True),
    Tuple((Int(min=0, max=1), Bool())),
    Dict((("a", Bool()), ("b", Int(min=1, max=2)))),
    Object("lib.make", (Tensor(dtypes=("int8",)),), (("flag", Bool()),)),
    Optional(Int(min=0, max=4)),
    AnyOf(((3.0, Tensor(dtypes=("float32",))), (1.0, Int(min=0, max=4)))),
    AnyOf(((1.0, Int(min=1, max=3)), (1.0, Ints(length=(2, 2), min=1, max=3)))),
)
"""Every kind of constraint; those that refer to a parameter refer to `x`."""


def scope_with(x: TensorValue | None) -> SamplingScope:
    scope = SamplingScope()
    if x is not None:
        scope.values["x"] = x
    return scope


X = TensorValue("float32", (2, 3, 4), Uniform(0, 0.0, 1.0))
DTYPE_X = DtypeValue("int64")


def random_generator(seed: int) -> random.Random:
    return random.Random(seed)


# Fill the cached table of the pattern: Hypothesis refuses to run inside a test of its own.
compile_sampler(String(pattern="[A-C]{2}[0-9]+"))(random_generator(0), SamplingScope())

constraints = st.sampled_from(FREE)
seeds = st.integers(0, 2**32)
scopes = st.sampled_from([None, X, TensorValue("int64", (), Uniform(1, 0.0, 1.0))])
