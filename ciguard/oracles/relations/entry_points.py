"""Relations of entry points: a function agrees with its method, layer, `out` and in-place form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import CallValue, TensorValue, Value
from ciguard.execution import TensorDigest, TensorOutput
from ciguard.oracles.comparing.comparison import Difference, compare_outputs
from ciguard.oracles.relations.contract import ObservedPair, Relation, relate
from ciguard.oracles.relations.expressions import apply, expression, first_tensors, has_keyword
from ciguard.oracles.relations.strided_memory import with_stride_two

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.records import ApiRecord

_FUNCTION = re.compile(r"torch\.(\w+)")
_FUNCTIONAL = "torch.nn.functional."


def _method_name(api: str) -> str:
    match = _FUNCTION.fullmatch(api)
    return f"torch.Tensor.{match[1]}" if match else ""


def _has_method(record: ApiRecord, names: Collection[str]) -> bool:
    return _method_name(record.api) in names


def _method_twin(case: ApiCall) -> Value | None:
    """Return the call of the tensor's method with the name of the function."""
    method = _method_name(case.api)
    if not method or not first_tensors(case) or has_keyword(case, "out"):
        return None
    return CallValue(method, case.arguments, case.keywords)


METHOD = relate(
    Relation(
        name="function and method",
        law="A function of torch gives the same result as the tensor method of the same name.",
        source="torch.Tensor: “See torch.…” of each method",
        applies=_has_method,
        twin=_method_twin,
        holds_for_special_elements=True,
    )
)


def _in_place_name(api: str) -> str:
    name = api if api.startswith("torch.Tensor.") else _method_name(api)
    return f"{name}_" if name else ""


def _has_in_place(record: ApiRecord, names: Collection[str]) -> bool:
    return _in_place_name(record.api) in names


def _in_place_twin(case: ApiCall) -> Value | None:
    """Return the call of the in-place variant."""
    function = _in_place_name(case.api)
    if not function or not first_tensors(case) or has_keyword(case, "out"):
        return None
    return CallValue(function, case.arguments, case.keywords)


def _compare_unless_cast(observed: ObservedPair) -> Difference | None:
    """Return how the results differ; None if they agree or differ in type or shape.

    In place, a tensor keeps its own type and shape.
    """
    match observed.first, observed.twin:
        case (TensorOutput() | TensorDigest()) as first, (TensorOutput() | TensorDigest()) as twin:
            if (first.dtype, first.shape) != (twin.dtype, twin.shape):
                return None
            return compare_outputs(first, twin, observed.inputs)
        case _:
            return None


IN_PLACE = relate(
    Relation(
        name="in place",
        law="A function gives the same result as its in-place variant.",
        source="torch.Tensor: “In-place version of …” of each method with an underscore",
        applies=_has_in_place,
        twin=_in_place_twin,
        holds_for_special_elements=True,
        find_violation=_compare_unless_cast,
    )
)


def _has_out_parameter(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    is_function = record.kind is CallKind.FUNCTION and record.api.startswith("torch.")
    return is_function and any(parameter.name == "out" for parameter in record.parameters)


def _out_twin(case: ApiCall) -> Value | None:
    """Return the call that writes its result into a new tensor by `out`."""
    if has_keyword(case, "out"):
        return None
    keywords = tuple((key, value) for key, value in case.keywords if key != "out")
    destination = CallValue("torch.empty_like", (expression(case),))
    return CallValue(case.api, case.arguments, (*keywords, ("out", destination)))


OUT = relate(
    Relation(
        name="into out",
        law="A call returns what it writes into `out`.",
        source="PyTorch: “out (Tensor, optional): the output tensor” of each function",
        applies=_has_out_parameter,
        twin=_out_twin,
        holds_for_special_elements=True,
    )
)


def _strided_out_twin(case: ApiCall) -> Value | None:
    """Return the call that writes its result into every second element of a tensor."""
    if has_keyword(case, "out"):
        return None
    keywords = tuple((key, value) for key, value in case.keywords if key != "out")
    empty = CallValue("torch.empty_like", (expression(case),))
    return CallValue(case.api, case.arguments, (*keywords, ("out", with_stride_two(empty))))


STRIDED_OUT = relate(
    Relation(
        name="into strided out",
        law="A call writes the same result into `out` if this tensor is not contiguous.",
        source="torch.Tensor.stride: strides are a matter of storage, not of values",
        applies=_has_out_parameter,
        twin=_strided_out_twin,
        holds_for_special_elements=True,
    )
)


_LAYERS = {
    "relu": "ReLU",
    "relu6": "ReLU6",
    "leaky_relu": "LeakyReLU",
    "elu": "ELU",
    "selu": "SELU",
    "celu": "CELU",
    "gelu": "GELU",
    "silu": "SiLU",
    "mish": "Mish",
    "hardtanh": "Hardtanh",
    "hardswish": "Hardswish",
    "hardsigmoid": "Hardsigmoid",
    "hardshrink": "Hardshrink",
    "softshrink": "Softshrink",
    "tanhshrink": "Tanhshrink",
    "softplus": "Softplus",
    "softsign": "Softsign",
    "logsigmoid": "LogSigmoid",
    "glu": "GLU",
    "threshold": "Threshold",
    "avg_pool1d": "AvgPool1d",
    "avg_pool2d": "AvgPool2d",
    "avg_pool3d": "AvgPool3d",
    "max_pool1d": "MaxPool1d",
    "max_pool2d": "MaxPool2d",
    "max_pool3d": "MaxPool3d",
    "lp_pool1d": "LPPool1d",
    "lp_pool2d": "LPPool2d",
    "adaptive_avg_pool1d": "AdaptiveAvgPool1d",
    "adaptive_avg_pool2d": "AdaptiveAvgPool2d",
    "adaptive_avg_pool3d": "AdaptiveAvgPool3d",
    "adaptive_max_pool1d": "AdaptiveMaxPool1d",
    "adaptive_max_pool2d": "AdaptiveMaxPool2d",
    "pixel_shuffle": "PixelShuffle",
    "pixel_unshuffle": "PixelUnshuffle",
    "channel_shuffle": "ChannelShuffle",
    "mse_loss": "MSELoss",
    "l1_loss": "L1Loss",
    "smooth_l1_loss": "SmoothL1Loss",
    "huber_loss": "HuberLoss",
    "kl_div": "KLDivLoss",
    "soft_margin_loss": "SoftMarginLoss",
    "binary_cross_entropy": "BCELoss",
    "cosine_similarity": "CosineSimilarity",
    "pairwise_distance": "PairwiseDistance",
    "unfold": "Unfold",
    "fold": "Fold",
}
"""Layers without weights in torch.nn, by the equivalent function in torch.nn.functional."""


def _has_layer(record: ApiRecord, names: Collection[str]) -> bool:
    layer = _LAYERS.get(record.api.removeprefix(_FUNCTIONAL), "")
    return f"torch.nn.{layer}" in names


def _layer_twin(case: ApiCall) -> Value | None:
    """Return the call of the layer that is equivalent to the function."""
    tensors = first_tensors(case)
    settings = case.arguments[len(tensors) :]
    keywords = tuple((key, value) for key, value in case.keywords if key != "inplace")
    name = _LAYERS.get(case.api.removeprefix(_FUNCTIONAL))
    if name is None or not tensors or any(isinstance(v, TensorValue) for _, v in keywords):
        return None
    return apply(CallValue(f"torch.nn.{name}", settings, keywords), *tensors)


LAYER = relate(
    Relation(
        name="function and layer",
        law="A function of torch.nn.functional has the same result as the layer of the same name.",
        source="torch.nn.functional: “See … for details” of each function",
        applies=_has_layer,
        twin=_layer_twin,
        holds_for_special_elements=True,
    )
)
