"""Chains of layers that were inserted before, to be inserted elsewhere again."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.models import INPUT, LayerGraph, LayerNode, Weights
from ciguard.levels.model.edits import SEED_BITS, free_name

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Sequence

    from ciguard.domain.models import Shape

_KEPT = 64
"""Chains of one kind for one shape; the oldest go."""
_SOURCE = "source"


class Repertoire:
    """What backends have compiled for a shape: chains that keep it, whose mutants have run.

    A chain is a graph of one input and one output of the same shape.
    """

    def __init__(self) -> None:
        self._chains: dict[tuple[Shape, bool], deque[LayerGraph]] = defaultdict(
            lambda: deque(maxlen=_KEPT)
        )

    def learn(self, chain: LayerGraph) -> None:
        """Take a chain, if it is not known yet."""
        first, *layers = chain.nodes
        known = self._chains[first.shape, len(layers) > 1]
        if chain not in known:
            known.append(chain)

    def choose(self, rng: random.Random, shape: Shape, *, is_bundle: bool) -> LayerGraph | None:
        """Return a chain for a shape, of several layers or of one; None if none is known."""
        known = self._chains.get((shape, is_bundle))
        return rng.choice(known) if known else None


def as_chain(source: LayerNode, nodes: Sequence[LayerNode]) -> LayerGraph:
    """Return nodes that were inserted behind another as a graph of its own.

    What they took from elsewhere, which has the source's shape, they take from the source. Names
    and weights are no part of it, so that the same layers make the same graph.
    """
    first = LayerNode(name=_SOURCE, layer=INPUT, shape=source.shape, dtype=source.dtype)
    alone = _behind(_SOURCE, nodes, taken=())
    layers = [replace(node, weights=Weights(seed=0)) for node in alone]
    return LayerGraph(nodes=(first, *layers), outputs=(layers[-1].name,))


def renewed(
    chain: LayerGraph, rng: random.Random, source: str, taken: Iterable[str]
) -> tuple[LayerNode, ...]:
    """Return a chain's layers behind another source, with free names and fresh weights."""
    return tuple(
        replace(node, weights=Weights(seed=rng.getrandbits(SEED_BITS)))
        for node in _behind(source, chain.nodes[1:], taken)
    )


def _behind(source: str, nodes: Sequence[LayerNode], taken: Iterable[str]) -> list[LayerNode]:
    """Return nodes with free names; what is not their own, they take from the source."""
    names: dict[str, str] = {}
    known = {source, *taken}
    found = []
    for node in nodes:
        inputs = tuple(names.get(each, source) for each in node.inputs)
        names[node.name] = name = free_name(known, node.layer)
        known.add(name)
        found.append(replace(node, name=name, inputs=inputs))
    return found
