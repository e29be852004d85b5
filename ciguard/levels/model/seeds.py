"""Seed models: what a target says of them, read with care."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.domain.models import INPUT, LayerGraph, LayerNode, SampleKind, Shape, graph_from_json
from ciguard.domain.text import visible
from ciguard.domain.untrusted import Untrusted
from ciguard.errors import SeedModelError

if TYPE_CHECKING:
    from ciguard.levels.model.seed_sources import Source

_MAX_NODES = 20_000
_MAX_ELEMENTS = 1 << 31
_LAYER = re.compile(r"keras\.layers\.[A-Za-z0-9]{1,80}")
_NODE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,119}")
_DTYPE = re.compile(r"bool|bfloat16|u?int(?:8|16|32|64)|float(?:16|32|64)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """What one input of a model takes."""

    kind: SampleKind | None
    """The data that it was written for; None when its author does not say."""
    shape: Shape
    dtype: str
    below: int = 0
    """How many rows the table has that its numbers are looked up in; 0 when there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedModel:
    """A model that mutation begins with."""

    name: str
    """As the user names it."""
    graph: LayerGraph
    data: tuple[Feed, ...]
    """In the order of `graph.inputs`."""
    truth: Shape
    """Of the first output."""
    classes: int
    """How many classes the first output tells apart; 0 for a regression."""


def read_seed_model(source: Source, record: dict[str, Any]) -> SeedModel:
    """Read what a target says of a seed model.

    Args:
        source: what it was asked for.
        record: one of `execution.Dispatcher.models`; code of a user may have written it.

    Raises:
        SeedModelError: if the model could not be described, or the record is damaged.
    """
    if "error" in record:
        msg = f"seed model {visible(source.name)}: {visible(str(record['error']), limit=1000)}"
        raise SeedModelError(msg)
    try:
        return _seed_model(source, Untrusted(record, "its description"))
    except (ValueError, OverflowError, RecursionError) as error:
        msg = f"seed model {visible(source.name)}: {visible(str(error), limit=1000)}"
        raise SeedModelError(msg) from error


def _seed_model(source: Source, read: Untrusted) -> SeedModel:
    graph = graph_from_json(read.of("graph", dict))
    if len(graph.nodes) > _MAX_NODES:
        msg = f"it has {len(graph.nodes)} nodes, more than {_MAX_NODES}"
        raise ValueError(msg)
    for node in graph.nodes:
        _check(node, source)
    feeds = read.rows("data", _feed)
    if [(feed.shape, feed.dtype) for feed in feeds] != [(n.shape, n.dtype) for n in graph.inputs]:
        msg = "its data do not fit the inputs of its graph"
        raise ValueError(msg)
    truth = _shape(read, "truth")
    if truth != graph.node(graph.outputs[0]).shape:
        msg = "the shape of its truth is not that of its first output"
        raise ValueError(msg)
    return SeedModel(
        name=source.name,
        graph=_without_paths(graph, source),
        data=feeds,
        truth=truth,
        classes=read.count("classes"),
    )


def _without_paths(graph: LayerGraph, source: Source) -> LayerGraph:
    """Name files with weights as the user does: where they are on this machine is nobody's."""
    (folder,) = source.weights_in or ("",)
    nodes = tuple(
        replace(
            node, weights=replace(node.weights, file=f"{folder}/{Path(node.weights.file).name}")
        )
        if node.weights.file
        else node
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)


def _check(node: LayerNode, source: Source) -> None:
    """Refuse a node that no adapter writes.

    Raises:
        ValueError: naming the node.
    """
    wrong = [
        not _NODE.fullmatch(node.name),
        node.layer != INPUT and not _LAYER.fullmatch(node.layer),
        not _DTYPE.fullmatch(node.dtype),
        not _is_bounded(node.shape),
        node.weights.file != "" and not source.owns(node.weights.file),
        (node.layer == INPUT) != (not node.inputs),
    ]
    if any(wrong):
        msg = f"its node {node.name!r:.120} ({node.layer!r:.120}) is none that could be asked for"
        raise ValueError(msg)


def _is_bounded(shape: Shape) -> bool:
    return all(size > 0 for size in shape) and math.prod(shape) <= _MAX_ELEMENTS


def _feed(read: Untrusted) -> Feed:
    kind = read.text("kind")
    if kind and kind not in set(SampleKind):
        known = ", ".join(SampleKind)
        msg = f"DATA = {kind!r} of its script is no kind of data. Known: {known}"
        raise ValueError(msg)
    return Feed(
        kind=SampleKind(kind) if kind else None,
        shape=_shape(read, "shape"),
        dtype=read.text("dtype"),
        below=read.count("below"),
    )


def _shape(read: Untrusted, key: str) -> Shape:
    sizes = read.of(key, list)
    if not all(type(size) is int for size in sizes) or not _is_bounded(tuple(sizes)):
        msg = f"{key!r} is no shape"
        raise ValueError(msg)
    return tuple(sizes)
