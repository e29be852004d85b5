"""What a built layer is called with, from the layer's name and its constructor's parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain import CallKind
from ciguard.knowledge.api import Parameter
from ciguard.values import Between, Constraint, Dim, Tensor

if TYPE_CHECKING:
    from ciguard.domain import ApiRecord

_DIMENSIONS = re.compile(r"([123])[dD]")
_CHANNELS_LAST = ("keras.", "tf.")
_CHANNEL_SIZES = ("in_channels", "num_features", "num_channels")
_FEATURE_SIZES = ("in_features", "input_size", "embed_dim", "d_model", "normalized_shape")
_PAIR = re.compile(r"Loss$|Distance|Similarity")
_INTEGER_INPUT = re.compile(r"Embedding(?:Bag)?$")
_THREE = re.compile(r"MultiheadAttention$")
_SPATIAL = Between(4, 8)
_FLOATS = ("float32",)


def inputs(record: ApiRecord) -> tuple[Parameter, ...]:
    """Return the parameters of the object that the layer's constructor makes."""
    if record.kind is not CallKind.LAYER:
        return ()
    first = _first_input(record)
    name = record.api.rsplit(".", 1)[-1]
    found = [first]
    if _THREE.search(name):
        found += [Tensor(dtypes=_FLOATS, shape_of="input0")] * 2
    elif name == "Bilinear":
        found.append(Tensor(dtypes=_FLOATS, shape=("N", "in2_features")))
    elif _PAIR.search(name):
        found.append(Tensor(dtypes=_FLOATS, shape_of="input0", low=0.0, high=1.0))
    return tuple(
        Parameter(name=f"input{position}", constraint=constraint)
        for position, constraint in enumerate(found)
    )


def _first_input(record: ApiRecord) -> Constraint:
    name = record.api.rsplit(".", 1)[-1]
    if _INTEGER_INPUT.search(name):
        return Tensor(dtypes=("int64", "int32"), ndim=(1, 2), low=0, high=0)
    if name == "Bilinear":
        return Tensor(dtypes=_FLOATS, shape=("N", "in1_features"))
    shape = _input_shape(record, name)
    return Tensor(dtypes=_FLOATS, shape=shape) if shape else Tensor(dtypes=_FLOATS, ndim=(2, 4))


def _input_shape(record: ApiRecord, name: str) -> tuple[Dim, ...]:
    sizes = {parameter.name for parameter in record.parameters}
    channels = next((size for size in _CHANNEL_SIZES if size in sizes), "")
    features = next((size for size in _FEATURE_SIZES if size in sizes), "")
    dimensions = _DIMENSIONS.search(name)
    if dimensions:
        space: tuple[Dim, ...] = (_SPATIAL,) * int(dimensions.group(1))
        if record.api.startswith(_CHANNELS_LAST):
            return ("N", *space, "C")
        return ("N", channels or "C", *space)
    if features:
        return ("N", "L", features)
    return ("N", channels, _SPATIAL) if channels else ()


SIZE_PARAMETERS = (*_CHANNEL_SIZES, *_FEATURE_SIZES, "in1_features", "in2_features")
"""Constructor parameters whose value is a size of the input: they bind the symbol of their name."""
