"""Forms of TensorFlow's tensors: variable, sparse, ragged and quantised."""

from __future__ import annotations

from ciguard.domain.values import (
    CallValue,
    Constant,
    Explicit,
    LiteralValue,
    MemberValue,
    TensorValue,
    Value,
)
from ciguard.libraries.forms import TensorForm, TensorMaker, call_maker


def _sparse(index: int) -> TensorMaker:
    """Return a maker of sparse tensors with an element at `index` in all axes."""

    def make(tensor: TensorValue) -> Value:
        rank = len(tensor.shape)
        indices = TensorValue("int64", (2, rank), Explicit((*[0] * rank, *[index] * rank)))
        values = TensorValue(tensor.dtype, (2,), tensor.fill)
        return CallValue("tensorflow.SparseTensor", (indices, values, _int64(tensor.shape)))

    return make


def _sparse_and_huge(tensor: TensorValue) -> Value:
    """Return a sparse tensor of two elements whose number of positions overflows."""
    rank = len(tensor.shape)
    indices = TensorValue("int64", (2, rank), Explicit((*[0] * rank, *[1] * rank)))
    values = TensorValue(tensor.dtype, (2,), tensor.fill)
    shape = TensorValue("int64", (rank,), Constant(2**62))
    return CallValue("tensorflow.SparseTensor", (indices, values, shape))


def _int64(numbers: tuple[int, ...]) -> TensorValue:
    return TensorValue("int64", (len(numbers),), Explicit(numbers))


def _ragged_outside(tensor: TensorValue) -> Value:
    """Return a ragged tensor whose row splits decrease and exceed its values."""
    splits = _int64((0, 100, 1, tensor.shape[0]))
    keywords = (("validate", LiteralValue(value=False)),)
    return CallValue("tensorflow.RaggedTensor.from_row_splits", (tensor, splits), keywords)


_SPARSE, _RAGGED = "tensorflow.sparse.from_dense", "tensorflow.RaggedTensor.from_tensor"
FORMS = (
    TensorForm("variable", call_maker("tensorflow.Variable")),
    TensorForm("sparse", call_maker(_SPARSE), ranks=(1, 5), is_composite=True),
    TensorForm("ragged", call_maker(_RAGGED), ranks=(2, 5), is_composite=True),
    TensorForm(
        "index out of range", _sparse(100), ranks=(1, 5), instead_of=_SPARSE, is_composite=True
    ),
    TensorForm("negative index", _sparse(-1), ranks=(1, 5), instead_of=_SPARSE, is_composite=True),
    TensorForm("huge shape", _sparse_and_huge, ranks=(1, 5), instead_of=_SPARSE, is_composite=True),
    TensorForm(
        "splits out of range", _ragged_outside, ranks=(1, 5), instead_of=_RAGGED, is_composite=True
    ),
    *(
        TensorForm(
            f"quantised {stored_dtype}",
            call_maker("tensorflow.bitcast", MemberValue(f"tensorflow.q{stored_dtype}")),
            frozenset({stored_dtype}),
        )
        for stored_dtype in ("int8", "uint8", "int16", "int32")
    ),
)
