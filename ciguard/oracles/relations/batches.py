"""Relations of batches: the result for an item does not depend on the other items of the batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import CallValue, ListValue, LiteralValue, TensorValue, Value
from ciguard.execution import TensorDigest, TensorOutput, Unreadable
from ciguard.oracles.comparing.comparison import Difference
from ciguard.oracles.relations.contract import Compares, ObservedPair, Relation, relate
from ciguard.oracles.relations.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ciguard.domain.records import ApiRecord

_ZERO = LiteralValue(0)

_ELEMENTWISE_FUNCTIONS = (
    *("relu", "relu6", "elu", "selu", "celu", "gelu", "silu", "mish", "leaky_relu", "hardtanh"),
    *("hardswish", "hardsigmoid", "hardshrink", "softshrink", "tanhshrink", "softplus"),
    *("softsign", "logsigmoid", "sigmoid", "tanh", "exp", "expm1", "log", "log1p", "log2"),
    *("log10", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh"),
    *("asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "abs", "neg", "negative", "square"),
    *("reciprocal", "sign", "floor", "ceil", "round", "trunc", "frac", "lgamma", "digamma"),
    *("isnan", "isinf", "isfinite", "logit", "sinc", "deg2rad", "rad2deg", "clamp", "clip"),
)
"""Names of elementwise functions. Their first dimension can always be treated as a batch."""
_FUNCTIONS_BY_RANK = {
    3: (
        *("conv1d", "max_pool1d", "avg_pool1d", "adaptive_avg_pool1d", "adaptive_max_pool1d"),
        "lp_pool1d",
    ),
    4: (
        *("conv2d", "conv_transpose2d", "max_pool2d", "avg_pool2d", "adaptive_avg_pool2d"),
        *("adaptive_max_pool2d", "lp_pool2d", "pixel_shuffle", "pixel_unshuffle"),
        *("channel_shuffle", "unfold", "local_response_norm"),
    ),
    5: ("conv3d", "max_pool3d", "avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d"),
}
"""Names of functions whose inputs are documented as (N, C, …), by the rank of a batch."""
_PREFIXES = ("torch.", "torch.nn.functional.", "torch.special.")
"""Modules with a function of one of these names."""
_BATCHED_RANKS = {
    **{f"{prefix}{name}": 0 for prefix in _PREFIXES for name in _ELEMENTWISE_FUNCTIONS},
    **{
        f"{p}{name}": rank
        for p in _PREFIXES
        for rank, names in _FUNCTIONS_BY_RANK.items()
        for name in names
    },
}


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return record.api in _BATCHED_RANKS and record.kind is CallKind.FUNCTION


def _batch_of(case: ApiCall) -> TensorValue | None:
    """Return the first argument of a call if it is a batch, otherwise None."""
    match case.arguments:
        case (TensorValue(_, (_, *_)) as batch, *_):
            rank = _BATCHED_RANKS.get(case.api)
            others = [*case.arguments[1:], *(value for _, value in case.keywords)]
            # With a second tensor of the same rank, both tensors would have to be split.
            has_other_batch = any(
                isinstance(value, TensorValue) and len(value.shape) >= len(batch.shape)
                for value in others
            )
            is_batch = rank == len(batch.shape) or (rank == 0 and not has_other_batch)
            return batch if is_batch else None
        case _:
            return None


def _with_batch(case: ApiCall, batch: Value) -> Value:
    return expression(replace(case, arguments=(batch, *case.arguments[1:])))


def _slice(batch: TensorValue, begin: int, count: int) -> Value:
    """Return `count` items of a batch, starting at item `begin`."""
    bounds = (_ZERO, LiteralValue(begin), LiteralValue(count))
    return CallValue("torch.narrow", (batch, *bounds))


def _concatenate(parts: Sequence[Value]) -> Value:
    return CallValue("torch.cat", (ListValue(tuple(parts)), _ZERO))


def _split_twin(case: ApiCall) -> Value | None:
    """Return the concatenated results of the two halves of a batch."""
    batch = _batch_of(case)
    if batch is None or batch.shape[0] < 2:  # noqa: PLR2004 - one item cannot be split
        return None
    count = batch.shape[0]
    parts = [_slice(batch, 0, count // 2), _slice(batch, count // 2, count - count // 2)]
    return _concatenate([_with_batch(case, part) for part in parts])


def _reversed_twin(case: ApiCall) -> Value | None:
    """Return the reversed result of the reversed batch."""
    batch = _batch_of(case)
    if batch is None:
        return None
    first = ListValue((_ZERO,))
    reversed_batch = CallValue("torch.flip", (batch, first))
    return CallValue("torch.flip", (_with_batch(case, reversed_batch), first))


def _empty_twin(case: ApiCall) -> Value | None:
    """Return the call with an empty batch."""
    batch = _batch_of(case)
    return None if batch is None else _with_batch(case, _slice(batch, 0, 0))


def _compare_empty(observed: ObservedPair) -> Difference | None:
    """Return how the twin's type and shape deviate; None if they are as expected.

    The expected shape is that of the call's result, with 0 as first dimension.
    """
    match observed.first, observed.twin:
        case (TensorOutput() | TensorDigest() | Unreadable()) as first, (
            TensorOutput() | TensorDigest() | Unreadable()
        ) as twin:
            if first.shape is None or twin.shape is None:
                return None
            expected = (0, *first.shape[1:])
            if twin.shape != expected:
                return Difference("shape", f"{list(twin.shape)} vs {list(expected)}")
            if twin.dtype != first.dtype:
                text = f"{twin.dtype} vs {first.dtype}"
                return Difference("dtype", text, text)
            return None
        case _:
            return None


_SOURCE = "the shapes (N, …) in the documentation of each function"

SPLIT_BATCH = relate(
    Relation(
        name="batch in parts",
        law="The result for a batch equals the concatenated results for its parts.",
        source=_SOURCE,
        applies=_applies,
        twin=_split_twin,
    )
)
REVERSED_BATCH = relate(
    Relation(
        name="batch reversed",
        law="The result for a reordered batch has the same items in the new order.",
        source=_SOURCE,
        applies=_applies,
        twin=_reversed_twin,
    )
)
EMPTY_BATCH = relate(
    Relation(
        name="empty batch",
        law="The result for an empty batch is empty, but otherwise has the same type and shape.",
        source=_SOURCE,
        applies=_applies,
        twin=_empty_twin,
        find_violation=_compare_empty,
        compares=Compares.EMPTY_SHAPES,
    )
)
