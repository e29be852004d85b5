from __future__ import annotations

import pytest
from constraint_examples import FREE

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import ListValue, LiteralValue, MemberValue
from ciguard.values import (
    AnyOf,
    Array,
    Between,
    Bool,
    Constraint,
    Dict,
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
    in_words,
)


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (Int(min=0, max=3), "int from 0 to 3"),
        (Int(min=2, max=2), "int 2"),
        (Int(axis_of="x"), "int, an axis of 'x'"),
        (Int(min=1, max=4, size="C"), "int from 1 to 4, the size C"),
        (Float(min=0.0, max=1.0, nan=True), "float from 0 to 1, or nan"),
        (Bool(), "bool"),
        (OneOf((LiteralValue("SAME"), LiteralValue("VALID"))), "one of 'SAME' or 'VALID'"),
        (OneOf((LiteralValue("a"), LiteralValue("a"))), "'a'"),
        (OneOf((MemberValue("torch.strided"),)), "torch.strided"),
        (OneOf((ListValue((LiteralValue(1),)), LiteralValue(None))), "one of [1] or None"),
        (String(max_length=5), "text of up to 5 characters"),
        (Dtype(("float32", "int64"), dtype_of="x"), "dtype: float32 or int64, the one of 'x'"),
        (Ints(length=(2, 2), min=1, max=4), "list of 2 ints from 1 to 4"),
        (Ints(length=(1, 4), axes_of="x"), "list of 1 to 4 ints, axes of 'x'"),
        (Ints(length_of="x", min=1, max=3), "list of ints from 1 to 3, one per dimension of 'x'"),
        (Ints(sizes=("C", "H"), as_tuple=True), "tuple of the sizes C, H"),
        (Tensor(dtypes=("float32",), ndim=(1, 1)), "tensor of float32, 1 dimension"),
        (Tensor(dtypes=element_types.NUMERIC, ndim=(0, 5)),
         "tensor of every int, every float or every complex, 0 to 5 dimensions"),
        (Tensor(dtypes=("bool",), shape=("N", 3, Named("H", 4, 8), Between(1, 2))),
         "tensor of bool, shape (N, 3, H: 4..8, 1..2)"),
        (Tensor(dtypes=("int64",), shape=(RankOf("x"),)), "tensor of int64, shape (rank of 'x',)"),
        (Tensor(dtypes=("int64",), shape=(SizeOf("x", 0), 2)),
         "tensor of int64, shape (size 0 of 'x', 2)"),
        (Tensor(dtypes=("int64",), dtype_of="x", shape_of="x", low=0),
         "tensor of int64, same dtype as 'x', same shape as 'x', elements from 0"),
        (Tensor(dtypes=("int64",), broadcast_with="x", index_of="y"),
         "tensor of int64, shape that broadcasts with 'x', elements index 'y'"),
        (Array(dtypes=("float64",), ndim=(0, 2)), "array of float64, 0 to 2 dimensions"),
        (List(item=Bool(), length=(1, 3)), "list of 1 to 3 items: bool"),
        (List(item=Bool(), length_of="x", uniform=True),
         "list of as many alike as 'x' has: bool"),
        (Tuple((Int(min=0, max=1), Bool())), "tuple (int from 0 to 1; bool)"),
        (Dict((("a", Bool()),)), "dictionary {'a': bool}"),
        (Object("lib.make", (Bool(),), (("flag", Bool()),)),
         "what lib.make returns for (bool; flag=bool)"),
        (Optional(Int(min=0, max=4)), "int from 0 to 4; or None"),
        (AnyOf(((1.0, Bool()), (3.0, Int(min=1, max=2)))), "bool; or int from 1 to 2"),
    ],
    ids=str,
)  # fmt: skip
def test_in_words_describes_a_constraint(constraint: Constraint, words: str) -> None:
    assert in_words(constraint) == words


@pytest.mark.parametrize("constraint", FREE, ids=repr)
def test_in_words_of_any_constraint_is_one_line(constraint: Constraint) -> None:
    words = in_words(constraint)

    assert words
    assert "\n" not in words


def test_in_words_shortens_a_long_choice() -> None:
    words = in_words(OneOf(tuple(LiteralValue(number) for number in range(20))))

    assert words.endswith("11 or 8 more")
