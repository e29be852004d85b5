"""Bundles: layers that bring a tensor back to the shape that it had (LEMON, section 3.1.1, MLA)."""

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
"""Of a series of volumes, which ConvLSTM3D takes."""
_IMAGE = 3
"""Rank of images."""
_MAX_DENSE_WIDTH = 1 << 14
"""Weights of a dense layer that makes one shape of another; beyond, it is done by parts."""


@dataclass(slots=True)
class Chain:
    """Layers one after the other, each with the shape that the one before makes."""

    rng: random.Random
    universe: Universe
    source: str
    shape: Shape
    taken: set[str]
    """Names that are in use."""
    nodes: list[LayerNode]
    drawn: list[str] = field(default_factory=list)
    """What is counted of that, see `drawing`."""
    unfit: Unfit = field(default_factory=set)
    """Layers that were tried behind a shape in vain, by their public names; the caller may hand
    them on to the next chain."""

    @property
    def end(self) -> str:
        """Name of the last layer; of the source, where there is none yet."""
        return self.nodes[-1].name if self.nodes else self.source

    def add(self, kind: LayerKind, config: Config, *others: str) -> bool:
        """Append a layer with given arguments; return whether it can be called so."""
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
        """Append a layer by its name; one that is not in the universe, or nowhere, cannot be."""
        kind = _KINDS.get(name)
        if kind is None or not self.universe.has(kind) or not self.add(kind, config):
            return False
        self.drawn.append(drawing(kind, keeps=True))
        return True

    def draw(self, kind: LayerKind, *others: str, keeps: bool = False) -> bool:
        """Append a layer with arguments drawn for it."""
        shapes = (self.shape,) * (1 + len(others))
        drawn = self.universe.draw(self.rng, kind, LayerPlace(shapes, keeps))
        if drawn is None or not self.add(kind, drawn[0], *others):
            return False
        self.drawn.append(drawing(kind, keeps=keeps))
        return True

    def unfold(self) -> bool:
        """Append what makes one or two dimensions more of the spatial ones."""
        shape = list(self.shape)
        more = self.rng.randint(1, 2)
        while more and len(shape) < _MAX_DIMENSIONS:
            at = self.rng.randrange(max(1, len(shape) - 1))
            part = self.rng.choice(_divisors(shape[at]))
            shape[at : at + 1] = [part, shape[at] // part]
            more -= 1
        return len(shape) > len(self.shape) and self._reshaped(tuple(shape))

    def restore(self, shape: Shape) -> bool:
        """Append what brings the tensor to a shape, in one of the ways there are."""
        if self.shape == shape:
            return True
        ways = list(self._ways(shape))
        return bool(ways) and self.rng.choice(ways)(shape) and self.shape == shape

    def _ways(self, shape: Shape) -> Iterator[_Way]:
        if elements(self.shape) * elements(shape) <= _MAX_DENSE_WIDTH:
            yield self._whole
        if elements(self.shape) == elements(shape):
            yield self._reshaped
        if len(self.shape) == len(shape):
            yield self._by_parts
        else:
            yield self._pooled

    def _whole(self, shape: Shape) -> bool:
        """Everything with everything: flat, dense, reshaped."""
        is_flat = len(self.shape) == 1 or self.add_named("Flatten")
        is_dense = is_flat and self.add_named("Dense", units=elements(shape))
        return is_dense and (len(shape) == 1 or self._reshaped(shape))

    def _reshaped(self, shape: Shape) -> bool:
        return self.add_named("Reshape", target_shape=list(shape))

    def _pooled(self, shape: Shape) -> bool:
        """One vector for the whole, of the right length, at every place."""
        axes = len(self.shape) - 1
        if axes and not self.add_named(self.rng.choice(_POOLS).format(axes)):
            return False
        *space, features = shape
        if self.shape != (features,) and not self.add_named("Dense", units=features):
            return False
        if not space:
            return True
        if len(space) == 1 and self.rng.random() < _REPEATED:
            return self.add_named("RepeatVector", n=space[0])
        is_spread = self.add_named("Reshape", target_shape=[1] * len(space) + [features])
        return is_spread and self._enlarged(shape)

    def _enlarged(self, shape: Shape) -> bool:
        *space, _ = shape
        factors = list(space) if len(space) > 1 else space[0]
        return self.add_named(f"UpSampling{len(space)}D", size=factors)

    def _by_parts(self, shape: Shape) -> bool:
        """The spatial dimensions first, then the features."""
        if self.shape[:-1] != shape[:-1] and not self._spaced(shape):
            return False
        return self.shape == shape or self._featured(shape)

    def _spaced(self, shape: Shape) -> bool:
        space = tuple(shape[:-1])
        if len(shape) == _IMAGE and self.rng.random() < _RESIZED:
            return self.add_named("Resizing", height=space[0], width=space[1])
        axes = len(space)
        beyond = [after - before for before, after in zip(self.shape[:-1], space, strict=True)]
        if max(beyond) > 0:
            padding = [[max(n, 0) // 2, max(n, 0) - max(n, 0) // 2] for n in beyond]
            given = padding if axes > 1 else padding[0]
            if not self.add_named(f"ZeroPadding{axes}D", padding=given):
                return False
        if min(beyond) < 0:
            cropping = [[max(-n, 0) // 2, max(-n, 0) - max(-n, 0) // 2] for n in beyond]
            given = cropping if axes > 1 else cropping[0]
            return self.add_named(f"Cropping{axes}D", cropping=given)
        return True

    def _featured(self, shape: Shape) -> bool:
        axes = len(shape) - 1
        if axes and self.rng.random() < _CONVOLVED:
            return self.add_named(f"Conv{axes}D", filters=shape[-1], kernel_size=1)
        return self.add_named("Dense", units=shape[-1])


def _divisors(number: int) -> list[int]:
    return [part for part in range(1, number + 1) if number % part == 0]


if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    _Way: TypeAlias = Callable[[Shape], bool]
    Unfit: TypeAlias = set[tuple[Shape, str]]

_POOLS = ("GlobalAveragePooling{}D", "GlobalMaxPooling{}D")
_REPEATED, _RESIZED, _CONVOLVED = 0.5, 0.5, 0.5
