"""Descriptions of layer classes: their inputs, arguments and output shapes.

Shapes are without the batch dimension, channels last. A configuration has constructor arguments,
like `LayerNode.config`.
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
Shapes: TypeAlias = tuple[Shape, ...]

PUBLIC = "keras.layers."
"""Prefix of the public names of layers."""
TOKENS = 8
"""Exclusive upper bound of the integers that layers of this universe produce and accept."""


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
    """Elements of a tensor."""

    FLOATS = "float32"
    TOKENS = "int32"
    """Integers from 0 to below `TOKENS`."""


@dataclass(frozen=True, slots=True)
class LayerPlace:
    """The place that a layer is drawn for."""

    shapes: Shapes
    """Shapes of the inputs."""
    keeps: bool
    """True if the output must have the shape of the first input."""


Draw: TypeAlias = "Callable[[random.Random, LayerPlace], Config | None]"
"""Draws arguments; returns None if none fit the place."""
OutputShape: TypeAlias = Callable[[Config, Shapes], Shape | None]
"""Returns the shape of the output; None if the layer does not accept the inputs."""
Count: TypeAlias = Callable[[Config, Shapes], int]
"""Returns a number of weights or elements."""


def no_weights(config: Config, shapes: Shapes) -> int:
    """Return 0."""
    del config, shapes
    return 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayerKind:
    """A class of layers."""

    name: str
    """Name of the class in `keras.layers`."""
    family: Family
    ranks: tuple[int, ...]
    """Ranks of inputs that the layer is drawn for, without the batch dimension."""
    draw: Draw
    shape: OutputShape
    weights: Count = no_weights
    """Approximate number of weights."""
    scratch: Count = no_weights
    """Elements per sample that are computed beside the output, where they may be many more."""
    varying: tuple[str, ...] = ()
    """Arguments that keep the output shape; see `arguments`."""
    inputs: tuple[int, int] = (1, 1)
    """Minimum and maximum number of inputs."""
    as_list: bool = False
    """True if several inputs are passed as one list."""
    is_random: bool = False
    """True if the layer is random in training, in some configuration."""
    takes: Elements = Elements.FLOATS
    gives: Elements = Elements.FLOATS
    channels: tuple[int, ...] = ()
    """Allowed sizes of the inputs' last dimension; empty for any size."""

    @property
    def public(self) -> str:
        """Public name, as in nodes."""
        return PUBLIC + self.name

    def fits(self, shapes: Shapes) -> bool:
        """Return whether the layer accepts inputs of these shapes, by number, rank and channels."""
        min_inputs, max_inputs = self.inputs
        return min_inputs <= len(shapes) <= max_inputs and all(
            len(shape) in self.ranks and (not self.channels or shape[-1] in self.channels)
            for shape in shapes
        )


def kept(config: Config, shapes: Shapes) -> Shape:
    """Return the output shape of a layer that keeps shapes."""
    del config
    return shapes[0]


@dataclass(frozen=True, slots=True)
class Choices:
    """Draws each argument from a list: some always, others sometimes."""

    always: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    sometimes: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    share: float = 0.3
    """Probability of each of the latter."""

    def __call__(self, rng: random.Random, place: LayerPlace) -> Config | None:
        """Draw the arguments."""
        del place
        config = {name: rng.choice(values) for name, values in self.always.items()}
        for name, values in self.sometimes.items():
            if rng.random() < self.share:
                config[name] = rng.choice(values)
        return config


def near(rng: random.Random, size: int) -> int:
    """Draw a number of channels or units: about the present number, or few."""
    return rng.choice((max(1, size // 2), size, size + 1, min(2 * size, size + 8), 1, 3))


def elements(shape: Shape) -> int:
    """Return the number of elements of a tensor of this shape."""
    return prod(shape)
