"""Bundles: layer chains that restore a tensor's shape (LEMON, section 3.1.1, MLA)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.model.edits import free_name, new_node
from ciguard.levels.model.kinds import KINDS
from ciguard.levels.model.layers import LayerPlace, elements
from ciguard.levels.model.universe import drawing

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from ciguard.domain.models import LayerNode, Shape
    from ciguard.levels.model.layers import Config, LayerKind
    from ciguard.levels.model.universe import Universe

_KINDS = {kind.name: kind for kind in KINDS}
_MAX_DIMENSIONS = 5
"""Maximum rank: that of a series of volumes, which ConvLSTM3D accepts."""
_IMAGE = 3
"""Rank of images."""
_MAX_DENSE_WIDTH = 1 << 14
"""Maximum number of weights of a dense layer that changes a shape; larger changes are made in
parts."""


@dataclass(slots=True)
class Chain:
    """A sequence of layers, with the shape that each one returns."""

    rng: random.Random
    universe: Universe
    source: str
    shape: Shape
    taken: set[str]
    """Names in use."""
    nodes: list[LayerNode]
    drawn: list[str] = field(default_factory=list)
    """Entries for the drawing statistics, see `drawing`."""
    unfit: Unfit = field(default_factory=set)
    """Layers that failed after a shape, by their public names; the caller may pass them to the next
    chain."""

    @property
    def end(self) -> str:
        """Name of the last layer; of the source if there is none yet."""
        return self.nodes[-1].name if self.nodes else self.source

    def add(self, kind: LayerKind, config: Config, *others: str) -> bool:
        """Append a layer with given arguments; return whether its inputs fit."""
        shapes = (self.shape,) * (1 + len(others))
        shape = kind.shape(config, shapes) if kind.fits(shapes) else None
        if shape is None or 0 in shape:
            return False
        name = free_name(self.taken, kind.name)
        inputs = (self.end, *others)
        node = new_node(self.rng, kind, config, name=name, inputs=inputs, shape=shape)
        self.taken.add(name)
        self.nodes.append(node)
        self.shape = shape
        return True

    def add_named(self, name: str, **config: object) -> bool:
        """Append a layer by its name; return False if the universe lacks it."""
        kind = _KINDS.get(name)
        if kind is None or not self.universe.has(kind) or not self.add(kind, config):
            return False
        self.drawn.append(drawing(kind, keeps=True))
        return True

    def draw(self, kind: LayerKind, *others: str, keeps: bool = False) -> bool:
        """Append a layer with drawn arguments; return whether that succeeded."""
        shapes = (self.shape,) * (1 + len(others))
        drawn = self.universe.draw(self.rng, kind, LayerPlace(shapes, keeps))
        if drawn is None or not self.add(kind, drawn[0], *others):
            return False
        self.drawn.append(drawing(kind, keeps=keeps))
        return True

    def unfold(self) -> bool:
        """Append a layer that splits one or two of the spatial dimensions."""
        shape = list(self.shape)
        splits = self.rng.randint(1, 2)
        while splits and len(shape) < _MAX_DIMENSIONS:
            axis = self.rng.randrange(max(1, len(shape) - 1))
            part = self.rng.choice(_divisors(shape[axis]))
            shape[axis : axis + 1] = [part, shape[axis] // part]
            splits -= 1
        return len(shape) > len(self.shape) and self._reshaped(tuple(shape))

    def restore(self, shape: Shape) -> bool:
        """Append layers that give the tensor a shape, in one of the possible ways."""
        if self.shape == shape:
            return True
        restorers = list(self._restorers(shape))
        return bool(restorers) and self.rng.choice(restorers)(shape) and self.shape == shape

    def _restorers(self, shape: Shape) -> Iterator[_Restorer]:
        if elements(self.shape) * elements(shape) <= _MAX_DENSE_WIDTH:
            yield self._by_dense
        if elements(self.shape) == elements(shape):
            yield self._reshaped
        if len(self.shape) == len(shape):
            yield self._by_dimensions
        else:
            yield self._pooled

    def _by_dense(self, shape: Shape) -> bool:
        """Append flatten, dense and reshape layers."""
        is_flat = len(self.shape) == 1 or self.add_named("Flatten")
        is_dense = is_flat and self.add_named("Dense", units=elements(shape))
        return is_dense and (len(shape) == 1 or self._reshaped(shape))

    def _reshaped(self, shape: Shape) -> bool:
        return self.add_named("Reshape", target_shape=list(shape))

    def _pooled(self, shape: Shape) -> bool:
        """Append a global pooling, then layers that repeat one vector at each position."""
        axes = len(self.shape) - 1
        if axes and not self.add_named(self.rng.choice(_POOLS).format(axes)):
            return False
        *space, features = shape
        if self.shape != (features,) and not self.add_named("Dense", units=features):
            return False
        if not space:
            return True
        if len(space) == 1 and self.rng.random() < _REPEAT_PROBABILITY:
            return self.add_named("RepeatVector", n=space[0])
        is_spread = self.add_named("Reshape", target_shape=[1] * len(space) + [features])
        return is_spread and self._upsampled(shape)

    def _upsampled(self, shape: Shape) -> bool:
        *space, _ = shape
        factors = list(space) if len(space) > 1 else space[0]
        return self.add_named(f"UpSampling{len(space)}D", size=factors)

    def _by_dimensions(self, shape: Shape) -> bool:
        """Append layers for the spatial dimensions, then for the features."""
        if self.shape[:-1] != shape[:-1] and not self._resize_space(shape):
            return False
        return self.shape == shape or self._resize_features(shape)

    def _resize_space(self, shape: Shape) -> bool:
        space = tuple(shape[:-1])
        if len(shape) == _IMAGE and self.rng.random() < _RESIZE_PROBABILITY:
            return self.add_named("Resizing", height=space[0], width=space[1])
        axes = len(space)
        differences = [after - before for before, after in zip(self.shape[:-1], space, strict=True)]
        if max(differences) > 0:
            padding = [[max(n, 0) // 2, max(n, 0) - max(n, 0) // 2] for n in differences]
            sizes = padding if axes > 1 else padding[0]
            if not self.add_named(f"ZeroPadding{axes}D", padding=sizes):
                return False
        if min(differences) < 0:
            cropping = [[max(-n, 0) // 2, max(-n, 0) - max(-n, 0) // 2] for n in differences]
            sizes = cropping if axes > 1 else cropping[0]
            return self.add_named(f"Cropping{axes}D", cropping=sizes)
        return True

    def _resize_features(self, shape: Shape) -> bool:
        axes = len(shape) - 1
        if axes and self.rng.random() < _CONVOLVE_PROBABILITY:
            return self.add_named(f"Conv{axes}D", filters=shape[-1], kernel_size=1)
        return self.add_named("Dense", units=shape[-1])


def _divisors(number: int) -> list[int]:
    return [part for part in range(1, number + 1) if number % part == 0]


if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    _Restorer: TypeAlias = Callable[[Shape], bool]
    Unfit: TypeAlias = set[tuple[Shape, str]]

_POOLS = ("GlobalAveragePooling{}D", "GlobalMaxPooling{}D")
_REPEAT_PROBABILITY, _RESIZE_PROBABILITY, _CONVOLVE_PROBABILITY = 0.5, 0.5, 0.5
