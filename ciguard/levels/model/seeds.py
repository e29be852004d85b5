"""Seed models, parsed from descriptions by a target, which are not trusted."""

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
    from ciguard.levels.model.seed_sources import SeedSource

_MAX_NODES = 20_000
_MAX_ELEMENTS = 1 << 31
_LAYER = re.compile(r"keras\.layers\.[A-Za-z0-9]{1,80}")
_NODE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,119}")
_DTYPE = re.compile(r"bool|bfloat16|u?int(?:8|16|32|64)|float(?:16|32|64)")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputDescription:
    """Description of one input of a model."""

    kind: SampleKind | None
    """Kind of data for which the model was written; None if its script does not declare it."""
    shape: Shape
    """Shape without the batch dimension."""
    dtype: str
    """Type of the elements."""
    below: int = 0
    """Exclusive upper bound of integers that index the rows of a table; 0 if there is no table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedModel:
    """A model from which mutants are derived."""

    name: str
    """Name as the user wrote it."""
    graph: LayerGraph
    """Layer graph of the model."""
    data: tuple[InputDescription, ...]
    """Inputs of the model, in the order of `graph.inputs`."""
    label_shape: Shape
    """Shape of the first output, and of its expected value, without the batch dimension."""
    classes: int
    """Number of classes of the first output; 0 for a regression."""


def read_seed_model(source: SeedSource, record: dict[str, Any]) -> SeedModel:
    """Parse a target's description of a seed model.

    Args:
        source: the source of the seed model.
        record: a record of `execution.Dispatcher.models`; the user's code may have influenced it.

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


def _seed_model(source: SeedSource, record: Untrusted) -> SeedModel:
    graph = graph_from_json(record.value("graph", dict))
    if len(graph.nodes) > _MAX_NODES:
        msg = f"its graph has {len(graph.nodes):,} nodes; the maximum is {_MAX_NODES:,}"
        raise ValueError(msg)
    for node in graph.nodes:
        _check_node(node, source)
    inputs = record.rows("data", _parse_input)
    if [(item.shape, item.dtype) for item in inputs] != [(n.shape, n.dtype) for n in graph.inputs]:
        msg = "the shapes or types of its data differ from those of its graph's inputs"
        raise ValueError(msg)
    label_shape = _parse_shape(record, "truth")
    if label_shape != graph.node(graph.outputs[0]).shape:
        msg = "the shape of its labels differs from the shape of its first output"
        raise ValueError(msg)
    return SeedModel(
        name=source.name,
        graph=_without_paths(graph, source),
        data=inputs,
        label_shape=label_shape,
        classes=record.count("classes"),
    )


def _without_paths(graph: LayerGraph, source: SeedSource) -> LayerGraph:
    """Return the graph with paths of weight files as the user wrote them, not absolute ones."""
    (folder,) = source.weight_folders or ("",)
    nodes = tuple(
        replace(
            node, weights=replace(node.weights, file=f"{folder}/{Path(node.weights.file).name}")
        )
        if node.weights.file
        else node
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)


def _check_node(node: LayerNode, source: SeedSource) -> None:
    """Raise an error for a node that an adapter would not write.

    Raises:
        ValueError: if a part of the node is invalid; the message names the node.
    """
    faults = [
        not _NODE.fullmatch(node.name),
        node.layer != INPUT and not _LAYER.fullmatch(node.layer),
        not _DTYPE.fullmatch(node.dtype),
        not _is_bounded(node.shape),
        node.weights.file != "" and not source.may_read_weights(node.weights.file),
        (node.layer == INPUT) != (not node.inputs),
    ]
    if any(faults):
        msg = f"node {node.name!r:.120} ({node.layer!r:.120}) of its graph is invalid"
        raise ValueError(msg)


def _is_bounded(shape: Shape) -> bool:
    return all(size > 0 for size in shape) and math.prod(shape) <= _MAX_ELEMENTS


def _parse_input(record: Untrusted) -> InputDescription:
    kind = record.text("kind")
    if kind and kind not in set(SampleKind):
        known = ", ".join(SampleKind)
        msg = f"its script sets DATA = {kind!r}, which is not a known kind of data. Known: {known}"
        raise ValueError(msg)
    return InputDescription(
        kind=SampleKind(kind) if kind else None,
        shape=_parse_shape(record, "shape"),
        dtype=record.text("dtype"),
        below=record.count("below"),
    )


def _parse_shape(record: Untrusted, key: str) -> Shape:
    sizes = record.value(key, list)
    if not all(type(size) is int for size in sizes) or not _is_bounded(tuple(sizes)):
        msg = f"{key!r} is not a valid shape"
        raise ValueError(msg)
    return tuple(sizes)
