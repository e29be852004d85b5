"""What is known of a class of layers: where it can stand, with which arguments, what comes out.

Shapes are without the batch dimension, channels last. A configuration holds constructor arguments
as `LayerNode.config` does.
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
"""Begins the public name of every layer."""
TOKENS = 8
"""Integers that the layers of this universe make and take are below this."""


class Family(Enum):
    """What a layer is for."""

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
    """What a tensor holds."""

    FLOATS = "float32"
    TOKENS = "int32"
    """Integers from 0 to below `TOKENS`."""


@dataclass(frozen=True, slots=True)
class LayerPlace:
    """Where a layer is to stand."""

    shapes: Shapes
    """Of its inputs."""
    keeps: bool
    """Whether its output must have the shape of its first input."""


Draw: TypeAlias = "Callable[[random.Random, LayerPlace], Config | None]"
"""Draws arguments; None where there are none for the place."""
OutputShape: TypeAlias = Callable[[Config, Shapes], Shape | None]
"""The shape that comes out; None where the layer cannot be called so."""
Count: TypeAlias = Callable[[Config, Shapes], int]


def no_weights(config: Config, shapes: Shapes) -> int:
    """Count nothing."""
    del config, shapes
    return 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayerKind:
    """A class of layers."""

    name: str
    """Of the class in `keras.layers`."""
    family: Family
    ranks: tuple[int, ...]
    """Ranks of its inputs that it is drawn for, the batch dimension left out."""
    draw: Draw
    shape: OutputShape
    weights: Count = no_weights
    """About how many weights it has; 0 for none."""
    scratch: Count = no_weights
    """Elements per sample that it computes beside its output, where they may be many more."""
    varying: tuple[str, ...] = ()
    """Arguments that leave the shape alone; see `arguments`."""
    inputs: tuple[int, int] = (1, 1)
    """Fewest and most inputs."""
    as_list: bool = False
    """Whether several inputs are given as one list."""
    is_random: bool = False
    """Whether what it computes in training is random, in some configuration."""
    takes: Elements = Elements.FLOATS
    gives: Elements = Elements.FLOATS
    channels: tuple[int, ...] = ()
    """Sizes that its inputs' last dimension may have; empty for any."""

    @property
    def public(self) -> str:
        """The public name, as nodes have it."""
        return PUBLIC + self.name

    def fits(self, shapes: Shapes) -> bool:
        """Return whether it can be called with inputs of these shapes, as far as ranks tell."""
        fewest, most = self.inputs
        return fewest <= len(shapes) <= most and all(
            len(shape) in self.ranks and (not self.channels or shape[-1] in self.channels)
            for shape in shapes
        )


def kept(config: Config, shapes: Shapes) -> Shape:
    """Shape of what comes out of a layer that leaves shapes alone."""
    del config
    return shapes[0]


@dataclass(frozen=True, slots=True)
class Choices:
    """Draws each argument from a list: some always, some now and then."""

    always: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    sometimes: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    share: float = 0.3
    """How often each of the latter is given."""

    def __call__(self, rng: random.Random, place: LayerPlace) -> Config | None:
        """Draw the arguments."""
        del place
        config = {name: rng.choice(values) for name, values in self.always.items()}
        for name, values in self.sometimes.items():
            if rng.random() < self.share:
                config[name] = rng.choice(values)
        return config


def near(rng: random.Random, size: int) -> int:
    """Draw a number of channels or units: about as many as there are, or few."""
    return rng.choice((max(1, size // 2), size, size + 1, min(2 * size, size + 8), 1, 3))


def elements(shape: Shape) -> int:
    """Number of elements of a tensor of this shape."""
    return prod(shape)
