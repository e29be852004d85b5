"""Bundles: chains of layers that change a tensor's shape and restore it (LEMON, 3.1.1, MLA)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.model.edits import free_name, new_node
from ciguard.levels.model.kinds import KINDS
from ciguard.levels.model.layers import LayerPlace, elements
from ciguard.levels.model.universe import draw_name

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from ciguard.domain.models import LayerNode, Shape
    from ciguard.levels.model.layers import Config, LayerKind
    from ciguard.levels.model.universe import Universe

_KINDS = {kind.name: kind for kind in KINDS}
_MAX_DIMENSIONS = 5
"""Maximum number of dimensions of a tensor: that of a series of volumes, for ConvLSTM3D."""
_IMAGE = 3
"""Number of dimensions of an image."""
_MAX_DENSE_WIDTH = 1 << 14
"""Maximum number of weights of a dense layer that restores a shape; beyond it, other layers restore
the shape."""


@dataclass(slots=True)
class Chain:
    """A sequence of new layers after a node of a graph."""

    rng: random.Random
    """Source of randomness."""
    universe: Universe
    """Layers that may be appended."""
    source: str
    """Name of the node that the chain starts from."""
    shape: Shape
    """Shape of the output of the last layer, or of the source if there is none yet."""
    taken: set[str]
    """Names of nodes that are in use."""
    nodes: list[LayerNode]
    """Layers so far."""
    drawn: list[str] = field(default_factory=list)
    """Names under which the draws of the layers are counted, see `draw_name`."""
    unfit: Unfit = field(default_factory=set)
    """Pairs of a shape and a layer that cannot follow it; the caller may pass the set to the next
    chain."""

    @property
    def end(self) -> str:
        """Name of the last layer, or of the source if there is none yet."""
        return self.nodes[-1].name if self.nodes else self.source

    def add(self, kind: LayerKind, config: Config, *others: str) -> bool:
        """Append a layer with given arguments; return whether it fits.

        Args:
            kind: the class of the layer.
            config: its constructor arguments.
            others: the names of further inputs besides the end of the chain.
        """
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
        """Append a layer of a class name with given arguments; return whether that succeeded."""
        kind = _KINDS.get(name)
        if kind is None or not self.universe.has(kind) or not self.add(kind, config):
            return False
        self.drawn.append(draw_name(kind, keeps_shape=True))
        return True

    def draw(self, kind: LayerKind, *others: str, keeps_shape: bool = False) -> bool:
        """Append a layer with drawn arguments; return whether that succeeded.

        Args:
            kind: the class of the layer.
            others: the names of further inputs besides the end of the chain.
            keeps_shape: True if the layer must keep the shape.
        """
        shapes = (self.shape,) * (1 + len(others))
        drawn = self.universe.draw(self.rng, kind, LayerPlace(shapes, keeps_shape))
        if drawn is None or not self.add(kind, drawn[0], *others):
            return False
        self.drawn.append(draw_name(kind, keeps_shape=keeps_shape))
        return True

    def unfold(self) -> bool:
        """Append a reshape layer that splits one or two of the spatial dimensions.

        Returns:
            True if that succeeded.
        """
        shape = list(self.shape)
        splits = self.rng.randint(1, 2)
        while splits and len(shape) < _MAX_DIMENSIONS:
            axis = self.rng.randrange(max(1, len(shape) - 1))
            factor = self.rng.choice(_divisors(shape[axis]))
            shape[axis : axis + 1] = [factor, shape[axis] // factor]
            splits -= 1
        return len(shape) > len(self.shape) and self._append_reshape(tuple(shape))

    def restore(self, shape: Shape) -> bool:
        """Append layers that give the tensor a shape; return whether that succeeded."""
        if self.shape == shape:
            return True
        restorers = list(self._restorers(shape))
        return bool(restorers) and self.rng.choice(restorers)(shape) and self.shape == shape

    def _restorers(self, shape: Shape) -> Iterator[_Restorer]:
        """Yield the methods that may give the tensor a shape."""
        if elements(self.shape) * elements(shape) <= _MAX_DENSE_WIDTH:
            yield self._append_dense
        if elements(self.shape) == elements(shape):
            yield self._append_reshape
        if len(self.shape) == len(shape):
            yield self._append_by_dimensions
        else:
            yield self._append_pooling

    def _append_dense(self, shape: Shape) -> bool:
        """Append a flatten, a dense and a reshape layer, as far as they are needed."""
        is_flat = len(self.shape) == 1 or self.add_named("Flatten")
        is_dense = is_flat and self.add_named("Dense", units=elements(shape))
        return is_dense and (len(shape) == 1 or self._append_reshape(shape))

    def _append_reshape(self, shape: Shape) -> bool:
        return self.add_named("Reshape", target_shape=list(shape))

    def _append_pooling(self, shape: Shape) -> bool:
        """Append a global pooling, and layers that repeat the resulting vector at each position."""
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
        return is_spread and self._append_upsampling(shape)

    def _append_upsampling(self, shape: Shape) -> bool:
        *space, _ = shape
        factors = list(space) if len(space) > 1 else space[0]
        return self.add_named(f"UpSampling{len(space)}D", size=factors)

    def _append_by_dimensions(self, shape: Shape) -> bool:
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
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    _Restorer: TypeAlias = Callable[[Shape], bool]
    Unfit: TypeAlias = set[tuple[Shape, str]]

_POOLS = ("GlobalAveragePooling{}D", "GlobalMaxPooling{}D")
_REPEAT_PROBABILITY, _RESIZE_PROBABILITY, _CONVOLVE_PROBABILITY = 0.5, 0.5, 0.5
