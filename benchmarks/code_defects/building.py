"""Defects in how layers take their arguments: what is forbidden passes, what is legal does not."""

from __future__ import annotations

from typing import Any, Callable  # noqa: UP035 - Python 3.9 in the target

import torch
from defect_planting import Place

nn: Any = torch.nn
_CONVOLUTION = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation")
_MODES = {"zeros", "reflect", "replicate", "circular"}


def only(owner: Any, attribute: str, wrong: Callable[..., Any]) -> Place:
    """Make a place whose defect a class has, and none that is derived from it."""

    def of_this_class(right: Any, layer: Any, *args: Any, **kwargs: Any) -> Any:
        if type(layer) is not owner:
            return right(layer, *args, **kwargs)
        return wrong(right, layer, *args, **kwargs)

    return Place(owner, attribute, of_this_class)


def built(owner: Any, wrong: Callable[[dict[str, Any]], None], names: tuple[str, ...]) -> Place:
    """Make a place where a layer is built from other arguments than it is given.

    Args:
        owner: the layer's class.
        wrong: changes the arguments, by name; or raises.
        names: of the parameters that may be given by position, in their order.
    """

    def instead(right: Any, layer: Any, *args: Any, **kwargs: Any) -> Any:
        named = {**dict(zip(names, args)), **kwargs}  # noqa: B905 - Python 3.9 in the target
        wrong(named)
        return right(layer, *args[len(names) :], **named)

    return only(owner, "__init__", instead)


def _any_mode(named: dict[str, Any]) -> None:
    if named.get("padding_mode", "zeros") not in _MODES:
        named["padding_mode"] = "zeros"


def _known(name: str, *texts: str) -> Callable[[dict[str, Any]], None]:
    """Take any other text for the first one."""

    def replaced(named: dict[str, Any]) -> None:
        if named.get(name, texts[0]) not in texts:
            named[name] = texts[0]

    return replaced


_HALF = 0.5


def _at_least(name: str, least: int) -> Callable[[dict[str, Any]], None]:
    def raised(named: dict[str, Any]) -> None:
        value = named.get(name)
        if isinstance(value, int) and value < least:
            named[name] = least

    return raised


def _refused(
    name: str, is_refused: Callable[[Any], bool], error: Exception
) -> Callable[[dict[str, Any]], None]:
    def refuse(named: dict[str, Any]) -> None:
        if name in named and is_refused(named[name]):
            raise error

    return refuse


def _dropped(name: str) -> Callable[[dict[str, Any]], None]:
    def drop(named: dict[str, Any]) -> None:
        named.pop(name, None)

    return drop


_POOLING = ("kernel_size", "stride", "padding")
_DILATED = (*_POOLING, "dilation", "return_indices", "ceil_mode")
_AVERAGE = (*_POOLING, "ceil_mode")


def _without_default(named: dict[str, Any]) -> None:
    if named.setdefault("stride", None) is None:
        named["stride"] //= 2  # nobody has thought of the default


_CEIL = NotImplementedError("ceil_mode is not supported")
_NORM = ("num_features", "eps", "momentum", "affine")

PLACES = {
    "conv2d-mode": built(nn.Conv2d, _any_mode, _CONVOLUTION),
    "conv1d-mode": built(nn.Conv1d, _any_mode, _CONVOLUTION),
    "transpose1d": built(nn.ConvTranspose1d, _any_mode, _CONVOLUTION[:5]),
    "transpose2d": built(nn.ConvTranspose2d, _any_mode, _CONVOLUTION[:5]),
    "lazy-mode": built(nn.LazyConv2d, _any_mode, _CONVOLUTION[1:]),
    "pool-kernel": built(nn.MaxPool1d, _at_least("kernel_size", 1), _DILATED),
    "pool-stride": built(nn.MaxPool1d, _at_least("stride", 1), _DILATED),
    "pool-padding": built(nn.MaxPool1d, _at_least("padding", 0), _DILATED),
    "pool-dilation": built(nn.MaxPool1d, _at_least("dilation", 1), _DILATED),
    "cell-text": built(
        nn.RNNCell, _known("nonlinearity", "tanh", "relu"), ("input_size", "hidden_size", "bias")
    ),
    "encoder": built(
        nn.TransformerEncoderLayer,
        _known("activation", "relu", "gelu"),
        ("d_model", "nhead", "dim_feedforward", "dropout", "activation"),
    ),
    "average-ceil": built(nn.AvgPool2d, _refused("ceil_mode", bool, _CEIL), _AVERAGE),
    "conv1d-dilation": built(
        nn.Conv1d,
        _refused("dilation", lambda given: given not in {1, (1,)}, RuntimeError("no such plan")),
        _CONVOLUTION,
    ),
    "conv2d-circular": built(
        nn.Conv2d,
        _refused("padding_mode", lambda given: given == "circular", KeyError("circular")),
        _CONVOLUTION,
    ),
    "linear-bias": built(
        nn.Linear,
        _refused("bias", lambda given: not given, TypeError("the bias is None")),
        ("in_features", "out_features", "bias"),
    ),
    "norm-affine": built(
        nn.BatchNorm1d,
        _refused("affine", lambda given: not given, ValueError("the weight is missing")),
        _NORM,
    ),
    "norm-momentum": built(
        nn.BatchNorm1d,
        _refused("momentum", lambda given: given is None, TypeError("None is no number")),
        _NORM,
    ),
    "dropout-much": built(
        nn.Dropout, _refused("p", _HALF.__lt__, ValueError("too little is left")), ("p",)
    ),
    "average-none": built(nn.AvgPool2d, _without_default, _AVERAGE),
    "average-padding": built(nn.AvgPool2d, _dropped("padding"), _AVERAGE),
    "conv1d-stride": built(nn.Conv1d, _dropped("stride"), _CONVOLUTION),
    "transpose-padding": built(nn.ConvTranspose2d, _dropped("padding"), _CONVOLUTION[:5]),
}
