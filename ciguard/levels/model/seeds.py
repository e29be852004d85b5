"""Seed models, parsed from a target's untrusted description."""

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
    """Description of one input of a model."""

    kind: SampleKind | None
    """Kind of data that the model was written for; None if its author does not declare it."""
    shape: Shape
    dtype: str
    below: int = 0
    """Number of rows of the table that its numbers index; 0 if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedModel:
    """A model that mutation starts from."""

    name: str
    """Name as the user wrote it."""
    graph: LayerGraph
    data: tuple[Feed, ...]
    """Inputs, in the order of `graph.inputs`."""
    truth: Shape
    """Shape of the first output."""
    classes: int
    """Number of classes of the first output; 0 for a regression."""


def read_seed_model(source: Source, record: dict[str, Any]) -> SeedModel:
    """Parse a target's description of a seed model.

    Args:
        source: the source of the seed model.
        record: a record of `execution.Dispatcher.models`; the user's code may have written it.

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


def _seed_model(source: Source, record: Untrusted) -> SeedModel:
    graph = graph_from_json(record.of("graph", dict))
    if len(graph.nodes) > _MAX_NODES:
        msg = f"it has {len(graph.nodes)} nodes, more than {_MAX_NODES}"
        raise ValueError(msg)
    for node in graph.nodes:
        _check_node(node, source)
    feeds = record.rows("data", _parse_feed)
    if [(feed.shape, feed.dtype) for feed in feeds] != [(n.shape, n.dtype) for n in graph.inputs]:
        msg = "its data do not match the inputs of its graph"
        raise ValueError(msg)
    truth = _parse_shape(record, "truth")
    if truth != graph.node(graph.outputs[0]).shape:
        msg = "the shape of its truth differs from that of its first output"
        raise ValueError(msg)
    return SeedModel(
        name=source.name,
        graph=_without_paths(graph, source),
        data=feeds,
        truth=truth,
        classes=record.count("classes"),
    )


def _without_paths(graph: LayerGraph, source: Source) -> LayerGraph:
    """Return the graph with weight files named as the user wrote them, not by local paths."""
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


def _check_node(node: LayerNode, source: Source) -> None:
    """Raise an error for a node that no adapter writes.

    Raises:
        ValueError: if a part of the node is invalid; the message names the node.
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
        msg = f"its node {node.name!r:.120} ({node.layer!r:.120}) is invalid"
        raise ValueError(msg)


def _is_bounded(shape: Shape) -> bool:
    return all(size > 0 for size in shape) and math.prod(shape) <= _MAX_ELEMENTS


def _parse_feed(record: Untrusted) -> Feed:
    kind = record.text("kind")
    if kind and kind not in set(SampleKind):
        known = ", ".join(SampleKind)
        msg = f"DATA = {kind!r} in its script is not a known kind of data. Known: {known}"
        raise ValueError(msg)
    return Feed(
        kind=SampleKind(kind) if kind else None,
        shape=_parse_shape(record, "shape"),
        dtype=record.text("dtype"),
        below=record.count("below"),
    )


def _parse_shape(record: Untrusted, key: str) -> Shape:
    sizes = record.of(key, list)
    if not all(type(size) is int for size in sizes) or not _is_bounded(tuple(sizes)):
        msg = f"{key!r} is not a valid shape"
        raise ValueError(msg)
    return tuple(sizes)
