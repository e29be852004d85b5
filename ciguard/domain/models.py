"""Layer graphs, and cases of level `model`: one run of one graph, as data.

A graph is what `keras.Model` would hold: layers with their constructor arguments, wired by name.
Weights are a recipe (a seed, and what mutation did to them), so that a mutant of a large model is
a few kilobytes; `execution.worker.layer_weights` makes the arrays, the same on every backend.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ciguard.domain.case import CaseKind
from ciguard.domain.intent import Intent
from ciguard.domain.values import ArrayValue, Json, Value, value_from_json, value_to_json

if TYPE_CHECKING:
    from collections.abc import Mapping

INPUT = "keras.Input"
"""Layer of the nodes that are a graph's inputs; their configuration is empty."""
ONE_LAYER = "layer"
"""Name of the node under test in a graph of one layer."""

Shape: TypeAlias = tuple[int, ...]
"""Without the batch dimension."""


class Check(StrEnum):
    """What is run and compared. The value is its name in files."""

    PREDICT = "predict"
    """The outputs, and a sample of what every layer computes."""
    TRAIN = "train"
    """Loss and gradients of one training step."""
    SAVE = "save"
    """The outputs before and after the model was saved and loaded."""


class WeightRule(StrEnum):
    """What is done to the weights of some of a layer's neurons (LEMON, section 3.2.2)."""

    GAUSSIAN_FUZZING = "GF"
    """Noise N(0, (0.1 · standard deviation of the layer's weights)²) is added."""
    SHUFFLING = "WS"
    """The connections to the layer before are shuffled."""
    INVERSE = "NAI"
    """The sign of what goes into the activation is changed."""
    BLOCK = "NEB"
    """The connections are set to zero."""
    SWITCH = "NS"
    """Two neurons change places."""


@dataclass(frozen=True, slots=True)
class WeightEdit:
    """One mutation of a layer's weights."""

    rule: WeightRule
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How a layer's weights are made."""

    seed: int = 0
    edits: tuple[WeightEdit, ...] = ()
    """In order."""
    plain: bool = False
    """Evenly spaced numbers, which a script makes in a line; the seed and the edits say nothing."""
    file: str = ""
    """A `.keras` or `.h5` file that they are read from; empty: they follow from the seed."""
    stored: str = ""
    """Name of the layer in that file; of one in a nested model `model/layer`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerNode:
    """One layer at one place of a graph."""

    name: str
    """Unique in the graph, and a name that Keras accepts."""
    layer: str
    """Public name of the class, e.g. `keras.layers.Conv2D`, or `INPUT`."""
    config: Mapping[str, Json] = field(default_factory=dict)
    """Constructor arguments other than the defaults, in the form of `Layer.get_config`; a wrapped
    layer is `{"layer": public name, "config": …}`. No name, no dtype, no initialiser."""
    inputs: tuple[str, ...] = ()
    """Names of the nodes whose outputs it is called with."""
    as_list: bool = False
    """Whether it is called with one list of inputs, as merging layers are, or with each."""
    shape: Shape
    """Of its output."""
    dtype: str = "float32"
    """Of its output."""
    weights: Weights = Weights()
    shares: str = ""
    """Name of an earlier node whose layer object is called again here; empty for its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerGraph:
    """A model: nodes in an order in which each comes after its inputs."""

    nodes: tuple[LayerNode, ...]
    outputs: tuple[str, ...]

    def node(self, name: str) -> LayerNode:
        """Return a node by its name.

        Raises:
            KeyError: if there is none.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    @property
    def inputs(self) -> tuple[LayerNode, ...]:
        """The nodes that data is fed to, in order."""
        return tuple(node for node in self.nodes if node.layer == INPUT)


class SampleKind(StrEnum):
    """Small data that models are fed. The value is its name in files."""

    DIGITS = "digits"
    """Handwritten digits, 8 by 8 in 17 shades, scaled to [0, 1] and to the size asked for."""
    IMAGES = "images"
    """Smooth coloured waves in [0, 1], of the size asked for."""
    SINE = "sine"
    """Pieces of sine waves: (steps, features)."""
    PRICES = "prices"
    """Random walks of daily prices, scaled to [0, 1]: (steps, features)."""


@dataclass(frozen=True, slots=True)
class DataSample:
    """Some of that data, the same on every machine (see `execution.worker.samples`)."""

    kind: SampleKind
    seed: int
    shape: tuple[int, ...]
    """The batch dimension first."""


Data: TypeAlias = ArrayValue | DataSample


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOrigin:
    """Where a graph comes from. Tells people how it was made; decides nothing."""

    model: str
    """Name of the seed model."""
    mutations: tuple[str, ...] = ()
    """In order, e.g. `LA conv2d_1: keras.layers.PReLU`."""
    deviations: tuple[tuple[str, float], ...] = ()
    """Layer of the mutant → R_a between the two targets (LEMON, formula 4), in order of the graph;
    for a graph of one layer that was isolated from it. Infinite where only one target computes NaN
    or infinities."""
    suspect: str = ""
    """Name in the mutant of the one layer that was isolated; not always that of the largest R_a."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCase:
    """One run of one layer graph."""

    api: str
    """What is tested: the class of the one layer of an isolated graph, else `keras.Model`."""
    graph: LayerGraph
    data: tuple[Data, ...]
    """What each input is fed, the batch dimension included."""
    truth: ArrayValue
    """What the first output ought to be: one-hot labels or regression targets. D_MAD and the loss
    need it."""
    check: Check = Check.PREDICT
    training: bool = False
    """Whether layers are called with `training=True`, for `Check.TRAIN`."""
    dtype: str = ""
    """Compute everything in this type, as `float64` for reference; empty: as the graph says."""
    nudge: int = 0
    """Move weights by one rounding, up or down as this number says; 0 leaves them."""
    probe: str = ""
    """Node whose inputs are returned whole, instead of the outputs."""
    seed: int = 0
    """The library's random generators are seeded with it before the run."""
    origin: GraphOrigin = GraphOrigin(model="")

    relation: ClassVar[str] = ""
    """No metamorphic relation is tried with a model."""
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
        """The layers of the graph."""
        return {node.layer for node in self.graph.nodes}

    @property
    def has_verdict_alone(self) -> bool:
        """Whether one outcome holds two results that ought to be equal."""
        return self.check is Check.SAVE

    @property
    def values(self) -> tuple[Value, ...]:
        """Every array that the model is given element by element or by a fill."""
        return tuple(data for data in self.data if isinstance(data, ArrayValue))

    @property
    def is_one_layer(self) -> bool:
        """Whether the graph is a layer alone, with its inputs."""
        return len(self.graph.nodes) == len(self.graph.inputs) + 1

    def lowered(self) -> ModelCase:
        """Return the case: workers run it as it is."""
        return self

    def to_json(self) -> Json:
        """Return the JSON form of the case: `[api, "model", {…}]`; what is empty is left out."""
        rest = {
            "graph": graph_to_json(self.graph),
            "data": [_data_to_json(data) for data in self.data],
            "truth": value_to_json(self.truth),
            "check": self.check.value,
            "training": self.training,
            "dtype": self.dtype,
            "nudge": self.nudge,
            "probe": self.probe,
            "seed": self.seed,
            "origin": _origin_to_json(self.origin),
        }
        filled = {key: item for key, item in rest.items() if item or key == "truth"}
        return [self.api, MODEL, filled]


MODEL = "model"
"""Second member of an encoded `ModelCase`, where an API call has its kind."""


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
        msg = f"not an encoded layer graph: {error!r}"
        raise ValueError(msg) from error
    known: set[str] = set()
    for node in nodes:
        if node.name in known:
            msg = f"not an encoded layer graph: two nodes are called {node.name!r:.80}"
            raise ValueError(msg)
        if not known.issuperset((*node.inputs, *filter(None, [node.shares]))):
            msg = f"not an encoded layer graph: {node.name!r:.80} comes before one of its inputs"
            raise ValueError(msg)
        known.add(node.name)
    if not outputs or not known.issuperset(outputs):
        msg = "not an encoded layer graph: an output is no node"
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
        msg = f"not an encoded model case: {error!r}"
        raise ValueError(msg) from error


MODEL_KIND = CaseKind(read=model_case_from_json)


def _node_to_json(node: LayerNode) -> Json:
    weights = node.weights
    recipe = {
        "seed": weights.seed,
        "edits": [[edit.rule.value, edit.seed] for edit in weights.edits],
        "plain": weights.plain,
        "file": weights.file,
        "stored": weights.stored,
    }
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
            edits=tuple(
                WeightEdit(WeightRule(rule), int(seed)) for rule, seed in recipe.get("edits", ())
            ),
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


_SAMPLE = "sample"


def _data_from_json(encoded: Json) -> Data:
    if encoded[0] != _SAMPLE:
        return _array_from_json(encoded)
    _, kind, seed, shape = encoded
    return DataSample(SampleKind(kind), int(seed), tuple(map(int, shape)))


def _array_from_json(encoded: Json) -> ArrayValue:
    value = value_from_json(encoded)
    if not isinstance(value, ArrayValue):
        msg = f"not an encoded model case: {encoded!r:.80} is no array"
        raise ValueError(msg)  # noqa: TRY004 - one error for whatever is wrong with the text
    return value


def _origin_to_json(origin: GraphOrigin) -> Json:
    rest = {
        "model": origin.model,
        "mutations": [*origin.mutations],
        # JSON knows no infinity.
        "deviations": [
            [name, rate if math.isfinite(rate) else repr(rate)] for name, rate in origin.deviations
        ],
        "suspect": origin.suspect,
    }
    return {key: item for key, item in rest.items() if item}


def _origin_from_json(encoded: Json) -> GraphOrigin:
    return GraphOrigin(
        model=str(encoded.get("model", "")),
        mutations=tuple(map(str, encoded.get("mutations", ()))),
        deviations=tuple((str(name), float(rate)) for name, rate in encoded.get("deviations", ())),
        suspect=str(encoded.get("suspect", "")),
    )
