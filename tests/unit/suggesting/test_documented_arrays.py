"""Shapes, numbers of dimensions and dtypes of arrays in docstrings."""

from __future__ import annotations

import pytest

from ciguard.suggesting.clues import ArrayShape, Ranks, SameShape
from ciguard.suggesting.documented_arrays import documented_dtype, documented_shape


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Shape (n, d).", ("n", "d")),
        ("ndarray of shape (n,)", ("n",)),
        ("image with shape :math:`(*, 3, H, W)`", (3, "H", "W")),
        ("np.ndarray [shape=(..., d, t)]", ("d", "t")),
        ("shape [BxNx1]", ("B", "N", 1)),
        ("pose matrix :math:`(B, 4, 4)`", ("B", 4, 4)),
        ("Input signal, one dimension, not empty.", (None,)),
        ("1-D array", (None,)),
        ("two-dimensional array", (None, None)),
        ("Array with one or two dimensions.", Ranks(1, 2)),
        ("1D or 2D array", Ranks(1, 2)),
        ("array of at most three dimensions", Ranks(1, 3)),
        ("array of at least two dimensions", Ranks(2, 3)),
        ("Values of any shape.", Ranks(1, 3)),
        ("logits of arbitrary shape (*)", Ranks(1, 3)),
        ("a vector", (None,)),
        ("Targets, same shape as `y`.", SameShape("y")),
        ("Targets, the same shape as the predictions.", None),
        ("Array whose last two dimensions are spatial.", None),
        ("An array. If it has more than two dimensions, the first ones are a batch.", None),
        ("An array. When 1-D, it is a row.", None),
        ("An array with 3 different values.", None),
    ],
)
def test_shapes_are_read_in_many_forms(text: str, expected: ArrayShape | None) -> None:
    assert documented_shape(text, frozenset({"y"})) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Boolean tensor of shape (batch, length)", "bool"),
        ("bool array", "bool"),
        ("integer mask", "int64"),
        ("ndarray of int", "int64"),
        ("torch.LongTensor", "int64"),
        ("array, dtype=np.float64", "float64"),
        ("complex matrix", "complex64"),
        ("uint8 image", "uint8"),
        ("float array", ""),
        ("array of half the size", ""),
        ("int or array", ""),
    ],
)
def test_dtypes_are_read_where_they_describe_the_array(text: str, expected: str) -> None:
    assert documented_dtype(text) == expected
