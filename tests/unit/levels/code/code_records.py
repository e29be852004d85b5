"""Records of a small library, as a worker returns them, and calls of it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from ciguard.domain.records import record_from_json
from ciguard.levels.code.blocks import Block, LibraryCall
from ciguard.levels.code.knowledge import Apis

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord

SIZE = "int or tuple"


def required(name: str, annotation: str, doc: str = "") -> dict[str, Any]:
    return {"name": name, "annotation": annotation, "doc": doc}


def optional(name: str, annotation: str, default: str, doc: str = "") -> dict[str, Any]:
    return {**required(name, annotation, doc), "required": False, "default": default}


def layer(
    api: str, doc: str, *parameters: dict[str, Any], undeclared: tuple[str, ...] = (), **fields: Any
) -> ApiRecord:
    inputs = [{"name": "input", "annotation": "Tensor"}]
    encoded = {"api": api, "kind": "layer", "source": "signature", "inputs": inputs, "doc": doc}
    encoded |= {"parameters": parameters, "strangers": undeclared}
    return record_from_json({**encoded, **fields})


def function(api: str, doc: str, *parameters: dict[str, Any], **fields: Any) -> ApiRecord:
    encoded = {"api": api, "kind": "function", "source": "signature", "doc": doc}
    return record_from_json({**encoded, "parameters": parameters, **fields})


def _convolution(api: str, doc: str) -> ApiRecord:
    return layer(
        api,
        doc,
        required("in_channels", "int", "Number of channels in the input image"),
        required("out_channels", "int", "Number of channels produced by the convolution"),
        required("kernel_size", "Union[int, tuple[int, int]]"),
        optional("stride", "Union[int, tuple[int, int]]", "1"),
        optional("padding", "Union[str, int, tuple[int, int]]", "0"),
        optional("groups", "int", "1"),
        optional("bias", "bool", "True"),
        optional("padding_mode", "Literal['zeros', 'reflect', 'circular']", "'zeros'"),
    )


CONV2D = _convolution("torch.nn.Conv2d", "Applies a 2D convolution over an input signal.")
TRANSPOSED = _convolution(
    "torch.nn.ConvTranspose2d", "Applies a 2D transposed convolution over an input signal."
)
CONV1D = _convolution("torch.nn.Conv1d", "Applies a 1D convolution over an input signal.")
MAX_POOL = layer(
    "torch.nn.MaxPool2d",
    "Applies a 2D max pooling over an input signal.",
    required(
        "kernel_size",
        "Union[int, tuple[int, ...]]",
        "The size of the sliding window, must be > 0.",
    ),
    optional("stride", "Union[int, tuple[int, ...]]", "None"),
    optional("padding", "Union[int, tuple[int, ...]]", "0"),
    optional("return_indices", "bool", "False"),
    optional("ceil_mode", "bool", "False"),
)
AVERAGE_POOL = layer(
    "torch.nn.AvgPool2d",
    "Applies a 2D average pooling over an input signal.",
    required("kernel_size", "Union[int, tuple[int, int]]"),
    optional("stride", "Union[int, tuple[int, int]]", "None"),
    optional("padding", "Union[int, tuple[int, int]]", "0"),
    optional("ceil_mode", "bool", "False"),
)
RELU = layer(
    "torch.nn.ReLU",
    "Applies the rectified linear unit function element-wise.",
    optional("inplace", "bool", "False"),
)
ELU = layer(
    "torch.nn.ELU",
    "Applies the exponential linear unit function element-wise.",
    optional("alpha", "float", "1.0"),
    optional("inplace", "bool", "False"),
)
SLOPED = layer(
    "torch.nn.LeakyReLU",
    "Applies the leaky rectified linear unit function element-wise.",
    optional("negative_slope", "float", "0.01", "Float >= 0.0. Slope of the negative half."),
    optional("inplace", "bool", "False"),
)
DROPOUT = layer(
    "torch.nn.Dropout",
    "Randomly sets elements to zero.",
    optional("p", "float", "0.5", "Float between 0 and 1."),
    optional("inplace", "bool", "False"),
)
WRAPPER = layer(
    "torch.nn.Wrapping",
    "Applies the rectified linear unit function element-wise, to what another layer makes.",
    {"name": "wrapped"},
)
BASE = layer("torch.nn.Module", "Applies the rectified linear unit function element-wise.")
MODULE_LOSS = layer(
    "torch.nn.BCELoss",
    "Applies the binary cross entropy element-wise.",
    inputs=[{"name": "input"}, {"name": "target"}],
)
NORM = layer(
    "torch.nn.BatchNorm",
    "Applies batch normalization.",
    required("num_features", "int"),
    optional("eps", "float", "1e-05"),
    optional("affine", "bool", "True"),
    aliases=["torch.nn.BatchNorm1d", "torch.nn.BatchNorm2d"],
)
INSTANCE_NORM = layer(
    "torch.nn.InstanceNorm",
    "Applies instance normalization.",
    required("num_features", "int"),
    optional("eps", "float", "1e-05"),
    optional("affine", "bool", "True"),
    aliases=["torch.nn.InstanceNorm1d", "torch.nn.InstanceNorm2d"],
)
RECURRENT = [
    layer(
        f"torch.nn.{name}",
        f"Applies a multi-layer {name} RNN to an input sequence.",
        {"name": "args", "kind": "var_positional", "required": False},
        {"name": "kwargs", "kind": "var_keyword", "required": False},
        undeclared=("input_size", "hidden_size"),
    )
    for name in ("LSTM", "GRU")
]
F_RELU = function(
    "torch.nn.functional.relu",
    "Applies the rectified linear unit function element-wise.",
    required("input", "Tensor"),
    optional("inplace", "bool", "False"),
)
F_ELU = function(
    "torch.nn.functional.elu",
    "Applies the exponential linear unit function element-wise.",
    required("x", "Tensor"),
    optional("alpha", "float", "1.0"),
    optional("inplace", "bool", "False"),
)
F_RELU_IN_PLACE = function(
    "torch.nn.functional.relu_",
    "Applies the rectified linear unit function element-wise.",
    required("input", "Tensor"),
)
F_LINEAR = function(
    "torch.nn.functional.linear",
    "Applies the linear unit function element-wise.",
    required("input", "Tensor"),
    required("weight", "Tensor"),
)
DENSE = layer(
    "tensorflow.keras.layers.Dense",
    "Just your regular densely-connected NN layer.",
    {"name": "units", "doc": "Positive integer, dimensionality of the output space."},
    {"name": "activation", "required": False, "default": "None"},
    optional("use_bias", "bool", "True"),
    {"name": "kwargs", "kind": "var_keyword", "required": False},
)
KERAS_RELU = function("tensorflow.keras.activations.relu", "The unit.", required("x", "Tensor"))
KERAS_GLU = function("tensorflow.keras.activations.glu", "The gate.", required("x", "Tensor"))
KERAS_GET = function("tensorflow.keras.activations.get", "Finds one.", {"name": "identifier"})

RECORDS = (
    CONV2D, TRANSPOSED, CONV1D, MAX_POOL, AVERAGE_POOL, RELU, ELU, SLOPED, DROPOUT, WRAPPER, BASE,
    MODULE_LOSS, NORM, INSTANCE_NORM, *RECURRENT, F_RELU, F_ELU, F_RELU_IN_PLACE, F_LINEAR, DENSE,
    KERAS_RELU, KERAS_GLU, KERAS_GET,
)  # fmt: skip


_APIS = Apis(RECORDS)


def apis() -> Apis:
    return _APIS


def rng_of(seed: int) -> random.Random:
    return random.Random(seed)


def layer_call(api: str, *positional: str, **keywords: str) -> LibraryCall:
    """Return a call that makes a layer."""
    return LibraryCall(
        api=api, positional=positional, keywords=tuple(keywords.items()), makes_layer=True
    )


def function_call(api: str, *positional: str, **keywords: str) -> LibraryCall:
    """Return the call of a function."""
    return LibraryCall(api=api, positional=positional, keywords=tuple(keywords.items()))


def block_of(*calls: LibraryCall) -> Block:
    return Block(name="conv1", calls=calls)


CALLS = (
    layer_call("torch.nn.Conv2d", "3", "16", "5", padding="2"),
    layer_call("torch.nn.Conv2d", "16", "16", kernel_size="3", groups="16"),
    layer_call("torch.nn.MaxPool2d", "2"),
    layer_call("torch.nn.MaxPool2d", "(2, 2)"),
    layer_call("torch.nn.ReLU", inplace="True"),
    layer_call("torch.nn.LeakyReLU", "0.1"),
    layer_call("torch.nn.Dropout", "0.5"),
    layer_call("torch.nn.BatchNorm2d", "16"),
    layer_call("tensorflow.keras.layers.Dense", "10", activation='"relu"', name='"fc"'),
    function_call("torch.nn.functional.relu", "x"),
)
