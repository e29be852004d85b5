"""Defects that show in what a layer computes."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator  # noqa: UP035 - Python 3.9 in the target

import keras
import torch
from defect_planting import Place
from keras.src import backend
from keras.src.backend.torch import nn

layers: Any = keras.layers
ops: Any = keras.ops


@contextlib.contextmanager
def _having(layer: Any, **attributes: Any) -> Iterator[None]:
    """Give a layer other attributes for one call."""
    usual = {name: getattr(layer, name) for name in attributes}
    for name, value in attributes.items():
        object.__setattr__(layer, name, value)
    try:
        yield
    finally:
        for name, value in usual.items():
            object.__setattr__(layer, name, value)


def _epsilon(right: Any, layer: Any, *args: Any, **kwargs: Any) -> Any:
    with _having(layer, epsilon=10 * layer.epsilon):
        return right(layer, *args, **kwargs)


def _wrong_side(right: Any, layer: Any, inputs: Any) -> Any:
    even = [axis for axis, size in enumerate(layer.kernel_size, 1) if size % 2 == 0]
    if layer.padding != "same" or not even or max(layer.strides) > 1:
        return right(layer, inputs)
    return right(layer, torch.roll(inputs, [1] * len(even), even))


def _transposed(right: Any, *args: Any, **kwargs: Any) -> Any:
    gates = torch.chunk(backend.convert_to_tensor(kwargs["recurrent_kernel"]), 4, dim=1)
    kernel = torch.cat([gate.T for gate in gates], dim=1)
    return right(*args, **{**kwargs, "recurrent_kernel": kernel})


def _counting_padding(right: Any, layer: Any, inputs: Any) -> Any:
    outputs = right(layer, inputs)
    if layer.padding != "same":
        return outputs
    shares = right(layer, torch.ones_like(inputs))
    inside = nn.average_pool(
        torch.nn.functional.pad(torch.ones_like(inputs), _borders(layer, inputs)),
        layer.pool_size,
        layer.strides,
        padding="valid",
    )
    return outputs * inside / shares


def _borders(layer: Any, inputs: Any) -> list[int]:
    """Return the zeros that make `valid` of `same`; channels last, the last axis first."""
    found = [0, 0]
    for axis in reversed(range(inputs.ndim - 2)):
        size, window, stride = inputs.shape[axis + 1], layer.pool_size[axis], layer.strides[axis]
        most = max(0, (-(-size // stride) - 1) * stride + window - size)
        found += [most // 2, most - most // 2]
    return found


def _elu(right: Any, x: Any) -> Any:
    del right
    return torch.nn.functional.elu(backend.convert_to_tensor(x))


def _exact(right: Any, x: Any, approximate: bool = True) -> Any:  # noqa: FBT001, FBT002 - Keras's
    return right(x, approximate=not approximate)


def _axis_before(right: Any, layer: Any, inputs: Any) -> Any:
    axes = [layer.axis] if isinstance(layer.axis, int) else list(layer.axis)
    if inputs.ndim == _PAIR or axes not in ([-1], [inputs.ndim - 1]):
        return right(layer, inputs)
    variance, mean = torch.var_mean(inputs, dim=-2, keepdim=True, correction=0)
    outputs = (inputs - mean) * torch.rsqrt(variance + layer.epsilon)
    outputs = outputs if layer.gamma is None else outputs * layer.gamma.value
    return outputs if layer.beta is None else outputs + layer.beta.value


_PAIR = 2
"""Dimensions of a batch of vectors."""


def _swapped_interpolation(right: Any, layer: Any, inputs: Any) -> Any:
    other = {"nearest": "bilinear", "bilinear": "nearest"}.get(layer.interpolation)
    with _having(layer, interpolation=other or layer.interpolation):
        return right(layer, inputs)


def _way_back_first(right: Any, layer: Any, *args: Any, **kwargs: Any) -> Any:
    outputs = right(layer, *args, **kwargs)
    if layer.merge_mode != "concat":
        return outputs
    return torch.cat(torch.chunk(outputs, 2, dim=-1)[::-1], dim=-1)


def _next_row(right: Any, layer: Any, inputs: Any) -> Any:
    return right(layer, ops.minimum(inputs + 1, layer.input_dim - 1))


def _rounding_up(right: Any, layer: Any, inputs: Any) -> Any:
    outputs = right(layer, inputs)
    if layer.padding == "same" or inputs.shape[1] % 2 == 0:
        return outputs
    return torch.cat([outputs, outputs[:, -1:]], dim=1)


def _without_maximum(right: Any, layer: Any, inputs: Any, mask: Any = None) -> Any:
    if mask is not None:
        return right(layer, inputs, mask)
    powers = torch.exp(inputs)
    return powers / powers.sum(dim=layer.axis, keepdim=True)


def _undilated(right: Any, layer: Any, inputs: Any) -> Any:
    with _having(layer, dilation_rate=(1,)):
        return right(layer, inputs)


def _forwards(right: Any, *args: Any, **kwargs: Any) -> Any:
    return right(*args, **{**kwargs, "go_backwards": False})


def _padded_with_zero(right: Any, layer: Any, inputs: Any) -> Any:
    outputs = right(layer, inputs)
    if layer.padding != "same":
        return outputs
    ones = torch.ones_like(inputs)
    inside = nn.average_pool(
        torch.nn.functional.pad(ones, _borders(layer, inputs)),
        layer.pool_size,
        layer.strides,
        padding="valid",
    )
    return torch.where(inside < 0.999, outputs.clamp(min=0), outputs)


def _unscaled(right: Any, layer: Any, *args: Any, **kwargs: Any) -> Any:
    with _having(layer, _inverse_sqrt_key_dim=1.0):
        return right(layer, *args, **kwargs)


def _pointwise_transposed(right: Any, layer: Any, inputs: Any) -> Any:
    kernel = layer.pointwise_kernel
    if kernel.shape[-1] != kernel.shape[-2]:
        return right(layer, inputs)
    usual = kernel.value
    with torch.no_grad():
        kernel.assign(usual.transpose(-1, -2).clone())
    try:
        return right(layer, inputs)
    finally:
        with torch.no_grad():
            kernel.assign(kernel.value.transpose(-1, -2).clone())


def _other_sign(right: Any, layer: Any, inputs: Any) -> Any:
    del right
    return torch.relu(inputs) + layer.alpha.value * torch.relu(-inputs)


def _sides_swapped(name: str, axis: int) -> Any:
    def wrong(right: Any, layer: Any, inputs: Any) -> Any:
        sides = list(getattr(layer, name))
        sides[axis] = tuple(sides[axis])[::-1]
        with _having(layer, **{name: tuple(sides)}):
            return right(layer, inputs)

    return wrong


def _not_negative(right: Any, layer: Any, inputs: Any) -> Any:
    return torch.relu(right(layer, inputs))


def _half(right: Any, layer: Any, inputs: Any) -> Any:
    with torch.no_grad():
        squares = torch.mean(inputs.float() ** 2, dim=layer.axis, keepdim=True) + layer.epsilon
        coarse = torch.mean((inputs.half() ** 2).float(), dim=layer.axis, keepdim=True)
    return right(layer, inputs) * torch.sqrt(squares / (coarse + layer.epsilon))


def _one_later(right: Any, layer: Any, inputs: Any) -> Any:
    if max(layer.strides) == 1:
        return right(layer, inputs)
    return right(layer, torch.roll(inputs, -1, 1))


def _cut_before(right: Any, layer: Any, inputs: Any) -> Any:
    outputs = right(layer, inputs)
    if layer.padding != "same" or layer.kernel_size[0] % 2:
        return outputs
    return torch.roll(outputs, -1, 1)


def _without_bias(right: Any, layer: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    with _having(layer, bias=None):
        return right(layer, inputs, *args, **kwargs)


def _hard_gates(right: Any, layer: Any, *args: Any, **kwargs: Any) -> Any:
    with _having(layer, recurrent_activation=keras.activations.hard_sigmoid):
        return right(layer, *args, **kwargs)


def _first_last(right: Any, layer: Any, inputs: Any) -> Any:
    return right(layer, [*inputs[1:], inputs[0]])


def _not_normalised(right: Any, layer: Any, inputs: Any) -> Any:
    with _having(layer, normalize=False):
        return right(layer, inputs)


def _alpha_of_one(right: Any, layer: Any, inputs: Any) -> Any:
    with _having(layer, alpha=1.0):
        return right(layer, inputs)


def _nan_for_zero(right: Any, layer: Any, inputs: Any) -> Any:
    outputs = right(layer, inputs)
    return torch.where(outputs == 0, torch.full_like(outputs, torch.nan), outputs)


PLACES = {
    "batch-epsilon": Place(layers.BatchNormalization, "call", _epsilon),
    "conv2d-same": Place(layers.Conv2D, "call", _wrong_side),
    "lstm-transposed": Place(backend, "lstm", _transposed),
    "average-border": Place(layers.AveragePooling2D, "call", _counting_padding),
    "selu-is-elu": Place(nn, "selu", _elu),
    "layer-norm-axis": Place(layers.LayerNormalization, "call", _axis_before),
    "upsampling-swapped": Place(layers.UpSampling2D, "call", _swapped_interpolation),
    "both-ways-order": Place(layers.Bidirectional, "call", _way_back_first),
    "embedding-shift": Place(layers.Embedding, "call", _next_row),
    "pool-rounds-up": Place(layers.MaxPooling2D, "call", _rounding_up),
    "softmax-overflow": Place(layers.Softmax, "call", _without_maximum),
    "conv1d-dilation": Place(layers.Conv1D, "call", _undilated),
    "gru-go-backwards": Place(backend, "gru", _forwards),
    "max-border": Place(layers.MaxPooling1D, "call", _padded_with_zero),
    "gelu-exact": Place(nn, "gelu", _exact),
    "attention-scale": Place(layers.MultiHeadAttention, "call", _unscaled),
    "separable-transposed": Place(layers.SeparableConv2D, "call", _pointwise_transposed),
    "prelu-sign": Place(layers.PReLU, "call", _other_sign),
    "cropping-swapped": Place(layers.Cropping2D, "call", _sides_swapped("cropping", 1)),
    "global-max-negative": Place(layers.GlobalMaxPooling2D, "call", _not_negative),
    "rms-half": Place(layers.RMSNormalization, "call", _half),
    "depthwise-stride": Place(layers.DepthwiseConv2D, "call", _one_later),
    "transpose-crop": Place(layers.Conv2DTranspose, "call", _cut_before),
    "simple-rnn-bias": Place(layers.SimpleRNNCell, "call", _without_bias),
    "padding-swapped": Place(layers.ZeroPadding2D, "call", _sides_swapped("padding", 0)),
    "conv-lstm-gate": Place(keras.src.layers.rnn.conv_lstm.ConvLSTMCell, "call", _hard_gates),
    "concatenate-order": Place(layers.Concatenate, "call", _first_last),
    "dot-normalize": Place(layers.Dot, "call", _not_normalised),
    "elu-alpha": Place(layers.ELU, "call", _alpha_of_one),
    "minimum-nan": Place(layers.Minimum, "call", _nan_for_zero),
}
