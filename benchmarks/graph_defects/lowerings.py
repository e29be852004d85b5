"""Wrong lowerings: loops of inductor that compute something else than the operator."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

aten = torch.ops.aten


def _low(operator: Any) -> Callable[..., Any]:
    from torch._inductor.lowering import lowerings  # noqa: PLC0415 - it is being imported

    lowered: Callable[..., Any] = lowerings[operator]
    return lowered


def _sigmoid(right: Callable[..., Any], x: Any) -> Any:
    is_negative = _low(aten.lt)(x, 0)
    value = right(x)
    return _low(aten.where)(is_negative, _low(aten.sub)(value, 1), value)


def _plus_one(right: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return _low(aten.add)(right(*args, **kwargs), 1)


def _mean(right: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> Any:
    return _low(aten.mul)(right(x, *args, **kwargs), 1.001)


def _amax(right: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> Any:
    value = right(x, *args, **kwargs)
    return _low(aten.where)(_low(aten.lt)(value, 0), _low(aten.mul)(value, 0), value)


def _where(right: Callable[..., Any], condition: Any, first: Any, second: Any) -> Any:
    return right(condition, second, first)


def _slice(right: Callable[..., Any], x: Any, dim: int = 0, *bounds: Any, **kwargs: Any) -> Any:
    start, end, *step = [*bounds, None, None][: max(2, len(bounds))]
    size = x.get_size()[dim]
    if isinstance(start, int) and isinstance(end, int) and 0 <= start < end < int(size):
        return right(x, dim, start + 1, end + 1, *step, **kwargs)
    return right(x, dim, *bounds, **kwargs)


def _select(right: Callable[..., Any], x: Any, dim: int, index: Any) -> Any:
    size = int(x.get_size()[dim])
    return right(x, dim, (index + 1) % size if isinstance(index, int) and index >= 0 else index)


def _cat(right: Callable[..., Any], tensors: list[Any], dim: int = 0) -> Any:
    return right([*tensors[1:], *tensors[:1]], dim)


def _floor(right: Callable[..., Any], x: Any) -> Any:
    del right
    return _low(aten.trunc)(x)


def _round(right: Callable[..., Any], x: Any) -> Any:
    del right
    return _low(aten.floor)(_low(aten.add)(x, 0.5))


def _convert(right: Callable[..., Any], x: Any, dtype: Any) -> Any:
    is_truncated = x.get_dtype().is_floating_point and dtype in (torch.int32, torch.int64)
    if not is_truncated:
        return right(x, dtype)
    whole = _low(aten.trunc)(x)  # other defects change floor and where
    return right(_low(aten.sub)(whole, right(_low(aten.lt)(x, whole), x.get_dtype())), dtype)


WRONG: dict[str, tuple[tuple[Any, ...], Callable[..., Any]]] = {
    "sigmoid-sign": ((aten.sigmoid,), _sigmoid),
    "sum-identity": ((aten.sum,), _plus_one),
    "mean-scale": ((aten.mean,), _mean),
    "amax-zero": ((aten.amax,), _amax),
    "where-swapped": ((aten.where,), _where),
    "slice-off-by-one": ((aten.slice,), _slice),
    "select-next": ((aten.select,), _select),
    "cat-order": ((aten.cat,), _cat),
    "floor-trunc": ((aten.floor,), _floor),
    "round-away": ((aten.round,), _round),
    "cast-floor": ((torch.ops.prims.convert_element_type,), _convert),
}
"""Operators and what is computed instead of their lowering, by name of the defect."""


def plant(names: Iterable[str]) -> None:
    """Put the named defects around the lowerings; names of other defects are ignored."""
    from torch._inductor.lowering import lowerings  # noqa: PLC0415 - it is being imported

    for name in names:
        packets, wrong = WRONG.get(name, ((), None))
        for packet in packets:
            for operator in (packet, *(getattr(packet, each) for each in packet.overloads())):
                if operator in lowerings and wrong is not None:
                    lowerings[operator] = _around(lowerings[operator], wrong)


def _around(right: Callable[..., Any], wrong: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(right)
    def planted(*args: Any, **kwargs: Any) -> Any:
        return wrong(right, *args, **kwargs)

    return planted
