"""The universe of layers that graphs can contain, with shapes, arguments and sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from ciguard.domain.models import INPUT
from ciguard.levels.model.arguments import ACTIVATIONS, LayerArguments
from ciguard.levels.model.kinds import KINDS
from ciguard.levels.model.layers import PUBLIC, Config, Elements, LayerKind, LayerPlace, elements
from ciguard.levels.model.repertoire import Repertoire

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.domain.models import LayerGraph, LayerNode, Shape
    from ciguard.domain.records import ApiRecord
    from ciguard.levels.model.layers import Shapes

T = TypeVar("T")
_ALIASES = (
    (re.compile(r"AvgPool(?=\dD)"), "AveragePooling"),
    (re.compile(r"MaxPool(?=\dD)"), "MaxPooling"),
    (re.compile(r"Convolution(?=\dD)"), "Conv"),
)
_BY_NAME = {kind.public: kind for kind in KINDS}
_SHAPE_CHANGE_SUFFIX = " of another shape"
_OTHER_FORMAT = "channels_first"
_RARITY_EXPONENT = 8
"""Preference for rarely used layers: one that was used once is 256 times less probable than an
unused one. It is not excluded, since a suitable layer may be rejected for its size."""


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a graph."""

    activations: int = 0
    """Elements that all layers compute for one sample, including intermediate ones,
    approximately."""
    weights: int = 0
    """Number of weights, approximately."""

    def fits(self, limit: Size) -> bool:
        """Return whether the size is within a limit."""
        return self.activations <= limit.activations and self.weights <= limit.weights

    def __add__(self, other: Size) -> Size:
        return Size(self.activations + other.activations, self.weights + other.weights)


GROWTH = 1.5
"""Factor by which a mutant may exceed its seed."""
_MIN_ALLOWANCE = Size(4096, 16384)


def bound(seed: Size) -> Size:
    """Return the maximum size of a mutant of a model of this size.

    It is 1.5 times the size plus 4,096 elements and 16,384 weights, so that the smallest models can
    grow too.
    """
    scaled = Size(int(GROWTH * seed.activations), int(GROWTH * seed.weights))
    return scaled + _MIN_ALLOWANCE


def canonical(layer: str) -> str:
    """Return the canonical public name of a layer's class, for any of its public names."""
    for pattern, name in _ALIASES:
        layer = pattern.sub(name, layer)
    return layer


def drawing(kind: LayerKind, *, keeps: bool) -> str:
    """Return the name under which draws of a layer are counted."""
    return kind.public if keeps else f"{kind.public}{_SHAPE_CHANGE_SUFFIX}"


@dataclass(frozen=True)
class Universe:
    """The layers that mutation draws from, with their limits."""

    arguments: LayerArguments
    most: Size | None = None
    """Maximum size of a mutant; None for no limit."""
    left_out: frozenset[str] = frozenset()
    """Public names of layers that are no longer drawn."""
    uses: Mapping[str, int] = field(default_factory=dict, compare=False)
    """Number of draws, by the name from `drawing` or an activation's public name. The owner updates
    it."""
    repertoire: Repertoire = field(default_factory=Repertoire, compare=False)
    """Chains that were inserted before. The owner updates it."""
    repeat_probability: float = 0.0
    """Probability that a chain of the repertoire is inserted instead of a new one."""

    @classmethod
    def of(cls, records: Iterable[ApiRecord] = ()) -> Universe:
        """Return the universe of the library with these records; without records, all layers."""
        return cls(LayerArguments(records))

    def within(self, limit: Size) -> Universe:
        """Return the same universe with a size limit."""
        return replace(self, most=limit)

    def without(self, layers: Iterable[str]) -> Universe:
        """Return the same universe without some layers, by their public names."""
        return replace(self, left_out=self.left_out | {canonical(layer) for layer in layers})

    @cached_property
    def kinds(self) -> tuple[LayerKind, ...]:
        """Layers that the library has."""
        return tuple(filter(self.has, KINDS))

    def has(self, kind: LayerKind) -> bool:
        """Return whether the library has a layer that is not excluded."""
        return kind.public not in self.left_out and self.arguments.knows(kind.public)

    # --- layers ---------------------------------------------------------------------------------

    def kind(self, node: LayerNode) -> LayerKind | None:
        """Return the description of a node's layer; None if there is none."""
        kind = _BY_NAME.get(canonical(node.layer))
        return None if kind is None or node.config.get("data_format") == _OTHER_FORMAT else kind

    def has_all(self, graph: LayerGraph) -> bool:
        """Return whether the library has every layer of a graph, and none is excluded."""
        kinds = [self.kind(node) for node in graph.nodes if node.layer != INPUT]
        return all(kind is not None and self.has(kind) for kind in kinds)

    def choose(self, rng: random.Random, kinds: Sequence[LayerKind], *, keeps: bool) -> LayerKind:
        """Choose one of some layers, with a strong preference for rarely used ones.

        Args:
            rng: the source of randomness.
            kinds: the layers to choose from.
            keeps: True if the layer must keep the shape, see `uses_of`.
        """
        return self._least_used(rng, kinds, [self.uses_of(kind, keeps=keeps) for kind in kinds])

    def uses_of(self, kind: LayerKind, *, keeps: bool) -> int:
        """Return the number of uses of a layer, either to keep the shape or to change it.

        A pool with stride 1 and a pool that halves an image are different tests, so they are
        counted separately. One use is added for a layer that was used in either way, so that
        entirely unused layers come first.
        """
        own = self.uses.get(drawing(kind, keeps=keeps), 0)
        return own + 1 if own or self.uses.get(drawing(kind, keeps=not keeps)) else 0

    def choose_activation(self, rng: random.Random, names: Sequence[str]) -> str:
        """Choose one of some activations, with the same preference."""
        uses = [self.uses.get(f"{ACTIVATIONS}{name}", 0) for name in names]
        return self._least_used(rng, names, uses)

    def _least_used(self, rng: random.Random, options: Sequence[T], uses: Sequence[int]) -> T:
        return rng.choices(options, [(1 + count) ** -_RARITY_EXPONENT for count in uses])[0]

    def draw(
        self, rng: random.Random, kind: LayerKind, place: LayerPlace
    ) -> tuple[Config, Shape] | None:
        """Draw the arguments of a layer for a place.

        Returns:
            The arguments and the output shape; None if the draw does not fit the place.
        """
        if not kind.fits(place.shapes):
            return None
        config = kind.draw(rng, place)
        if config is None:
            return None
        config |= self.arguments.draw(rng, kind)
        shape = kind.shape(config, place.shapes)
        if shape is None and config.pop("unroll", None):
            shape = kind.shape(config, place.shapes)
        if shape is None or 0 in shape or (place.keeps and shape != place.shapes[0]):
            return None
        return config, shape

    # --- graphs ---------------------------------------------------------------------------------

    def is_consistent(self, graph: LayerGraph) -> bool:
        """Return whether each known layer returns the shape of its node."""
        nodes = {node.name: node for node in graph.nodes}
        for node in graph.nodes:
            kind = self.kind(node)
            if kind is None:
                continue
            shapes = tuple(nodes[name].shape for name in node.inputs)
            min_inputs, max_inputs = kind.inputs
            if not min_inputs <= len(shapes) <= max_inputs:
                return False
            if kind.shape(dict(node.config), shapes) != node.shape:
                return False
        return True

    def weights(self, node: LayerNode, shapes: Shapes) -> int:
        """Return the approximate number of a node's weights; 0 for an unknown layer."""
        kind = self.kind(node)
        return 0 if kind is None else kind.weights(dict(node.config), shapes)

    def size(self, graph: LayerGraph) -> Size:
        """Return the size of a graph."""
        nodes = {node.name: node for node in graph.nodes}
        total = Size()
        for node in graph.nodes:
            shapes = tuple(nodes[name].shape for name in node.inputs)
            kind = None if node.layer == INPUT else self.kind(node)
            scratch = kind.scratch(dict(node.config), shapes) if kind else 0
            own = 0 if node.shares else self.weights(node, shapes)
            total += Size(elements(node.shape) + scratch, own)
        return total

    def is_random(self, graph: LayerGraph) -> bool:
        """Return whether a graph may be random in training."""
        return any(self._may_be_random(node) for node in graph.nodes if node.layer != INPUT)

    def _may_be_random(self, node: LayerNode) -> bool:
        kind = self.kind(node)
        return kind is None or kind.is_random

    def allows(self, graph: LayerGraph) -> bool:
        """Return whether a graph is within the size limit."""
        return self.most is None or self.size(graph).fits(self.most)

    def taking(self, held: Elements) -> tuple[LayerKind, ...]:
        """Return the layers that accept such elements."""
        return tuple(kind for kind in self.kinds if kind.takes is held)


def short(layer: str) -> str:
    """Return a layer's name without its module."""
    return layer.removeprefix(PUBLIC)
