"""What is computed for one item of a batch does not depend on the others."""

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

_ANY_RANK = (
    *("relu", "relu6", "elu", "selu", "celu", "gelu", "silu", "mish", "leaky_relu", "hardtanh"),
    *("hardswish", "hardsigmoid", "hardshrink", "softshrink", "tanhshrink", "softplus"),
    *("softsign", "logsigmoid", "sigmoid", "tanh", "exp", "expm1", "log", "log1p", "log2"),
    *("log10", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh"),
    *("asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "abs", "neg", "negative", "square"),
    *("reciprocal", "sign", "floor", "ceil", "round", "trunc", "frac", "lgamma", "digamma"),
    *("isnan", "isinf", "isfinite", "logit", "sinc", "deg2rad", "rad2deg", "clamp", "clip"),
)
"""Element by element: the first dimension is a batch whatever it means."""
_OF_RANK = {
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
"""Documented as (N, C, …): the rank at which the first dimension is the batch."""
_PREFIXES = ("torch.", "torch.nn.functional.", "torch.special.")
_RANKS = {
    **{f"{prefix}{name}": 0 for prefix in _PREFIXES for name in _ANY_RANK},
    **{f"{p}{name}": rank for p in _PREFIXES for rank, names in _OF_RANK.items() for name in names},
}


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return record.api in _RANKS and record.kind is CallKind.FUNCTION


def _batch(case: ApiCall) -> TensorValue | None:
    """Return the batch that a call is given; None if what it is given is none."""
    match case.arguments:
        case (TensorValue(_, (_, *_)) as batch, *_):
            rank = _RANKS.get(case.api)
            others = [*case.arguments[1:], *(value for _, value in case.keywords)]
            # Element by element, another tensor of as many dimensions has a batch of its own.
            shares = any(
                isinstance(value, TensorValue) and len(value.shape) >= len(batch.shape)
                for value in others
            )
            is_batch = rank == len(batch.shape) or (rank == 0 and not shares)
            return batch if is_batch else None
        case _:
            return None


def _with_batch(case: ApiCall, batch: Value) -> Value:
    return expression(replace(case, arguments=(batch, *case.arguments[1:])))


def _part(batch: TensorValue, begin: int, count: int) -> Value:
    where = (_ZERO, LiteralValue(begin), LiteralValue(count))
    return CallValue("torch.narrow", (batch, *where))


def _joined(parts: Sequence[Value]) -> Value:
    return CallValue("torch.cat", (ListValue(tuple(parts)), _ZERO))


def _in_parts(case: ApiCall) -> Value | None:
    batch = _batch(case)
    if batch is None or batch.shape[0] < 2:  # noqa: PLR2004 - one item has no parts
        return None
    count = batch.shape[0]
    parts = [_part(batch, 0, count // 2), _part(batch, count // 2, count - count // 2)]
    return _joined([_with_batch(case, part) for part in parts])


def _reversed(case: ApiCall) -> Value | None:
    batch = _batch(case)
    if batch is None:
        return None
    first = ListValue((_ZERO,))
    turned = CallValue("torch.flip", (batch, first))
    return CallValue("torch.flip", (_with_batch(case, turned), first))


def _empty(case: ApiCall) -> Value | None:
    batch = _batch(case)
    return None if batch is None else _with_batch(case, _part(batch, 0, 0))


def _is_empty_alike(observed: ObservedPair) -> Difference | None:
    """Compare all but the first dimension, which is 0."""
    match observed.first, observed.twin:
        case (TensorOutput() | TensorDigest() | Unreadable()) as first, (
            TensorOutput() | TensorDigest() | Unreadable()
        ) as twin:
            wanted = (0, *first.shape[1:])
            if twin.shape != wanted:
                return Difference("shape", f"{list(twin.shape)} vs {list(wanted)}")
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
        law="A batch gives what its parts give, put together.",
        source=_SOURCE,
        applies=_applies,
        twin=_in_parts,
    )
)
REVERSED_BATCH = relate(
    Relation(
        name="batch reversed",
        law="A batch in another order gives the same items in that order.",
        source=_SOURCE,
        applies=_applies,
        twin=_reversed,
    )
)
EMPTY_BATCH = relate(
    Relation(
        name="empty batch",
        law="A batch without items gives a result without items, of the same type and shape else.",
        source=_SOURCE,
        applies=_applies,
        twin=_empty,
        broken=_is_empty_alike,
        compares=Compares.EMPTY_SHAPES,
    )
)
