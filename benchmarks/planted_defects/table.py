"""Functions of PyTorch that defects can be planted into, and functions that are left whole.

Leaves only: nothing here is what another function here, torch's start, ciguard's adapter or the
twin of a metamorphic relation is made of. A defect in `torch.stack` would show everywhere.
"""

from __future__ import annotations

from typing import NamedTuple, Optional

from planted_defects.kinds import Argument, Kind


class Plantable(NamedTuple):
    """One function, method or layer, and the defects that show on a good share of its calls."""

    api: str
    kinds: tuple[Kind, ...]
    ignored: Optional[Argument] = None  # noqa: UP045 - Python 3.9 in the target
    bounded: Optional[Argument] = None  # noqa: UP045 - likewise


_ANY = (Kind.SHAPE, Kind.STRIDES, Kind.LEAK, Kind.SLOW, Kind.EXCEPTION, Kind.CRASH)
_REAL = (*_ANY, Kind.VALUE, Kind.DTYPE, Kind.GRADIENT, Kind.CORRUPTION)
"""For what returns floating-point numbers."""


def _real(api: str) -> Plantable:
    return Plantable(api, _REAL)


def _not_a_number(api: str) -> Plantable:
    """Make a row of what has no value for many numbers, or must hand NaN on."""
    return Plantable(api, (*_REAL, Kind.NAN))


def _ignores(api: str, name: str, place: int, instead: object) -> Plantable:
    """Make a row of a function that can ignore one optional argument."""
    return Plantable(api, (*_REAL, Kind.IGNORED), ignored=Argument(name, place, instead))


def _bounded(api: str, name: str, place: int, instead: object = 0) -> Plantable:
    """Make a row of a function that must refuse some values of one argument."""
    return Plantable(api, (*_REAL, Kind.BOUNDS), bounded=Argument(name, place, instead))


PLANTABLE = (
    *map(
        _real,
        (
            "torch.erf",
            "torch.sinh",
            "torch.atan",
            "torch.digamma",
            "torch.sinc",
            "torch.hypot",
            "torch.logaddexp",
            "torch.special.i0",
            "torch.special.entr",
            "torch.linalg.vander",
            "torch.Tensor.tan",
            "torch.Tensor.erfc",
            "torch.Tensor.lgamma",
            "torch.nn.LogSigmoid",
            "torch.nn.Softsign",
            "torch.nn.Tanhshrink",
            "torch.nn.functional.silu",
            "torch.nn.functional.mish",
        ),
    ),
    *map(
        _not_a_number,
        (
            "torch.log2",
            "torch.log10",
            "torch.sqrt",
            "torch.rsqrt",
            "torch.acos",
            "torch.asin",
            "torch.acosh",
            "torch.atanh",
            "torch.maximum",
            "torch.cummax",
            "torch.nanmedian",
        ),
    ),
    _ignores("torch.nn.functional.leaky_relu", "negative_slope", 1, 0.01),
    _ignores("torch.nn.functional.softplus", "beta", 1, 1.0),
    _ignores("torch.nn.functional.celu", "alpha", 1, 1.0),
    _ignores("torch.nn.functional.hardtanh", "max_val", 2, 1.0),
    _ignores("torch.sub", "alpha", -1, 1),
    # Its gradient is zero, so that no factor makes it wrong.
    Plantable(
        "torch.round",
        (*_ANY, Kind.VALUE, Kind.DTYPE, Kind.CORRUPTION, Kind.IGNORED),
        ignored=Argument("decimals", -1, 0),
    ),
    _ignores("torch.tril", "diagonal", 1, 0),
    _ignores("torch.amin", "keepdim", 2, instead=False),
    _ignores("torch.std", "correction", -1, 1),
    _ignores("torch.addmm", "beta", -1, 1),
    _ignores("torch.nan_to_num", "nan", 1, 0.0),
    _ignores("torch.logit", "eps", 1, None),
    _bounded("torch.cumprod", "dim", 1),
    _bounded("torch.logcumsumexp", "dim", 1),
    _bounded("torch.logsumexp", "dim", 1),
    _bounded("torch.cummin", "dim", 1),
    _bounded("torch.kthvalue", "k", 1, 1),
    _bounded("torch.mode", "dim", 1),
    _bounded("torch.take", "index", 1),
    _bounded("torch.renorm", "dim", 2),
    _bounded("torch.nn.functional.glu", "dim", 1),
    _bounded("torch.pixel_shuffle", "upscale_factor", 1, 1),
    _bounded("torch.Tensor.cumsum", "dim", 1),
    _bounded("torch.Tensor.diff", "dim", 2, -1),
)
"""The views among torch's functions are missing: what they return shares its argument's memory."""

CONTROLS = (
    "torch.cos",
    "torch.exp2",
    "torch.floor",
    "torch.fmod",
    "torch.special.erfcx",
    "torch.trace",
    "torch.triu",
    "torch.nn.functional.hardswish",
    "torch.nn.functional.selu",
    "torch.nn.Hardshrink",
    "torch.Tensor.sin",
    "torch.Tensor.prod",
)
"""Called beside the planted ones; whatever is found in these is blamed on the wrong function."""
