"""Descriptions of layer classes: their inputs, arguments and output shapes.

Shapes have no batch dimension, and channels are the last dimension. A configuration is a dictionary
of constructor arguments, like `LayerNode.config`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.models import Shape
from ciguard.domain.values import Json

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

Config: TypeAlias = dict[str, Json]
"""Constructor arguments of a layer, by name."""
Shapes: TypeAlias = tuple[Shape, ...]
"""Shapes of a layer's inputs."""

PUBLIC = "keras.layers."
"""Prefix of the public names of layer classes."""
TOKENS = 8
"""Exclusive upper bound of the integers that layers in mutants produce and accept."""


class Family(Enum):
    """Purpose of a layer."""

    CORE = auto()
    ACTIVATION = auto()
    CONVOLUTION = auto()
    POOLING = auto()
    RECURRENT = auto()
    NORMALISATION = auto()
    REGULARISATION = auto()
    ATTENTION = auto()
    RESHAPING = auto()
    MERGING = auto()
    PREPROCESSING = auto()


class Elements(Enum):
    """Type of a tensor's elements."""

    FLOATS = "float32"
    TOKENS = "int32"
    """Integers from 0 to `TOKENS` - 1."""


@dataclass(frozen=True, slots=True)
class LayerPlace:
    """A place in a graph for which a layer is drawn."""

    shapes: Shapes
    """Shapes of the inputs."""
    keeps_shape: bool
    """True if the output must have the shape of the first input."""


Draw: TypeAlias = "Callable[[random.Random, LayerPlace], Config | None]"
"""Function that draws arguments for a place; None if no arguments fit."""
OutputShape: TypeAlias = Callable[[Config, Shapes], Shape | None]
"""Function that returns the output's shape; None if the layer does not accept the inputs."""
Count: TypeAlias = Callable[[Config, Shapes], int]
"""Function that returns a number of weights or elements."""


def no_weights(config: Config, shapes: Shapes) -> int:
    """Return 0, the number of weights of a layer without weights."""
    del config, shapes
    return 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayerKind:
    """Description of a layer class."""

    name: str
    """Name of the class in `keras.layers`."""
    family: Family
    """Purpose of the layer."""
    ranks: tuple[int, ...]
    """Ranks of inputs for which the layer is drawn, without the batch dimension."""
    draw: Draw
    """Function that draws the arguments that decide the output's shape."""
    shape: OutputShape
    """Function that returns the output's shape."""
    weights: Count = no_weights
    """Function that returns the approximate number of weights."""
    scratch_elements: Count = no_weights
    """Function that returns the number of intermediate elements per sample, if there may be
    many."""
    varied_arguments: tuple[str, ...] = ()
    """Names of arguments that do not change the output's shape; see module `arguments`."""
    inputs: tuple[int, int] = (1, 1)
    """Minimum and maximum number of inputs."""
    as_list: bool = False
    """True if several inputs are passed as one list."""
    is_random: bool = False
    """True if the layer may be random in training."""
    input_elements: Elements = Elements.FLOATS
    """Type of the inputs' elements."""
    output_elements: Elements = Elements.FLOATS
    """Type of the output's elements."""
    channels: tuple[int, ...] = ()
    """Allowed sizes of the inputs' last dimension; empty for any size."""

    @property
    def public(self) -> str:
        """Public name of the class, as in nodes of graphs."""
        return PUBLIC + self.name

    def fits(self, shapes: Shapes) -> bool:
        """Return whether the layer accepts inputs of these shapes, by number, rank and channels."""
        min_inputs, max_inputs = self.inputs
        return min_inputs <= len(shapes) <= max_inputs and all(
            len(shape) in self.ranks and (not self.channels or shape[-1] in self.channels)
            for shape in shapes
        )


def same_shape(config: Config, shapes: Shapes) -> Shape:
    """Return the shape of the first input: the output's shape of a layer that keeps shapes."""
    del config
    return shapes[0]


@dataclass(frozen=True, slots=True)
class Choices:
    """Function that draws each argument from a list of values."""

    always: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    """Values of arguments that are always drawn, by name."""
    sometimes: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    """Values of arguments that are sometimes drawn, by name."""
    probability: float = 0.3
    """Probability with which each argument of `sometimes` is drawn."""

    def __call__(self, rng: random.Random, place: LayerPlace) -> Config | None:
        """Draw the arguments, whatever the place."""
        del place
        config = {name: rng.choice(values) for name, values in self.always.items()}
        for name, values in self.sometimes.items():
            if rng.random() < self.probability:
                config[name] = rng.choice(values)
        return config


def similar_size(rng: random.Random, size: int) -> int:
    """Draw a number of channels or units, similar to a size or very small."""
    return rng.choice((max(1, size // 2), size, size + 1, min(2 * size, size + 8), 1, 3))


def elements(shape: Shape) -> int:
    """Return the number of elements of a tensor of a shape."""
    return prod(shape)
