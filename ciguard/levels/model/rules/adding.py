"""Mutation rules LA and MLA: insertion of layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.model.bundles import Chain
from ciguard.levels.model.edits import Edge, edges, insert_chain, protected_nodes
from ciguard.levels.model.layers import Elements
from ciguard.levels.model.repertoire import as_chain, attach_chain
from ciguard.levels.model.rules.contract import ModelMutation
from ciguard.levels.model.universe import short_name

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import LayerGraph, LayerNode, Shape
    from ciguard.levels.model.bundles import Unfit
    from ciguard.levels.model.layers import LayerKind
    from ciguard.levels.model.universe import Universe

_MAX_ATTEMPTS = 96
"""Maximum number of draws of an edge and a layer; after that, a graph counts as full."""
_EDGES_COMPARED = 3
"""Number of edges to compare; a new layer is inserted on the one that accepts the rarest layer."""
_NO_LAYER_FITS = 1 << 30
"""Number of draws that stands for an edge that accepts no layer."""
_MAX_CHAINS = 3
"""Maximum number of chains that one mutation inserts; several cost little more than one, since most
of a mutant's cost is the model around them."""
_BRANCH_PROBABILITY = 0.5
"""Probability that a layer with several inputs gets a branch; the same tensor twice would be a weak
test."""
_OTHER_TENSOR_PROBABILITY = 0.75
"""Probability that a further input is another tensor than the first input, if possible."""
_UNFOLD_PROBABILITY = 0.25
"""Probability that a bundle first adds dimensions, since some layers need ranks that no model
has."""


def add(graph: LayerGraph, rng: random.Random, universe: Universe) -> ModelMutation | None:
    """Apply LA: insert layers that keep the shape on one or more edges."""
    return _insert_chains(graph, rng, universe, _extend_by_layer)


def add_many(graph: LayerGraph, rng: random.Random, universe: Universe) -> ModelMutation | None:
    """Apply MLA: insert layers that change the shape and layers that restore it."""
    return _insert_chains(graph, rng, universe, _extend_by_bundle)


def _insert_chains(
    graph: LayerGraph, rng: random.Random, universe: Universe, extend: _Extension
) -> ModelMutation | None:
    """Insert one or more chains, each into the result of the previous insertion.

    Args:
        graph: the graph to mutate.
        rng: the source of randomness.
        universe: the layers that may be inserted.
        extend: the function that appends layers to a chain.

    Returns:
        The mutant; None if no chain fits.
    """
    mutations: list[ModelMutation] = []
    for _ in range(rng.randint(1, _MAX_CHAINS)):
        current = mutations[-1].graph if mutations else graph
        mutation = _insert_chain(current, rng, universe, extend)
        if mutation is None:
            break
        mutations.append(mutation)
    if not mutations:
        return None
    return ModelMutation(
        mutations[-1].graph,
        "; ".join(mutation.description for mutation in mutations),
        drawn=tuple(name for mutation in mutations for name in mutation.drawn),
        chains=tuple(chain for mutation in mutations for chain in mutation.chains),
    )


def _insert_chain(
    graph: LayerGraph, rng: random.Random, universe: Universe, extend: _Extension
) -> ModelMutation | None:
    """Insert a chain on an edge, within the size limit; return None if that fails."""
    edge_groups = _edges_by_rank(graph)
    repeats = rng.random() < universe.repeat_probability
    taken = {node.name for node in graph.nodes}
    unfit: Unfit = set()
    for _ in range(_MAX_ATTEMPTS if edge_groups else 0):
        candidates = [
            rng.choice(rng.choice(edge_groups)) for _ in range(1 if repeats else _EDGES_COMPARED)
        ]
        edge = min(candidates, key=lambda edge: _fewest_draws(graph, edge, universe, unfit, extend))
        source = graph.node(edge.source)
        chain = Chain(rng, universe, source.name, source.shape, set(taken), [], unfit=unfit)
        nodes = _repertoire_chain(graph, edge, rng, universe, extend) if repeats else ()
        nodes = nodes or _new_chain(chain, graph, edge, extend)
        mutant = insert_chain(graph, edge, nodes) if nodes else None
        if mutant is not None and universe.allows(mutant):
            layers = ", ".join(short_name(node.layer) for node in nodes)
            return ModelMutation(
                mutant,
                f"{edge.source} → {edge.target}: {layers}",
                drawn=tuple(chain.drawn),
                chains=(as_chain(source, nodes),),
            )
    return None


def _new_chain(
    chain: Chain, graph: LayerGraph, edge: Edge, extend: _Extension
) -> tuple[LayerNode, ...]:
    """Return newly drawn layers for an edge; empty if they do not fit."""
    original_shape = chain.shape
    fits = extend(chain, graph, edge) and chain.shape == original_shape
    return tuple(chain.nodes) if fits else ()


def _repertoire_chain(
    graph: LayerGraph, edge: Edge, rng: random.Random, universe: Universe, extend: _Extension
) -> tuple[LayerNode, ...]:
    """Return layers from the repertoire for an edge; empty if the repertoire has none."""
    shape = graph.node(edge.source).shape
    chain = universe.repertoire.choose(rng, shape, is_bundle=extend is _extend_by_bundle)
    if chain is None or not universe.has_all(chain):
        return ()
    return attach_chain(chain, rng, edge.source, (node.name for node in graph.nodes))


def _edges_by_rank(graph: LayerGraph) -> list[list[Edge]]:
    """Return the edges with floating-point tensors, grouped by rank.

    Groups are chosen with equal probability: few edges have images, but most layers take images.
    """
    edges_of_rank: dict[int, list[Edge]] = {}
    for edge in edges(graph):
        if _carries_floats(graph, edge):
            edges_of_rank.setdefault(len(graph.node(edge.source).shape), []).append(edge)
    return list(edges_of_rank.values())


def _carries_floats(graph: LayerGraph, edge: Edge) -> bool:
    return graph.node(edge.source).dtype == Elements.FLOATS.value


def _fewest_draws(
    graph: LayerGraph, edge: Edge, universe: Universe, unfit: Unfit, extend: _Extension
) -> int:
    """Return the smallest number of draws of a layer that an edge accepts."""
    shape = graph.node(edge.source).shape
    kinds = _layers_for(universe, Elements.FLOATS, shape, unfit)
    return min(
        (universe.draw_count(kind, keeps_shape=extend is _extend_by_layer) for kind in kinds),
        default=_NO_LAYER_FITS,
    )


def _suitable_layers(chain: Chain, element_type: Elements) -> list[LayerKind]:
    """Return the layers that accept the last tensor of a chain, once or several times."""
    return _layers_for(chain.universe, element_type, chain.shape, chain.unfit)


def _layers_for(
    universe: Universe, element_type: Elements, shape: Shape, unfit: Unfit
) -> list[LayerKind]:
    return [
        kind
        for kind in universe.layers_accepting(element_type)
        if kind.fits((shape,) * kind.inputs[0]) and (shape, kind.public) not in unfit
    ]


def _further_inputs(
    chain: Chain, graph: LayerGraph, edge: Edge, kind: LayerKind
) -> tuple[str, ...]:
    """Draw the further inputs of a layer with several inputs; return the names of their nodes.

    Candidates are the start of a new branch, the first input again, and similar tensors of nodes
    before the edge's target that are not protected.
    """
    minimum, maximum = kind.inputs
    count = _input_count(chain.rng, minimum, maximum) - 1
    if not count:
        return ()
    fork = chain.end
    others = [fork] if chain.rng.random() < _BRANCH_PROBABILITY and _append_branch(chain) else []
    others += [name for name in _similar_tensors(chain, graph, edge) if name != fork]
    return tuple(
        chain.rng.choice(others)
        if others and chain.rng.random() < _OTHER_TENSOR_PROBABILITY
        else chain.end
        for _ in range(count)
    )


def _append_branch(chain: Chain) -> bool:
    """Append a layer that keeps the shape; return whether that succeeded."""
    kinds = [kind for kind in _suitable_layers(chain, Elements.FLOATS) if kind.inputs[0] == 1]
    return bool(kinds) and chain.draw(
        chain.universe.choose(chain.rng, kinds, keeps_shape=True), keeps_shape=True
    )


def _similar_tensors(chain: Chain, graph: LayerGraph, edge: Edge) -> list[str]:
    """Return the nodes before an edge's target whose tensors are like the last one of a chain."""
    protected_names = protected_nodes(graph) - {node.name for node in graph.inputs}
    names = [node.name for node in graph.nodes]
    return [
        node.name
        for node in graph.nodes[: names.index(edge.target)]
        if node.shape == chain.shape
        and node.dtype == Elements.FLOATS.value
        and node.name not in protected_names
    ]


def _input_count(rng: random.Random, minimum: int, maximum: int) -> int:
    """Draw the number of inputs of a layer: the minimum or one more."""
    return rng.randint(minimum, min(maximum, minimum + 1))


def _extend_by_layer(chain: Chain, graph: LayerGraph, edge: Edge) -> bool:
    return _append_main_layer(chain, graph, edge, keeps_shape=True)


def _extend_by_bundle(chain: Chain, graph: LayerGraph, edge: Edge) -> bool:
    original_shape = chain.shape
    if chain.rng.random() < _UNFOLD_PROBABILITY and not chain.unfold():
        return False
    return _append_main_layer(chain, graph, edge, keeps_shape=False) and chain.restore(
        original_shape
    )


def _append_main_layer(chain: Chain, graph: LayerGraph, edge: Edge, *, keeps_shape: bool) -> bool:
    """Append the layer that the mutation tests; return whether that succeeded.

    Rarely drawn layers are preferred, and a layer that fails is not attempted again. If the layer
    returns tokens, a layer that converts them to numbers follows.
    """
    original_shape = graph.node(edge.source).shape
    kinds = _suitable_layers(chain, Elements.FLOATS)
    if not kinds:
        return False
    kind, shape = chain.universe.choose(chain.rng, kinds, keeps_shape=keeps_shape), chain.shape
    succeeded = chain.draw(
        kind, *_further_inputs(chain, graph, edge, kind), keeps_shape=keeps_shape
    )
    if succeeded and kind.output_elements is Elements.TOKENS:
        consumers = _suitable_layers(chain, Elements.TOKENS)
        succeeded = bool(consumers) and chain.draw(
            chain.universe.choose(chain.rng, consumers, keeps_shape=False)
        )
    elif succeeded and not keeps_shape:
        succeeded = chain.shape != original_shape
    if not succeeded:
        chain.unfit.add((shape, kind.public))
    return succeeded


if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    _Extension: TypeAlias = Callable[[Chain, LayerGraph, Edge], bool]
