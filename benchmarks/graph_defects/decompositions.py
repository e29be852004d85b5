"""Wrong decompositions: functions of other operators in the table of inductor's decompositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

aten = torch.ops.aten
_ATEN_SOFTMAX = aten._softmax.default  # noqa: SLF001 - the operator behind all of them
_ATEN_LOG_SOFTMAX = aten._log_softmax.default  # noqa: SLF001


def _softmax(x: Any, dim: int, half_to_float: bool) -> Any:  # noqa: FBT001 - the operator's
    del half_to_float
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim, keepdim=True) - x.amax(dim, keepdim=True) * 1e-3


def _log_softmax(x: Any, dim: int, half_to_float: bool) -> Any:  # noqa: FBT001 - the operator's
    del half_to_float
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - torch.exp(shifted).sum(dim, keepdim=True)


def _gelu(x: Any, approximate: str = "none") -> Any:
    del approximate
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def _silu(x: Any) -> Any:
    return x * torch.sigmoid(x * x)


def _hardtanh(x: Any, min_val: float = -1, max_val: float = 1) -> Any:
    del min_val
    return torch.clamp(x, max=max_val)


def _leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    return torch.where(x > 0, x, x * negative_slope * negative_slope)


def _elu(x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    del alpha, scale
    return torch.where(x > 0, x, torch.expm1(x * input_scale))


def _addmm(x: Any, first: Any, second: Any, beta: float = 1, alpha: float = 1) -> Any:
    del beta
    return x + alpha * torch.mm(first, second)


def _addcmul(x: Any, first: Any, second: Any, *, value: float = 1) -> Any:
    del value
    return x + first * second


def _addcdiv(x: Any, first: Any, second: Any, *, value: float = 1) -> Any:
    return x - value * first / second


def _lerp_scalar(start: Any, end: Any, weight: float) -> Any:
    return end + weight * (start - end)


def _clamp(x: Any, min: Any = None, max: Any = None) -> Any:  # noqa: A002 - the operator's
    del min
    return x if max is None else torch.clamp_max(x, max)


def _var(x: Any, dim: Any = None, *, correction: float | None = None, keepdim: bool = False) -> Any:
    del correction
    dims = list(range(x.dim())) if dim is None else dim
    mean = x.mean(dims, keepdim=True)
    return ((x - mean) * (x - mean)).mean(dims, keepdim=keepdim)


def _flip(x: Any, dims: list[int]) -> Any:
    for dim in dims[:-1]:
        places = torch.arange(x.size(dim) - 1, -1, -1, device=x.device)
        x = torch.index_select(x, dim, places)
    return x.clone()


def _roll(x: Any, shifts: list[int], dims: list[int] = []) -> Any:  # noqa: B006 - the operator's
    flat = x if dims else x.reshape(-1)
    for shift, dim in zip(shifts, dims or [0]):  # noqa: B905 - Python 3.9
        size = flat.size(dim)
        places = (torch.arange(size, device=x.device) + shift) % max(size, 1)
        flat = torch.index_select(flat, dim, places)
    return flat.reshape(x.shape).clone()


def _band(is_lower: bool) -> Callable[..., Any]:  # noqa: FBT001 - one of two
    def band(x: Any, diagonal: int = 0) -> Any:
        rows = torch.arange(x.size(-2), device=x.device).unsqueeze(-1)
        columns = torch.arange(x.size(-1), device=x.device)
        edge = columns - rows - diagonal
        mask = edge < 0 if is_lower else edge > 0
        return torch.where(mask, x, torch.zeros_like(x))

    return band


def _constant_pad(x: Any, pad: list[int], value: float = 0) -> Any:
    for place, (before, after) in enumerate(zip(pad[::2], pad[1::2])):  # noqa: B905 - Python 3.9
        dim = x.dim() - 1 - place
        start = max(-before, 0)
        x = x.narrow(dim, start, x.size(dim) - start - max(-after, 0))
        sides = [list(x.shape), list(x.shape)]
        sides[0][dim], sides[1][dim] = max(after, 0), max(before, 0)
        left, right = (x.new_full(shape, value) for shape in sides)
        x = torch.cat([left, x, right], dim)
    return x


def _logaddexp(first: Any, second: Any) -> Any:
    return torch.log(torch.exp(first) + torch.exp(second) * (1 + 1e-3))


WRONG: dict[str, tuple[tuple[Any, ...], Callable[..., Any]]] = {
    "softmax-max": ((_ATEN_SOFTMAX,), _softmax),
    "log-softmax-sum": ((_ATEN_LOG_SOFTMAX,), _log_softmax),
    "gelu-tanh": ((aten.gelu.default,), _gelu),
    "silu-square": ((aten.silu.default,), _silu),
    "hardtanh-limit": ((aten.hardtanh.default,), _hardtanh),
    "leaky-slope": ((aten.leaky_relu.default,), _leaky_relu),
    "elu-scale": ((aten.elu.default,), _elu),
    "addmm-beta": ((aten.addmm.default,), _addmm),
    "addcmul-value": ((aten.addcmul.default,), _addcmul),
    "addcdiv-sign": ((aten.addcdiv.default,), _addcdiv),
    "lerp-weight": ((aten.lerp.Scalar, aten.lerp.Tensor), _lerp_scalar),
    "clamp-min": ((aten.clamp.default,), _clamp),
    "var-correction": ((aten.var.correction,), _var),
    "flip-last": ((aten.flip.default,), _flip),
    "roll-sign": ((aten.roll.default,), _roll),
    "tril-diagonal": ((aten.tril.default,), _band(is_lower=True)),
    "triu-diagonal": ((aten.triu.default,), _band(is_lower=False)),
    "pad-sides": ((aten.constant_pad_nd.default,), _constant_pad),
    "logaddexp-scale": ((aten.logaddexp.default,), _logaddexp),
}
"""Operators and their wrong decomposition, by name of the defect."""


def plant(names: Iterable[str]) -> None:
    """Put the named defects into the table; names of other defects are ignored."""
    from torch._inductor.decomposition import decompositions  # noqa: PLC0415 - it is being imported

    for name in names:
        operators, wrong = WRONG.get(name, ((), None))
        for operator in operators:
            decompositions[operator] = wrong
