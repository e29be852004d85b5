"""The universe: all layers that graphs can contain, with shapes, arguments and sizes."""

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
"""Strength of the preference for rarely drawn layers. A layer that was drawn once is 256 times less
probable than a new one, but not excluded: a suitable layer may be rejected for its size."""


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a graph."""

    activations: int = 0
    """Approximate number of elements that all layers compute for one sample, with intermediate
    elements."""
    weights: int = 0
    """Approximate number of weights."""

    def fits(self, limit: Size) -> bool:
        """Return whether the size is within a limit."""
        return self.activations <= limit.activations and self.weights <= limit.weights

    def __add__(self, other: Size) -> Size:
        return Size(self.activations + other.activations, self.weights + other.weights)


GROWTH = 1.5
"""Factor by which a mutant may be larger than its seed."""
_MIN_ALLOWANCE = Size(4096, 16384)
"""Size that each mutant may add, so that the smallest models can grow too."""


def max_mutant_size(seed: Size) -> Size:
    """Return the maximum size of a seed's mutants, from the size of the seed.

    It is 1.5 times the size of the seed, plus 4,096 elements and 16,384 weights.
    """
    scaled = Size(int(GROWTH * seed.activations), int(GROWTH * seed.weights))
    return scaled + _MIN_ALLOWANCE


def canonical_name(layer: str) -> str:
    """Return the canonical public name of a layer class, from any of its public names."""
    for pattern, name in _ALIASES:
        layer = pattern.sub(name, layer)
    return layer


def kind_of(node: LayerNode) -> LayerKind | None:
    """Return the description of a node's layer; None if the layer is not described."""
    kind = _BY_NAME.get(canonical_name(node.layer))
    return None if kind is None or node.config.get("data_format") == _OTHER_FORMAT else kind


def draw_name(kind: LayerKind, *, keeps_shape: bool) -> str:
    """Return the name under which draws of a layer are counted.

    Draws that keep the shape and draws that change it are counted separately.
    """
    return kind.public if keeps_shape else f"{kind.public}{_SHAPE_CHANGE_SUFFIX}"


@dataclass(frozen=True)
class Universe:
    """The layers from which mutation draws, and its limits."""

    arguments: LayerArguments
    """Values of the layers' arguments."""
    max_size: Size | None = None
    """Maximum size of a mutant; None for no limit."""
    excluded_layers: frozenset[str] = frozenset()
    """Canonical public names of layers that are not drawn any more."""
    draw_counts: Mapping[str, int] = field(default_factory=dict, compare=False)
    """Number of draws, by `draw_name` or an activation's public name; the level updates it."""
    repertoire: Repertoire = field(default_factory=Repertoire, compare=False)
    """Chains that were inserted before; the level updates it."""
    repeat_probability: float = 0.0
    """Probability that a chain of the repertoire is inserted instead of a new one."""

    @classmethod
    def of(cls, records: Iterable[ApiRecord] = ()) -> Universe:
        """Return the universe of a library by its records; without records, it has all layers."""
        return cls(LayerArguments(records))

    def with_size_limit(self, limit: Size) -> Universe:
        """Return the same universe with a size limit."""
        return replace(self, max_size=limit)

    def with_exclusions(self, layers: Iterable[str]) -> Universe:
        """Return the same universe without some layers, given by public names."""
        return replace(
            self, excluded_layers=self.excluded_layers | {canonical_name(layer) for layer in layers}
        )

    @cached_property
    def kinds(self) -> tuple[LayerKind, ...]:
        """Layers that the library has and that are not excluded."""
        return tuple(filter(self.has, KINDS))

    def has(self, kind: LayerKind) -> bool:
        """Return whether the library has a layer that is not excluded."""
        return kind.public not in self.excluded_layers and self.arguments.knows(kind.public)

    # --- layers ---------------------------------------------------------------------------------

    def kind(self, node: LayerNode) -> LayerKind | None:
        """Return the description of a node's layer; None if the layer is not described."""
        return kind_of(node)

    def has_all(self, graph: LayerGraph) -> bool:
        """Return whether the library has every layer of a graph, and none is excluded."""
        kinds = [self.kind(node) for node in graph.nodes if node.layer != INPUT]
        return all(kind is not None and self.has(kind) for kind in kinds)

    def choose(
        self, rng: random.Random, kinds: Sequence[LayerKind], *, keeps_shape: bool
    ) -> LayerKind:
        """Choose one of several layers, with a strong preference for rarely drawn ones.

        Args:
            rng: the source of randomness.
            kinds: the layers to choose from.
            keeps_shape: True if the layer must keep the shape, see `draw_count`.
        """
        return self._choose_rare(
            rng, kinds, [self.draw_count(kind, keeps_shape=keeps_shape) for kind in kinds]
        )

    def draw_count(self, kind: LayerKind, *, keeps_shape: bool) -> int:
        """Return the number of draws of a layer, either to keep the shape or to change it.

        A pool with stride 1 and a pool that halves an image are different tests, so their draws are
        counted separately. One draw is added for a layer that was drawn in either way, so that new
        layers come first.
        """
        count = self.draw_counts.get(draw_name(kind, keeps_shape=keeps_shape), 0)
        return (
            count + 1
            if count or self.draw_counts.get(draw_name(kind, keeps_shape=not keeps_shape))
            else 0
        )

    def choose_activation(self, rng: random.Random, names: Sequence[str]) -> str:
        """Choose one of several activations, with a strong preference for rarely drawn ones."""
        draw_counts = [self.draw_counts.get(f"{ACTIVATIONS}{name}", 0) for name in names]
        return self._choose_rare(rng, names, draw_counts)

    def _choose_rare(
        self, rng: random.Random, options: Sequence[T], draw_counts: Sequence[int]
    ) -> T:
        return rng.choices(options, [(1 + count) ** -_RARITY_EXPONENT for count in draw_counts])[0]

    def draw(
        self, rng: random.Random, kind: LayerKind, place: LayerPlace
    ) -> tuple[Config, Shape] | None:
        """Draw the arguments of a layer for a place.

        Returns:
            The arguments and the output's shape; None if they do not fit the place.
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
        if shape is None or 0 in shape or (place.keeps_shape and shape != place.shapes[0]):
            return None
        return config, shape

    # --- graphs ---------------------------------------------------------------------------------

    def is_consistent(self, graph: LayerGraph) -> bool:
        """Return whether each described layer of a graph returns the shape that its node has."""
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
        """Return the approximate number of a node's weights; 0 if its layer is not described."""
        kind = self.kind(node)
        return 0 if kind is None else kind.weights(dict(node.config), shapes)

    def size(self, graph: LayerGraph) -> Size:
        """Return the approximate size of a graph."""
        nodes = {node.name: node for node in graph.nodes}
        total = Size()
        for node in graph.nodes:
            shapes = tuple(nodes[name].shape for name in node.inputs)
            kind = None if node.layer == INPUT else self.kind(node)
            scratch_elements = kind.scratch_elements(dict(node.config), shapes) if kind else 0
            weights = 0 if node.shares else self.weights(node, shapes)
            total += Size(elements(node.shape) + scratch_elements, weights)
        return total

    def is_random(self, graph: LayerGraph) -> bool:
        """Return whether a graph may be random in training."""
        return any(self._may_be_random(node) for node in graph.nodes if node.layer != INPUT)

    def _may_be_random(self, node: LayerNode) -> bool:
        kind = self.kind(node)
        return kind is None or kind.is_random

    def allows(self, graph: LayerGraph) -> bool:
        """Return whether a graph is within the size limit."""
        return self.max_size is None or self.size(graph).fits(self.max_size)

    def layers_accepting(self, element_type: Elements) -> tuple[LayerKind, ...]:
        """Return the layers that accept inputs with elements of a type."""
        return tuple(kind for kind in self.kinds if kind.input_elements is element_type)


def short_name(layer: str) -> str:
    """Return a layer's public name without its module."""
    return layer.removeprefix(PUBLIC)
