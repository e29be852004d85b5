"""Inputs of a constructed layer, derived from its name and its constructor's parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ParameterKind
from ciguard.knowledge.api import Parameter
from ciguard.knowledge.family_rules import RECURRENT_SIZES
from ciguard.values import Between, Constraint, Dim, SizeOf, Tensor

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord

_DIMENSIONS = re.compile(r"([123])[dD]")
_CHANNELS_LAST = ("keras.", "tf.")
_CHANNEL_SIZES = ("in_channels", "num_features", "num_channels")
_FEATURE_SIZES = ("in_features", "input_size", "embed_dim", "d_model", "normalized_shape")
_INTEGER_TARGET = re.compile(r"NLLLoss|CrossEntropyLoss|MultiMarginLoss")
_INTEGER_NAMES = ("indices", "index", "input_lengths", "target_lengths")
_INTEGER_INPUT = re.compile(r"Embedding(?:Bag)?$")
_RECURRENT = ("RNN", "LSTM", "GRU")
_SPATIAL = Between(4, 8)
_ANY_SHAPE = ("(*)",)
"""Documented shapes of an input of any shape."""
_ANY_RANKS = (0, 5)
_FLOATS = ("float32",)


def inputs(record: ApiRecord) -> tuple[Parameter, ...]:
    """Return the parameters for calling the constructed layer; empty if the API is not a layer.

    Their names start with `PREFIX`, since the constructor may have parameters of the same names.
    """
    if record.kind is not CallKind.LAYER:
        return ()
    names = [item.name for item in record.inputs if _is_positional_input(item)] or ["input"]
    name = record.api.rsplit(".", 1)[-1]
    lead = PREFIX + names[0]
    further = [_further_input(name, further_name, lead) for further_name in names[1:]]
    return tuple(
        Parameter(name=PREFIX + input_name, constraint=constraint)
        for input_name, constraint in zip(names, [_first_input(record), *further], strict=True)
    )


PREFIX = "input:"
"""Prefix of the names of a layer's inputs; names of constructor parameters do not have it."""
_BY_POSITION = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)


def _is_positional_input(parameter: ParameterRecord) -> bool:
    return parameter.required and parameter.kind in _BY_POSITION


def _further_input(layer: str, name: str, lead: str) -> Constraint:
    """Return the constraint of a layer's input after the first, `lead`."""
    if layer == "Bilinear":
        return Tensor(dtypes=_FLOATS, shape=("N", "in2_features"))
    if _INTEGER_TARGET.search(layer) and name == "target":
        return Tensor(dtypes=("int64",), shape=(SizeOf(lead, 0),), low=0, high=0)
    if name in _INTEGER_NAMES:
        return Tensor(dtypes=("int64",), shape_of=lead, low=0, high=1)
    return Tensor(dtypes=_FLOATS, shape_of=lead, low=0.0, high=1.0)


def _first_input(record: ApiRecord) -> Constraint:
    """Return the constraint of a layer's first input."""
    name = record.api.rsplit(".", 1)[-1]
    if _INTEGER_INPUT.search(name):
        return Tensor(dtypes=("int64", "int32"), ndim=(1, 2), low=0, high=0)
    if name == "Bilinear":
        return Tensor(dtypes=_FLOATS, shape=("N", "in1_features"))
    shape = _input_shape(record, name)
    if shape:
        return Tensor(dtypes=_FLOATS, shape=shape)
    return Tensor(dtypes=_FLOATS, ndim=_ANY_RANKS if record.forms == _ANY_SHAPE else (2, 4))


def _input_shape(record: ApiRecord, name: str) -> tuple[Dim, ...]:
    """Return the shape of a layer's first input; empty if the name does not determine it."""
    sizes = {parameter.name for parameter in record.parameters}
    channels = next((size for size in _CHANNEL_SIZES if size in sizes), "")
    features = next((size for size in _FEATURE_SIZES if size in sizes), "")
    dimensions = _DIMENSIONS.search(name)
    if dimensions:
        space: tuple[Dim, ...] = (_SPATIAL,) * int(dimensions.group(1))
        is_channels_last = record.api.startswith(_CHANNELS_LAST)
        return ("N", *space, "C") if is_channels_last else ("N", channels or "C", *space)
    if name in _RECURRENT:
        return ("L", "N", RECURRENT_SIZES[0])
    if features:
        return ("N", features) if name.endswith("Cell") else ("N", "L", features)
    return ("N", channels, _SPATIAL) if channels else ()
