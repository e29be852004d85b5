"""Layer graphs, and cases of level `model`: one run of one graph, as data.

A graph describes a `keras.Model`: layers with their constructor arguments, connected by name.
Weights are stored as a seed and mutations, so that a mutant of a large model takes a few kilobytes.
`execution.worker.layer_weights` computes the arrays, which are equal on all backends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ciguard.domain.case import CaseKind
from ciguard.domain.intent import Intent
from ciguard.domain.values import ArrayValue, Json, Value, value_from_json, value_to_json

if TYPE_CHECKING:
    from collections.abc import Mapping

INPUT = "keras.Input"
"""Layer name of a graph's input nodes, whose configuration is empty."""
MASKING = "keras.layers.Masking"
EMBEDDING = "keras.layers.Embedding"
ONE_LAYER = "layer"
"""Name of the node under test in a graph of one layer."""
MODEL = "model"
"""Second member of an encoded `ModelCase`, where an API call has its kind."""
_SAMPLE = "sample"
"""Tag of an encoded `DataSample`."""

Shape: TypeAlias = tuple[int, ...]
"""Shape without the batch dimension."""


class Check(StrEnum):
    """Results of a run that are compared. The value is the check's name in files."""

    PREDICT = "predict"
    """The model's outputs, and a sample of each layer's output."""
    TRAIN = "train"
    """Loss and gradients of one training step."""
    SAVE = "save"
    """The model's outputs before it is saved and after it is loaded again."""


class WeightRule(StrEnum):
    """Mutation of the weights of some neurons of a layer (the LEMON paper, section 3.2.2)."""

    GAUSSIAN_FUZZING = "GF"
    """Add noise N(0, (0.1 · standard deviation of the layer's weights)²)."""
    SHUFFLING = "WS"
    """Shuffle the weights of the connections to the previous layer."""
    INVERSE = "NAI"
    """Invert the sign of the activation function's input."""
    BLOCK = "NEB"
    """Set the weights of the connections to zero."""
    SWITCH = "NS"
    """Exchange two neurons."""


@dataclass(frozen=True, slots=True)
class WeightEdit:
    """One mutation of a layer's weights."""

    rule: WeightRule
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Instructions to compute a layer's weights."""

    seed: int = 0
    edits: tuple[WeightEdit, ...] = ()
    """Mutations, in order of application."""
    plain: bool = False
    """True for evenly spaced weights, which a script creates in one line. The seed and the
    mutations are then ignored."""
    file: str = ""
    """Path of a `.keras` or `.h5` file with the weights; empty to derive them from the seed."""
    stored: str = ""
    """Name of the layer in `file`: `layer`, or `model/layer` in a nested model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerNode:
    """One layer at one place of a graph."""

    name: str
    """Name of the node, unique in the graph and valid in Keras."""
    layer: str
    """Public name of the class, e.g. `keras.layers.Conv2D`, or `INPUT`."""
    config: Mapping[str, Json] = field(default_factory=dict)
    """Constructor arguments that differ from their defaults, in the form of `Layer.get_config`,
    without name, dtype and initialisers. A wrapped layer is `{"layer": NAME, "config": …}`, where
    NAME is its public name."""
    inputs: tuple[str, ...] = ()
    """Names of the nodes whose outputs are the layer's inputs."""
    as_list: bool = False
    """True if the layer takes its inputs as one list, like merging layers."""
    shape: Shape
    """Shape of the output."""
    dtype: str = "float32"
    """Dtype of the output."""
    weights: Weights = Weights()
    shares: str = ""
    """Name of an earlier node whose layer object is called again; empty for a new object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerGraph:
    """A model: layers in topological order."""

    nodes: tuple[LayerNode, ...]
    outputs: tuple[str, ...]

    def node(self, name: str) -> LayerNode:
        """Return the node of the given name.

        Raises:
            KeyError: if there is no node of that name.
        """
        return {node.name: node for node in self.nodes}[name]

    @property
    def masks(self) -> tuple[LayerNode, ...]:
        """Layers before the last one, if all of them make masks; otherwise none."""
        others = tuple(node for node in self.nodes[:-1] if node.layer != INPUT)
        return others if all(map(makes_mask, others)) else ()

    @property
    def inputs(self) -> tuple[LayerNode, ...]:
        """Input nodes, in order."""
        return tuple(node for node in self.nodes if node.layer == INPUT)


def makes_mask(node: LayerNode) -> bool:
    """Return whether a layer makes the mask of its input, which its output carries."""
    return node.layer == MASKING or (node.layer == EMBEDDING and bool(node.config.get("mask_zero")))


class SampleKind(StrEnum):
    """Data set for inputs of models. The value is its name in files."""

    DIGITS = "digits"
    """Handwritten digits, 8 by 8 in 17 shades, scaled to [0, 1] and resized."""
    IMAGES = "images"
    """Smooth coloured waves in [0, 1], of any size."""
    SINE = "sine"
    """Sections of sine waves, of shape (steps, features)."""
    PRICES = "prices"
    """Random walks of daily prices, scaled to [0, 1], of shape (steps, features)."""


@dataclass(frozen=True, slots=True)
class DataSample:
    """Samples of a data set, equal on all machines (see `execution.worker.samples`)."""

    kind: SampleKind
    seed: int
    shape: tuple[int, ...]
    """Shape of the sample array, with the batch dimension first."""


Data: TypeAlias = ArrayValue | DataSample


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOrigin:
    """Origin of a graph, for reports only."""

    model: str
    """Name of the seed model."""
    mutations: tuple[str, ...] = ()
    """Mutations in order, e.g. `LA conv2d_1: keras.layers.PReLU`."""
    deviations: tuple[tuple[str, float], ...] = ()
    """For an isolated layer: pairs of a layer of the mutant and its change rate R_a between the two
    targets (the LEMON paper, formula 4)."""
    suspect: str = ""
    """Name that the isolated layer has in the mutant. Its R_a need not be the largest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCase:
    """One run of one layer graph."""

    api: str
    """API under test: for an isolated layer, its class; otherwise `keras.Model`."""
    graph: LayerGraph
    data: tuple[Data, ...]
    """Input data of each input node, in order, with the batch dimension."""
    truth: ArrayValue
    """Expected value of the first output, for the distance D_MAD (the LEMON paper) and the loss:
    one-hot labels or regression targets."""
    check: Check = Check.PREDICT
    training: bool = False
    """True if layers are called with `training=True`, for `Check.TRAIN`."""
    dtype: str = ""
    """Dtype of all computation, such as `float64` for a reference; empty for the graph's dtypes."""
    nudge: int = 0
    """Seed that decides which weights grow and which shrink by one rounding error. A negative seed
    reverses the directions; 0 leaves the weights unchanged."""
    probe: str = ""
    """Name of the node whose complete inputs are returned instead of the model's outputs; empty for
    none."""
    seed: int = 0
    """Seed of the library's random generators, set before the run."""
    origin: GraphOrigin = GraphOrigin(model="")

    relation: ClassVar[str] = ""
    focus: ClassVar[str] = ""
    intent: ClassVar[Intent] = Intent.CONFORMING
    level: ClassVar[str] = "model"
    noun: ClassVar[str] = "run"
    given: ClassVar[str] = "inputs"
    is_api_use: ClassVar[bool] = True
    is_user_code: ClassVar[bool] = False
    place: ClassVar[tuple[str, int]] = ("", 0)
    is_run_by_worker: ClassVar[bool] = True

    @property
    def apis(self) -> set[str]:
        """Names of the layer classes in the graph."""
        return {node.layer for node in self.graph.nodes}

    @property
    def has_verdict_alone(self) -> bool:
        """True if the outcome on one target holds two results that must be equal."""
        return self.check is Check.SAVE

    @property
    def values(self) -> tuple[Value, ...]:
        """All input arrays; samples of data sets are left out."""
        return tuple(data for data in self.data if isinstance(data, ArrayValue))

    @property
    def is_one_layer(self) -> bool:
        """True if the graph is a single layer with its inputs, which may be masked."""
        return len(self.graph.nodes) == len(self.graph.inputs) + len(self.graph.masks) + 1

    def lowered(self) -> ModelCase:
        """Return the case itself: workers run it unchanged."""
        return self

    def to_json(self) -> Json:
        """Return the JSON form of the case: `[api, "model", {…}]`, without empty members."""
        members = {item.name: getattr(self, item.name) for item in fields(self)[1:]} | {
            "graph": graph_to_json(self.graph),
            "data": [_data_to_json(data) for data in self.data],
            "truth": value_to_json(self.truth),
            "check": self.check.value,
            "origin": _origin_to_json(self.origin),
        }
        filled = {key: item for key, item in members.items() if item or key == "truth"}
        return [self.api, MODEL, filled]


def graph_to_json(graph: LayerGraph) -> Json:
    """Return the JSON form of a graph."""
    return {"nodes": [_node_to_json(node) for node in graph.nodes], "outputs": [*graph.outputs]}


def graph_from_json(encoded: Json) -> LayerGraph:
    """Rebuild a graph.

    Raises:
        ValueError: if `encoded` is not the JSON form of a graph.
    """
    try:
        nodes = tuple(map(_node_from_json, encoded["nodes"]))
        outputs = tuple(map(str, encoded["outputs"]))
    except (AttributeError, KeyError, TypeError) as error:
        msg = f"malformed layer graph: {error!r}"
        raise ValueError(msg) from error
    known: set[str] = set()
    for node in nodes:
        if node.name in known:
            msg = f"malformed layer graph: two nodes have the name {node.name!r:.80}"
            raise ValueError(msg)
        if not known.issuperset((*node.inputs, *filter(None, [node.shares]))):
            msg = f"malformed layer graph: the node {node.name!r:.80} precedes one of its inputs"
            raise ValueError(msg)
        known.add(node.name)
    if not outputs or not known.issuperset(outputs):
        msg = "malformed layer graph: there is no output, or an output is not among the nodes"
        raise ValueError(msg)
    return LayerGraph(nodes=nodes, outputs=outputs)


def model_case_from_json(encoded: Json) -> ModelCase:
    """Rebuild a case.

    Raises:
        ValueError: if `encoded` is not the JSON form of a case of this level.
    """
    try:
        api, _, rest = encoded
        return ModelCase(
            api=str(api),
            graph=graph_from_json(rest["graph"]),
            data=tuple(map(_data_from_json, rest.get("data", ()))),
            truth=_array_from_json(rest["truth"]),
            check=Check(rest["check"]),
            training=bool(rest.get("training", False)),
            dtype=str(rest.get("dtype", "")),
            nudge=int(rest.get("nudge", 0)),
            probe=str(rest.get("probe", "")),
            seed=int(rest.get("seed", 0)),
            origin=_origin_from_json(rest.get("origin", {})),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"malformed model case: {error!r}"
        raise ValueError(msg) from error


MODEL_KIND = CaseKind(read=model_case_from_json)


def _node_to_json(node: LayerNode) -> Json:
    weights = node.weights
    recipe = {item.name: getattr(weights, item.name) for item in fields(weights)}
    recipe["edits"] = [[edit.rule.value, edit.seed] for edit in weights.edits]
    rest = {
        "config": dict(node.config),
        "inputs": [*node.inputs],
        "as_list": node.as_list,
        "dtype": node.dtype if node.dtype != "float32" else "",
        "weights": {key: item for key, item in recipe.items() if item},
        "shares": node.shares,
    }
    filled = {key: item for key, item in rest.items() if item}
    return {"name": node.name, "layer": node.layer, "shape": [*node.shape], **filled}


def _node_from_json(encoded: Json) -> LayerNode:
    recipe = encoded.get("weights", {})
    edits = [WeightEdit(WeightRule(rule), int(seed)) for rule, seed in recipe.get("edits", ())]
    return LayerNode(
        name=str(encoded["name"]),
        layer=str(encoded["layer"]),
        config=dict(encoded.get("config", {})),
        inputs=tuple(map(str, encoded.get("inputs", ()))),
        as_list=bool(encoded.get("as_list", False)),
        shape=tuple(map(int, encoded["shape"])),
        dtype=str(encoded.get("dtype", "float32")),
        weights=Weights(
            seed=int(recipe.get("seed", 0)),
            edits=tuple(edits),
            plain=bool(recipe.get("plain", False)),
            file=str(recipe.get("file", "")),
            stored=str(recipe.get("stored", "")),
        ),
        shares=str(encoded.get("shares", "")),
    )


def _data_to_json(data: Data) -> Json:
    if isinstance(data, DataSample):
        return [_SAMPLE, data.kind.value, data.seed, [*data.shape]]
    return value_to_json(data)


def _data_from_json(encoded: Json) -> Data:
    if encoded[0] != _SAMPLE:
        return _array_from_json(encoded)
    _, kind, seed, shape = encoded
    return DataSample(SampleKind(kind), int(seed), tuple(map(int, shape)))


def _array_from_json(encoded: Json) -> ArrayValue:
    value = value_from_json(encoded)
    if not isinstance(value, ArrayValue):
        msg = f"malformed model case: {encoded!r:.80} is not an array"
        raise ValueError(msg)  # noqa: TRY004 - one type of error for all malformed JSON
    return value


def _origin_to_json(origin: GraphOrigin) -> Json:
    rest = {
        "model": origin.model,
        "mutations": [*origin.mutations],
        # R_a is infinite if only one target computes NaN or infinities; JSON has no infinity.
        "deviations": [
            [name, deviation if math.isfinite(deviation) else repr(deviation)]
            for name, deviation in origin.deviations
        ],
        "suspect": origin.suspect,
    }
    return {key: item for key, item in rest.items() if item}


def _origin_from_json(encoded: Json) -> GraphOrigin:
    return GraphOrigin(
        model=str(encoded.get("model", "")),
        mutations=tuple(map(str, encoded.get("mutations", ()))),
        deviations=tuple(
            (str(name), float(deviation)) for name, deviation in encoded.get("deviations", ())
        ),
        suspect=str(encoded.get("suspect", "")),
    )
