"""The universe: every layer that can stand in a graph, its shapes, its arguments, its size."""

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

_T = TypeVar("_T")
_OTHER_NAMES = (
    (re.compile(r"AvgPool(?=\dD)"), "AveragePooling"),
    (re.compile(r"MaxPool(?=\dD)"), "MaxPooling"),
    (re.compile(r"Convolution(?=\dD)"), "Conv"),
)
_BY_NAME = {kind.public: kind for kind in KINDS}
_CHANGING = " of another shape"
_OTHER_FORMAT = "channels_first"
_EAGERNESS = 8
"""How much more readily what was used less is chosen: what was used once, 256 times less than what
never was. Not never, since what suits may be refused for its size."""


@dataclass(frozen=True, slots=True)
class Size:
    """What a graph costs."""

    activations: int = 0
    """Elements that all layers compute for one sample, and about what they hold beside that."""
    weights: int = 0
    """About how many there are."""

    def fits(self, most: Size) -> bool:
        """Return whether it is within another."""
        return self.activations <= most.activations and self.weights <= most.weights

    def __add__(self, other: Size) -> Size:
        return Size(self.activations + other.activations, self.weights + other.weights)


GROWTH = 1.5
_FREE = Size(4096, 16384)


def bound(seed: Size) -> Size:
    """Return the most that a mutant of a model of this size may cost.

    1.5 times as much, and 4,096 elements and 16,384 weights more, so that the smallest models can
    grow too.
    """
    grown = Size(int(GROWTH * seed.activations), int(GROWTH * seed.weights))
    return grown + _FREE


def canonical(layer: str) -> str:
    """Return the public name of a layer's class for any of its public names."""
    for pattern, name in _OTHER_NAMES:
        layer = pattern.sub(name, layer)
    return layer


def drawing(kind: LayerKind, *, keeps: bool) -> str:
    """Return under which name it is counted that a layer is drawn."""
    return kind.public if keeps else f"{kind.public}{_CHANGING}"


@dataclass(frozen=True)
class Universe:
    """The layers that mutation draws from, and what may be made of them."""

    arguments: LayerArguments
    most: Size | None = None
    """No mutant may cost more; None for no bound."""
    left_out: frozenset[str] = frozenset()
    """Public names of layers that nothing is drawn of any more."""
    uses: Mapping[str, int] = field(default_factory=dict, compare=False)
    """What `drawing` says of a layer, or an activation's public name → how often it was drawn. Its
    owner keeps it up to date."""
    repertoire: Repertoire = field(default_factory=Repertoire, compare=False)
    """What was inserted before. Its owner teaches it."""
    repeats: float = 0.0
    """How often something of the repertoire is inserted, instead of something new."""

    @classmethod
    def of(cls, records: Iterable[ApiRecord] = ()) -> Universe:
        """Return the universe of the library that these records describe; of none, all layers."""
        return cls(LayerArguments(records))

    def within(self, most: Size) -> Universe:
        """Return the same universe with a bound."""
        return replace(self, most=most)

    def without(self, layers: Iterable[str]) -> Universe:
        """Return the same universe without some layers, by their public names."""
        return replace(self, left_out=self.left_out | {canonical(layer) for layer in layers})

    @cached_property
    def kinds(self) -> tuple[LayerKind, ...]:
        """The layers that the library has."""
        return tuple(filter(self.has, KINDS))

    def has(self, kind: LayerKind) -> bool:
        """Return whether the library has a layer, and it is not left out."""
        return kind.public not in self.left_out and self.arguments.knows(kind.public)

    # --- layers ---------------------------------------------------------------------------------

    def kind(self, node: LayerNode) -> LayerKind | None:
        """Return what is known of a node's layer; None for one from elsewhere."""
        kind = _BY_NAME.get(canonical(node.layer))
        return None if kind is None or node.config.get("data_format") == _OTHER_FORMAT else kind

    def has_all(self, graph: LayerGraph) -> bool:
        """Return whether the library has every layer of a graph, and none is left out."""
        kinds = [self.kind(node) for node in graph.nodes if node.layer != INPUT]
        return all(kind is not None and self.has(kind) for kind in kinds)

    def choose(self, rng: random.Random, kinds: Sequence[LayerKind], *, keeps: bool) -> LayerKind:
        """Choose one of some layers, by far the most readily one that was used least.

        Args:
            rng: what chance there is.
            kinds: of which one is chosen.
            keeps: whether it is to keep the shape, see `uses_of`.
        """
        return self._least_used(rng, kinds, [self.uses_of(kind, keeps=keeps) for kind in kinds])

    def uses_of(self, kind: LayerKind, *, keeps: bool) -> int:
        """Return how often a layer was used, to keep the shape or not.

        A pool that moves by one and a pool that halves an image are two things, and come up alike;
        but one more for what was used for either, so that what was never used at all comes first.
        """
        own = self.uses.get(drawing(kind, keeps=keeps), 0)
        return own + 1 if own or self.uses.get(drawing(kind, keeps=not keeps)) else 0

    def choose_activation(self, rng: random.Random, names: Sequence[str]) -> str:
        """Choose one of some activations, as a layer is chosen."""
        uses = [self.uses.get(f"{ACTIVATIONS}{name}", 0) for name in names]
        return self._least_used(rng, names, uses)

    def _least_used(self, rng: random.Random, what: Sequence[_T], uses: Sequence[int]) -> _T:
        return rng.choices(what, [(1 + each) ** -_EAGERNESS for each in uses])[0]

    def draw(
        self, rng: random.Random, kind: LayerKind, place: LayerPlace
    ) -> tuple[Config, Shape] | None:
        """Draw the arguments of a layer for a place.

        Returns:
            Them and the shape that comes out; None where the draw does not suit the place.
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
        """Return whether each layer, as far as known, makes the shape that its node says."""
        nodes = {node.name: node for node in graph.nodes}
        for node in graph.nodes:
            kind = self.kind(node)
            if kind is None:
                continue
            shapes = tuple(nodes[name].shape for name in node.inputs)
            fewest, most = kind.inputs
            if not fewest <= len(shapes) <= most:
                return False
            if kind.shape(dict(node.config), shapes) != node.shape:
                return False
        return True

    def weights(self, node: LayerNode, shapes: Shapes) -> int:
        """Return about how many weights a node has; 0 for an unknown layer."""
        kind = self.kind(node)
        return 0 if kind is None else kind.weights(dict(node.config), shapes)

    def size(self, graph: LayerGraph) -> Size:
        """Return what a graph costs."""
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
        """Return whether what a graph computes in training may be random."""
        return any(self._may_be_random(node) for node in graph.nodes if node.layer != INPUT)

    def _may_be_random(self, node: LayerNode) -> bool:
        kind = self.kind(node)
        return kind is None or kind.is_random

    def allows(self, graph: LayerGraph) -> bool:
        """Return whether a graph is within the bound."""
        return self.most is None or self.size(graph).fits(self.most)

    def taking(self, held: Elements) -> tuple[LayerKind, ...]:
        """Return the layers that take such elements."""
        return tuple(kind for kind in self.kinds if kind.takes is held)


def short(layer: str) -> str:
    """Return a layer's name without the package."""
    return layer.removeprefix(PUBLIC)
