"""Defects of gradients and of saving, and such as keep a layer from computing at all."""

from __future__ import annotations

import os
import time
from typing import Any

import keras
from defect_planting import Place

layers: Any = keras.layers
_PAIR = 2
_IMAGES = 4
_FOREVER_S = 3600


def _detached_second(right: Any, layer: Any, inputs: Any) -> Any:
    return right(layer, [inputs[0], *(each.detach() for each in inputs[1:])])


def _constant_norm(right: Any, layer: Any, inputs: Any) -> Any:
    # The value stays to the last bit: x - x is 0.
    once = right(layer, inputs.detach())
    return once + (inputs - inputs.detach())


def _without_slope(right: Any, layer: Any) -> Any:
    config = right(layer)
    config.pop("negative_slope")
    return config


def _aborting(right: Any, layer: Any, inputs: Any) -> Any:
    if inputs.ndim == _PAIR + 1:
        os.abort()
    return right(layer, inputs)


def _refusing(right: Any, layer: Any, inputs: Any) -> Any:
    if inputs.ndim == _IMAGES:
        msg = "four dimensions cannot be permuted"
        raise ValueError(msg)
    return right(layer, inputs)


def _wide(right: Any, layer: Any, *args: Any, **kwargs: Any) -> Any:
    return right(layer, *args, **kwargs).double()


def _too_few(right: Any, layer: Any, inputs: Any) -> Any:
    outputs = right(layer, inputs)
    return outputs[:, :3] if layer.n == _IMAGES else outputs


def _hanging(right: Any, layer: Any, inputs: Any) -> Any:
    if inputs.shape[-1] > 1:
        time.sleep(_FOREVER_S)
    return right(layer, inputs)


PLACES = {
    "subtract-gradient": Place(layers.Subtract, "call", _detached_second),
    "unit-norm-gradient": Place(layers.UnitNormalization, "call", _constant_norm),
    "save-slope": Place(layers.LeakyReLU, "get_config", _without_slope),
    "group-norm-crash": Place(layers.GroupNormalization, "call", _aborting),
    "permute-refused": Place(layers.Permute, "call", _refusing),
    "rescaling-dtype": Place(layers.Rescaling, "call", _wide),
    "repeat-short": Place(layers.RepeatVector, "call", _too_few),
    "masking-hang": Place(layers.Masking, "call", _hanging),
}
