"""LA, MLA: layers of the universe are inserted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.model.bundles import Chain
from ciguard.levels.model.edits import Edge, edges, inserted, protected
from ciguard.levels.model.layers import Elements
from ciguard.levels.model.repertoire import as_chain, renewed
from ciguard.levels.model.rules.contract import ModelMutation
from ciguard.levels.model.universe import short

if TYPE_CHECKING:
    import random

    from ciguard.domain.models import LayerGraph, LayerNode, Shape
    from ciguard.levels.model.bundles import Unfit
    from ciguard.levels.model.layers import LayerKind
    from ciguard.levels.model.universe import Universe

_TRIES = 96
"""Draws of an edge and a layer; a graph that takes none of so many has hardly room for one."""
_COMPARED = 3
"""Edges of which new layers go to the one that takes the least used layer."""
_NONE_FITS = 1 << 30
_MAX_AT_ONCE = 3
"""Chains that one mutation inserts: most of what a mutant costs is the model around them."""
_BRANCHED = 0.5
"""How often a layer of several inputs gets a branch: one tensor twice says little of it."""
_FROM_ELSEWHERE = 0.75
"""How often a further input is another tensor than the first, where there is one."""
_OF_HIGHER_RANK = 0.25
"""How often a bundle begins with dimensions more: no model has those that some layers take."""


def add(graph: LayerGraph, rng: random.Random, universe: Universe) -> ModelMutation | None:
    """LA: insert a layer that keeps the shape on an edge, and perhaps others on others."""
    return _several(graph, rng, universe, _one_layer)


def add_many(graph: LayerGraph, rng: random.Random, universe: Universe) -> ModelMutation | None:
    """MLA: insert a layer that changes the shape, and what restores it; perhaps more than once."""
    return _several(graph, rng, universe, _bundle)


def _several(
    graph: LayerGraph, rng: random.Random, universe: Universe, extend: _Extend
) -> ModelMutation | None:
    """Insert a chain, and perhaps others into what came of it."""
    made: list[ModelMutation] = []
    for _ in range(rng.randint(1, _MAX_AT_ONCE)):
        more = _tried(made[-1].graph if made else graph, rng, universe, extend)
        if more is None:
            break
        made.append(more)
    if not made:
        return None
    return ModelMutation(
        made[-1].graph,
        "; ".join(one.what for one in made),
        drawn=tuple(name for one in made for name in one.drawn),
        chains=tuple(chain for one in made for chain in one.chains),
    )


def _tried(
    graph: LayerGraph, rng: random.Random, universe: Universe, extend: _Extend
) -> ModelMutation | None:
    """Insert a chain on one edge after another until one suits and is within the bound."""
    places = _by_rank(graph)
    repeats = rng.random() < universe.repeats
    taken = {node.name for node in graph.nodes}
    unfit: Unfit = set()
    for _ in range(_TRIES if places else 0):
        some = [rng.choice(rng.choice(places)) for _ in range(1 if repeats else _COMPARED)]
        edge = min(some, key=lambda edge: _fewest_uses(graph, edge, universe, unfit, extend))
        source = graph.node(edge.source)
        chain = Chain(rng, universe, source.name, source.shape, set(taken), [], unfit=unfit)
        nodes = _repeated(graph, edge, rng, universe, extend) if repeats else ()
        nodes = nodes or _new(chain, graph, edge, extend)
        mutant = inserted(graph, edge, nodes) if nodes else None
        if mutant is not None and universe.allows(mutant):
            layers = ", ".join(short(node.layer) for node in nodes)
            return ModelMutation(
                mutant,
                f"{edge.source} → {edge.target}: {layers}",
                drawn=tuple(chain.drawn),
                chains=(as_chain(source, nodes),),
            )
    return None


def _new(chain: Chain, graph: LayerGraph, edge: Edge, extend: _Extend) -> tuple[LayerNode, ...]:
    """Return layers drawn for an edge; none if the draw does not suit it."""
    wanted = chain.shape
    suits = extend(chain, graph, edge) and chain.shape == wanted
    return tuple(chain.nodes) if suits else ()


def _repeated(
    graph: LayerGraph, edge: Edge, rng: random.Random, universe: Universe, extend: _Extend
) -> tuple[LayerNode, ...]:
    """Return layers that were inserted before for an edge; none if none are known."""
    shape = graph.node(edge.source).shape
    chain = universe.repertoire.choose(rng, shape, is_bundle=extend is _bundle)
    if chain is None or not universe.has_all(chain):
        return ()
    return renewed(chain, rng, edge.source, (node.name for node in graph.nodes))


def _by_rank(graph: LayerGraph) -> list[list[Edge]]:
    """Return the edges that floats go along, of each rank.

    Those of images are few, and most layers take images.
    """
    found: dict[int, list[Edge]] = {}
    for edge in edges(graph):
        if _is_float(graph, edge):
            found.setdefault(len(graph.node(edge.source).shape), []).append(edge)
    return list(found.values())


def _is_float(graph: LayerGraph, edge: Edge) -> bool:
    return graph.node(edge.source).dtype == Elements.FLOATS.value


def _fewest_uses(
    graph: LayerGraph, edge: Edge, universe: Universe, unfit: Unfit, extend: _Extend
) -> int:
    """Return how often the layer was drawn that was drawn least of those that an edge takes."""
    shape = graph.node(edge.source).shape
    kinds = _taking(universe, Elements.FLOATS, shape, unfit)
    return min(
        (universe.uses_of(kind, keeps=extend is _one_layer) for kind in kinds), default=_NONE_FITS
    )


def _suitable(chain: Chain, held: Elements) -> list[LayerKind]:
    """Return the layers that take the end of a chain, or several like it."""
    return _taking(chain.universe, held, chain.shape, chain.unfit)


def _taking(universe: Universe, held: Elements, shape: Shape, unfit: Unfit) -> list[LayerKind]:
    return [
        kind
        for kind in universe.taking(held)
        if kind.fits((shape,) * kind.inputs[0]) and (shape, kind.public) not in unfit
    ]


def _others(chain: Chain, graph: LayerGraph, edge: Edge, kind: LayerKind) -> tuple[str, ...]:
    """Draw the further inputs of a layer that takes several.

    They are what a branch goes around, which begins here; or come from before the edge's target
    and are no output of a protected layer; or are the same tensor once more.
    """
    fewest, most = kind.inputs
    count = _count(chain.rng, fewest, most) - 1
    if not count:
        return ()
    fork = chain.end
    others = [fork] if chain.rng.random() < _BRANCHED and _branched(chain) else []
    others += [name for name in _alike(chain, graph, edge) if name != fork]
    return tuple(
        chain.rng.choice(others) if others and chain.rng.random() < _FROM_ELSEWHERE else chain.end
        for _ in range(count)
    )


def _branched(chain: Chain) -> bool:
    """Append a layer that keeps the shape; return whether one was found."""
    kinds = [kind for kind in _suitable(chain, Elements.FLOATS) if kind.inputs[0] == 1]
    return bool(kinds) and chain.draw(
        chain.universe.choose(chain.rng, kinds, keeps=True), keeps=True
    )


def _alike(chain: Chain, graph: LayerGraph, edge: Edge) -> list[str]:
    """Return what comes before an edge's target and could be an input beside the chain's end."""
    behind = protected(graph) - {node.name for node in graph.inputs}
    names = [node.name for node in graph.nodes]
    return [
        node.name
        for node in graph.nodes[: names.index(edge.target)]
        if node.shape == chain.shape
        and node.dtype == Elements.FLOATS.value
        and node.name not in behind
    ]


def _count(rng: random.Random, fewest: int, most: int) -> int:
    """Draw how many inputs a layer gets: rarely more than one above the fewest."""
    return rng.randint(fewest, min(most, fewest + 1))


def _one_layer(chain: Chain, graph: LayerGraph, edge: Edge) -> bool:
    return _led(chain, graph, edge, keeps=True)


def _bundle(chain: Chain, graph: LayerGraph, edge: Edge) -> bool:
    wanted = chain.shape
    if chain.rng.random() < _OF_HIGHER_RANK and not chain.unfold():
        return False
    return _led(chain, graph, edge, keeps=False) and chain.restore(wanted)


def _led(chain: Chain, graph: LayerGraph, edge: Edge, *, keeps: bool) -> bool:
    """Append the layer that all is about, and what makes numbers of its tokens.

    It is the one that was drawn least of those that suit; one that does not is not tried again.
    """
    wanted = graph.node(edge.source).shape
    kinds = _suitable(chain, Elements.FLOATS)
    if not kinds:
        return False
    kind, shape = chain.universe.choose(chain.rng, kinds, keeps=keeps), chain.shape
    is_done = chain.draw(kind, *_others(chain, graph, edge, kind), keeps=keeps)
    if is_done and kind.gives is Elements.TOKENS:
        takers = _suitable(chain, Elements.TOKENS)
        is_done = bool(takers) and chain.draw(chain.universe.choose(chain.rng, takers, keeps=False))
    elif is_done and not keeps:
        is_done = chain.shape != wanted
    if not is_done:
        chain.unfit.add((shape, kind.public))
    return is_done


if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    _Extend: TypeAlias = Callable[[Chain, LayerGraph, Edge], bool]
