"""Forms of PyTorch's tensors: strided, sparse, quantised, with gradients, in oneDNN's layout."""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    CallValue,
    Constant,
    ListValue,
    LiteralValue,
    MemberValue,
    TensorValue,
    Value,
)
from ciguard.libraries.forms import NUMBERS, TensorForm, TensorMaker, call_maker

if TYPE_CHECKING:
    from collections.abc import Sequence

_REAL = frozenset({"float32", "float64"})
_SPARSE = NUMBERS - {"uint16", "uint32", "uint64"}
"""Dtypes of sparse tensors; torch cannot count non-zero elements of wide unsigned dtypes."""


def _ints(numbers: Sequence[int]) -> ListValue:
    return ListValue(tuple(map(LiteralValue, numbers)))


def _transposed(tensor: TensorValue) -> Value:
    *rest, rows, columns = tensor.shape
    transposed = TensorValue(tensor.dtype, (*rest, columns, rows), tensor.fill)
    return CallValue("torch.Tensor.transpose", (transposed, LiteralValue(-2), LiteralValue(-1)))


def _stepped(tensor: TensorValue) -> Value:
    """Return a view of every other element of a tensor with a doubled last dimension."""
    doubled_shape = (*tensor.shape[:-1], 2 * tensor.shape[-1])
    base = TensorValue(tensor.dtype, doubled_shape, tensor.fill)
    _, *outer_strides = accumulate((1, *doubled_shape[:0:-1]), mul)
    return CallValue(
        "torch.as_strided", (base, _ints(tensor.shape), _ints((*outer_strides[::-1], 2)))
    )


def _expanded(tensor: TensorValue) -> Value:
    """Return a view whose first dimension repeats the same memory."""
    single = TensorValue(tensor.dtype, (1, *tensor.shape[1:]), tensor.fill)
    return CallValue("torch.Tensor.expand", (single, _ints(tensor.shape)))


def _quantised_by_channel(tensor: TensorValue) -> Value:
    channels = tensor.shape[:1]
    scales = TensorValue("float64", channels, Constant(0.1))
    zero_points = TensorValue("int64", channels, Constant(0))
    kind = MemberValue("torch.qint8")
    return CallValue(
        "torch.quantize_per_channel", (tensor, scales, zero_points, LiteralValue(0), kind)
    )


def _nested(tensor: TensorValue) -> Value:
    """Return a nested tensor of two tensors, of which the second has a longer first dimension."""
    first = TensorValue(tensor.dtype, tensor.shape[1:], tensor.fill)
    second = TensorValue(tensor.dtype, (tensor.shape[1] + 1, *tensor.shape[2:]), tensor.fill)
    return CallValue("torch.nested.nested_tensor", (ListValue((first, second)),))


def _quantised(dtype: str) -> TensorMaker:
    kind = MemberValue(f"torch.{dtype}")
    return call_maker("torch.quantize_per_tensor", LiteralValue(0.1), LiteralValue(0), kind)


def _in_blocks(layout: str) -> TensorMaker:
    block = _ints((1, 1))
    return call_maker(f"torch.Tensor.to_sparse_{layout}", block)


def _negated(tensor: TensorValue) -> Value:
    """Return a view whose elements are negated when they are read: imaginary parts."""
    dtype = {"float32": "complex64", "float64": "complex128"}[tensor.dtype]
    numbers = TensorValue(dtype, tensor.shape, tensor.fill)
    return CallValue("torch.imag", (CallValue("torch.conj", (numbers,)),))


FORMS = (
    TensorForm("transposed", _transposed, ranks=(2, 5)),
    TensorForm("stepped", _stepped, ranks=(1, 5)),
    TensorForm("expanded", _expanded, ranks=(1, 5)),
    TensorForm("conjugated", call_maker("torch.conj"), frozenset(element_types.COMPLEX)),
    TensorForm("tracked", call_maker("torch.Tensor.requires_grad_"), _REAL),
    TensorForm("sparse", call_maker("torch.Tensor.to_sparse"), _SPARSE, (1, 5)),
    TensorForm("compressed rows", call_maker("torch.Tensor.to_sparse_csr"), _SPARSE, (2, 2)),
    TensorForm("compressed columns", call_maker("torch.Tensor.to_sparse_csc"), _SPARSE, (2, 2)),
    TensorForm("quantised", _quantised("qint8"), frozenset({"float32"})),
    TensorForm("quantised, unsigned", _quantised("quint8"), frozenset({"float32"})),
    TensorForm("quantised, wide", _quantised("qint32"), frozenset({"float32"})),
    TensorForm("quantised by channel", _quantised_by_channel, frozenset({"float32"}), (1, 5)),
    TensorForm("sparse blocks", _in_blocks("bsr"), _SPARSE, (2, 2)),
    TensorForm("sparse blocks of columns", _in_blocks("bsc"), _SPARSE, (2, 2)),
    TensorForm("hybrid", call_maker("torch.Tensor.to_sparse", LiteralValue(1)), _SPARSE, (2, 5)),
    TensorForm("without data", call_maker("torch.Tensor.to", LiteralValue("meta"))),
    TensorForm("negated view", _negated, _REAL),
    TensorForm("nested", _nested, _REAL, (2, 5)),
    TensorForm("parameter", call_maker("torch.nn.Parameter"), _REAL),
    TensorForm("onednn", call_maker("torch.Tensor.to_mkldnn"), frozenset({"float32"}), (1, 5)),
)
