"""Repertoire: layer chains that were inserted before and can be inserted elsewhere."""

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
"""Maximum number of chains of one kind for one shape; the oldest are dropped."""
_SOURCE = "source"


class Repertoire:
    """Chains that keep their shape and whose mutants ran, so that backends have compiled them.

    A chain is a graph of one input and one output of the same shape.
    """

    def __init__(self) -> None:
        self._chains: dict[tuple[Shape, bool], deque[LayerGraph]] = defaultdict(
            lambda: deque(maxlen=_MAX_CHAINS)
        )

    def learn(self, chain: LayerGraph) -> None:
        """Add a chain, unless it is known."""
        first, *layers = chain.nodes
        known = self._chains[first.shape, len(layers) > 1]
        if chain not in known:
            known.append(chain)

    def choose(self, rng: random.Random, shape: Shape, *, is_bundle: bool) -> LayerGraph | None:
        """Return a chain for a shape, of several layers or of one; None if none is known."""
        known = self._chains.get((shape, is_bundle))
        return rng.choice(known) if known else None


def as_chain(source: LayerNode, nodes: Sequence[LayerNode]) -> LayerGraph:
    """Return inserted nodes as a graph of its own.

    Inputs from elsewhere, which have the source's shape, are replaced by the source. Names and
    weights are normalised, so that the same layers give the same graph.
    """
    first = LayerNode(name=_SOURCE, layer=INPUT, shape=source.shape, dtype=source.dtype)
    attached = _attached(_SOURCE, nodes, taken=())
    layers = [replace(node, weights=Weights(seed=0)) for node in attached]
    return LayerGraph(nodes=(first, *layers), outputs=(layers[-1].name,))


def renewed(
    chain: LayerGraph, rng: random.Random, source: str, taken: Iterable[str]
) -> tuple[LayerNode, ...]:
    """Return a chain's layers after another source, with unused names and new weights."""
    return tuple(
        replace(node, weights=Weights(seed=rng.getrandbits(SEED_BITS)))
        for node in _attached(source, chain.nodes[1:], taken)
    )


def _attached(source: str, nodes: Sequence[LayerNode], taken: Iterable[str]) -> list[LayerNode]:
    """Return nodes with unused names; inputs that are not their own are replaced by the source."""
    names: dict[str, str] = {}
    used = {source, *taken}
    attached = []
    for node in nodes:
        inputs = tuple(names.get(name, source) for name in node.inputs)
        names[node.name] = name = free_name(used, node.layer)
        used.add(name)
        attached.append(replace(node, name=name, inputs=inputs))
    return attached
