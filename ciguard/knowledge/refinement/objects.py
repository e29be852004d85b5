"""Objects that messages demand by name, each with calls that build such objects.

For example, the message "must be a SparseTensor" names the kind of object that an argument must be.
So does "only available for these backends: [SparseCPU, …]". The table lists no plain tensors and
numbers.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ciguard.domain.values import (
    CallValue,
    Explicit,
    ListValue,
    LiteralValue,
    MemberValue,
    TensorValue,
    Uniform,
    Value,
)
from ciguard.knowledge.refinement.requirements import MAX_CACHED_TEXTS


def _tensor(*shape: int, dtype: str = "float32") -> TensorValue:
    return TensorValue(dtype, shape, Uniform(3, 0.0, 2.0))


def _call(function: str, *arguments: Value) -> CallValue:
    return CallValue(function, arguments)


_SQUARE, _MATRIX, _CUBE = _tensor(4, 4), _tensor(3, 4), _tensor(2, 3, 4)
_QUANTISATION = (LiteralValue(0.1), LiteralValue(0), MemberValue("torch.quint8"))
_ROWS = ListValue(
    (ListValue((LiteralValue(1.0), LiteralValue(2.0))), ListValue((LiteralValue(3.0),)))
)

_TF_SPARSE = "tensorflow.sparse.from_dense"
_CHANNEL_QUANTISATION = (
    TensorValue("float64", (4,), Explicit((0.1, 0.2, 0.3, 0.4))),
    TensorValue("int64", (4,), Explicit((0, 0, 0, 0))),
    LiteralValue(0),
    MemberValue("torch.quint8"),
)

_CALLABLES: tuple[Value, ...] = (MemberValue("builtins.abs"), MemberValue("builtins.len"))

OBJECTS: tuple[tuple[re.Pattern[str], tuple[Value, ...]], ...] = tuple(
    (re.compile(pattern), values)
    for pattern, values in (
        (
            (r"(?:be|[Ee]xpect\w*|requires?|not) an? `*(?:tf\.)?(?:sparse\.)?SparseTensor\b(?!\()|"
            r"no attribute '(?:dense_shape|indices)'"),
            (
                _call(_TF_SPARSE, _MATRIX),
                _call(_TF_SPARSE, _SQUARE),
                _call(_TF_SPARSE, _tensor(4, 4, dtype="int64")),
                _call(_TF_SPARSE, _tensor(5)),
                _call(_TF_SPARSE, _CUBE),
            ),
        ),
        (
            (r"(?:be|[Ee]xpect\w*|requires?|not) an? `*(?:tf\.)?RaggedTensor\b(?!\()|"
            r"no attribute '(?:row_splits|ragged_rank|flat_values)'"),
            (_call("tensorflow.ragged.constant", _ROWS),),
        ),
        (
            r"tf\.data\.Dataset|no attribute '(?:element_spec|_variant_tensor|_dataset)'",
            (
                _call("tensorflow.data.Dataset.range", LiteralValue(5)),
                _call("tensorflow.data.Dataset.from_tensors", _MATRIX),
            ),
        ),
        (
            (r"no attribute '(?:_?forward_pre_hooks|training|named_\w+|children|modules|parameters|"
            r"_modules|_parameters|_buffers|state_dict|register_\w+)'|"
            r"not an? (?:\w+\.)*Module\b|Module '.*' has no parameter"),
            (
                _call("torch.nn.Linear", LiteralValue(4), LiteralValue(3)),
                _call("torch.nn.Conv2d", LiteralValue(2), LiteralValue(3), LiteralValue(1)),
            ),
        ),
        (r"not callable|must be (?:a )?callable|expect\w* (?:a )?callable", _CALLABLES),
        (
            r"PackedSequence|no attribute 'batch_sizes'",
            (
                _call(
                    "torch.nn.utils.rnn.pack_sequence", ListValue((_tensor(3, 4), _tensor(2, 4)))
                ),
            ),
        ),
        (
            (r"backends: \[[^\]]*\bSparseCPU|[Ss]parse (?:COO |coordinate )?tensors?\b|"
            r"to have sparse layout|sparse_coo|"
            r"[Ss]parse COO|tensor layout Sparse\b"),
            tuple(_call("torch.Tensor.to_sparse", tensor) for tensor in (_SQUARE, _MATRIX, _CUBE)),
        ),
        (
            r"backends: \[[^\]]*\bSparseCsrCPU|[Ss]parse (?:row )?(?:compressed|[Cc][Ss][Rr])",
            tuple(_call("torch.Tensor.to_sparse_csr", tensor) for tensor in (_SQUARE, _MATRIX)),
        ),
        (
            r"sparse col(?:umn)? compressed|sparse_csc",
            tuple(_call("torch.Tensor.to_sparse_csc", tensor) for tensor in (_SQUARE, _MATRIX)),
        ),
        (
            r"backends: \[[^\]]*\bQuantizedCPU|[Qq]uantized tensor",
            (
                _call("torch.quantize_per_tensor", _MATRIX, *_QUANTISATION),
                _call("torch.quantize_per_tensor", _tensor(1, 2, 5, 5), *_QUANTISATION),
                _call("torch.quantize_per_channel", _SQUARE, *_CHANNEL_QUANTISATION),
            ),
        ),
        (
            r"backends: \[[^\]]*\bMkldnnCPU|mkldnn tensor",
            tuple(
                _call("torch.Tensor.to_mkldnn", tensor) for tensor in (_MATRIX, _tensor(1, 2, 5, 5))
            ),
        ),
        (
            r"backends: \[[^\]]*\bNestedTensorCPU|(?:be|expect\w*) an? nested ?tensor",
            (_call("torch.nested.nested_tensor", ListValue((_MATRIX, _tensor(2, 4)))),),
        ),
    )
)  # fmt: skip
"""Patterns for messages, each with values of the kind of object that such a message demands."""


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def demanded_object(text: str) -> tuple[Value, ...]:
    """Return values of the kind of object that a message demands; empty if it demands no object."""
    return next((values for pattern, values in OBJECTS if pattern.search(text)), ())
