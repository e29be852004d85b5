"""Repertoire: chains of layers that were inserted before and can be inserted elsewhere."""

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

_MAX_CHAINS = 64
"""Maximum number of chains for a shape, of one layer or of several; the oldest are dropped."""
_SOURCE = "source"


class Repertoire:
    """Collection of chains whose mutants ran, so that backends have compiled their layers.

    A chain is a graph with one input and one output of the same shape.
    """

    def __init__(self) -> None:
        self._chains: dict[tuple[Shape, bool], deque[LayerGraph]] = defaultdict(
            lambda: deque(maxlen=_MAX_CHAINS)
        )

    def learn(self, chain: LayerGraph) -> None:
        """Add a chain, unless the repertoire has it."""
        first, *layers = chain.nodes
        chains = self._chains[first.shape, len(layers) > 1]
        if chain not in chains:
            chains.append(chain)

    def choose(self, rng: random.Random, shape: Shape, *, is_bundle: bool) -> LayerGraph | None:
        """Choose a chain for a tensor of a shape; None if the repertoire has none.

        Args:
            rng: the source of randomness.
            shape: the shape of the tensor.
            is_bundle: True for a chain of several layers, False for a single layer.
        """
        chains = self._chains.get((shape, is_bundle))
        return rng.choice(chains) if chains else None


def as_chain(source: LayerNode, nodes: Sequence[LayerNode]) -> LayerGraph:
    """Return inserted nodes as a separate graph.

    Inputs from other nodes, which have the source's shape, are replaced by the source. Names and
    weights are normalised, so that equal layers give equal graphs.

    Args:
        source: the node after which the nodes were inserted.
        nodes: the inserted nodes.
    """
    first = LayerNode(name=_SOURCE, layer=INPUT, shape=source.shape, dtype=source.dtype)
    attached = _renamed_nodes(_SOURCE, nodes, taken=())
    layers = [replace(node, weights=Weights(seed=0)) for node in attached]
    return LayerGraph(nodes=(first, *layers), outputs=(layers[-1].name,))


def attach_chain(
    chain: LayerGraph, rng: random.Random, source: str, taken: Iterable[str]
) -> tuple[LayerNode, ...]:
    """Return the layers of a chain for insertion after a node, with unused names and new weights.

    Args:
        chain: the chain.
        rng: the source of randomness for weights.
        source: the name of the node.
        taken: the names of nodes that are in use.
    """
    return tuple(
        replace(node, weights=Weights(seed=rng.getrandbits(SEED_BITS)))
        for node in _renamed_nodes(source, chain.nodes[1:], taken)
    )


def _renamed_nodes(
    source: str, nodes: Sequence[LayerNode], taken: Iterable[str]
) -> list[LayerNode]:
    """Return nodes with unused names; inputs from other nodes are replaced by the source."""
    names: dict[str, str] = {}
    used = {source, *taken}
    attached = []
    for node in nodes:
        inputs = tuple(names.get(name, source) for name in node.inputs)
        names[node.name] = name = free_name(used, node.layer)
        used.add(name)
        attached.append(replace(node, name=name, inputs=inputs))
    return attached
