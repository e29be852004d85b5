"""Forms of PyTorch's tensors: strided, sparse, quantised, with gradients, in oneDNN's layout."""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    CallValue,
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


def _quantised(dtype: str) -> TensorMaker:
    kind = MemberValue(f"torch.{dtype}")
    return call_maker("torch.quantize_per_tensor", LiteralValue(0.1), LiteralValue(0), kind)


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
    TensorForm("onednn", call_maker("torch.Tensor.to_mkldnn"), frozenset({"float32"}), (1, 5)),
)
