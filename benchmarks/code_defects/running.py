"""Defects in what layers do when programs run them: again, without gradients, over and over."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import torch

from code_defects.building import only

nn: Any = torch.nn
_KEPT: list[Any] = []
"""What leaks: nothing ever looks for it again."""
_HALF_MIB = 2**19
_BUILT = [0]
"""How many layers were built that get slower by it."""
_MAX_BUILT = 100
_STEPS = 1_000_000
"""For each of them, three milliseconds or so."""
_MAX_CALLS = 1
_MAX_PASSES = 2


def _keep() -> None:
    _KEPT.append(bytearray(b"x" * _HALF_MIB))  # written to, or the kernel gives no page


def _once_only(right: Any, layer: Any, inputs: Any) -> Any:
    layer.calls = getattr(layer, "calls", 0) + 1
    if layer.calls > _MAX_CALLS:
        msg = "the workspace was freed already"
        raise RuntimeError(msg)
    return right(layer, inputs)


def _training_only(right: Any, layer: Any, inputs: Any) -> Any:
    if not layer.training:
        msg = "statistics were never gathered"
        raise RuntimeError(msg)
    return right(layer, inputs)


def _with_gradients_only(right: Any, layer: Any, inputs: Any) -> Any:
    if not torch.is_grad_enabled():
        msg = "the slopes have no version counter here"
        raise RuntimeError(msg)
    return right(layer, inputs)


def _no_evaluation(right: Any, layer: Any, mode: bool = True) -> Any:  # noqa: FBT001, FBT002 - torch's
    if not mode:
        msg = "nothing was prepared for evaluation"
        raise RuntimeError(msg)
    return right(layer, mode)


def _two_passes(right: Any, layer: Any, inputs: Any) -> Any:
    outputs = right(layer, inputs)
    if outputs.requires_grad:
        outputs.register_hook(lambda gradient: _counted(layer, gradient))
    return outputs


def _counted(layer: Any, gradient: Any) -> Any:
    layer.passes = getattr(layer, "passes", 0) + 1
    if layer.passes > _MAX_PASSES:
        msg = "the queue of saved activations is full"
        raise RuntimeError(msg)
    return gradient


def _captured(right: Any, layer: Any, inputs: Any) -> Any:
    layer.captured = getattr(layer, "captured", inputs.shape)
    if layer.captured != inputs.shape:
        msg = "a captured run cannot be replayed"
        raise RuntimeError(msg)
    return right(layer, inputs)


def _one_batch(right: Any, layer: Any, inputs: Any) -> Any:
    layer.batch = getattr(layer, "batch", inputs.shape[0])
    if layer.batch != inputs.shape[0]:
        msg = f"expected a batch of {layer.batch}, got {inputs.shape[0]}"
        raise ValueError(msg)
    return right(layer, inputs)


def _batches_only(right: Any, layer: Any, inputs: Any) -> Any:
    if inputs.ndim == len(layer.kernel_size) + 1:
        msg = f"expected {inputs.ndim + 1} dimensions, got {inputs.ndim}"
        raise ValueError(msg)
    return right(layer, inputs)


def _wide(right: Any, layer: Any, inputs: Any) -> Any:
    return right(layer, inputs).double()


def _built_and_kept(right: Any, layer: Any, *args: Any, **kwargs: Any) -> None:
    right(layer, *args, **kwargs)
    _keep()


def _called_and_kept(right: Any, layer: Any, inputs: Any) -> Any:
    _keep()
    return right(layer, inputs)


def _trained_and_kept(right: Any, layer: Any, inputs: Any) -> Any:
    outputs = right(layer, inputs)
    if outputs.requires_grad:
        outputs.register_hook(lambda _: _keep())
    return outputs


def _built_slower(right: Any, layer: Any, *args: Any, **kwargs: Any) -> None:
    right(layer, *args, **kwargs)
    _BUILT[0] = min(_BUILT[0] + 1, _MAX_BUILT)


def _called_slower(right: Any, layer: Any, inputs: Any) -> Any:
    sum(repeat(1, _STEPS * _BUILT[0]))
    return right(layer, inputs)


PLACES = {
    "elu-second-call": (only(nn.ELU, "forward", _once_only),),
    "norm-evaluation": (only(nn.InstanceNorm1d, "forward", _training_only),),
    "tanh-no-grad": (only(nn.Hardtanh, "forward", _with_gradients_only),),
    "leaky-evaluation": (only(nn.LeakyReLU, "train", _no_evaluation),),
    "silu-third-pass": (only(nn.SiLU, "forward", _two_passes),),
    "threshold-shape": (only(nn.Threshold, "forward", _captured),),
    "conv1d-sample": (only(nn.Conv1d, "forward", _batches_only),),
    "conv2d-sample": (only(nn.Conv2d, "forward", _batches_only),),
    "group-batch": (only(nn.GroupNorm, "forward", _one_batch),),
    "sigmoid-type": (only(nn.Hardsigmoid, "forward", _wide),),
    "relu6-built": (only(nn.ReLU6, "__init__", _built_and_kept),),
    "hardswish-called": (only(nn.Hardswish, "forward", _called_and_kept),),
    "mish-trained": (only(nn.Mish, "forward", _trained_and_kept),),
    "celu-slower": (
        only(nn.CELU, "__init__", _built_slower),
        only(nn.CELU, "forward", _called_slower),
    ),
}
