"""Small graphs that mutation is tried on: a chain, a residual block, a sequence, shared layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.models import INPUT, LayerGraph, LayerNode, SampleKind, Shape, Weights
from ciguard.levels.model.universe import Universe

if TYPE_CHECKING:
    from ciguard.domain.values import Json

_ALL = Universe.of()


def node(name: str, layer: str, *inputs: LayerNode, shares: str = "", **config: Json) -> LayerNode:
    """Return a node with the shape that the universe says of it."""
    shapes = tuple(given.shape for given in inputs)
    made = LayerNode(
        name=name,
        layer=f"keras.layers.{layer}",
        config=config,
        inputs=tuple(given.name for given in inputs),
        as_list=len(inputs) > 1,
        shape=(),
        weights=Weights(seed=len(name)),
        shares=shares,
    )
    kind = _ALL.kind(made)
    assert kind is not None
    shape = kind.shape(config, shapes)
    assert shape is not None
    return LayerNode(
        name=made.name,
        layer=made.layer,
        config=made.config,
        inputs=made.inputs,
        as_list=made.as_list,
        shape=shape,
        weights=made.weights,
        shares=shares,
    )


def entry(name: str, *shape: int) -> LayerNode:
    return LayerNode(name=name, layer=INPUT, shape=shape)


def lenet() -> LayerGraph:
    x = entry("x", 8, 8, 1)
    c1 = node("c1", "Conv2D", x, filters=4, kernel_size=3, padding="same", activation="relu")
    p1 = node("p1", "MaxPooling2D", c1, pool_size=2)
    c2 = node("c2", "Conv2D", p1, filters=4, kernel_size=3, padding="same", activation="tanh")
    flat = node("flat", "Flatten", c2)
    d1 = node("d1", "Dense", flat, units=16, activation="relu")
    d2 = node("d2", "Dense", d1, units=16, activation="sigmoid")
    out = node("out", "Dense", d2, units=10, activation="softmax")
    return LayerGraph(nodes=(x, c1, p1, c2, flat, d1, d2, out), outputs=("out",))


def residual() -> LayerGraph:
    x = entry("x", 8, 8, 3)
    stem = node("stem", "Conv2D", x, filters=4, kernel_size=3, padding="same", use_bias=False)
    nodes = [x, stem]
    top = stem
    for at in (1, 2):
        c = node(f"conv{at}", "Conv2D", top, filters=4, kernel_size=3, padding="same")
        b = node(f"norm{at}", "BatchNormalization", c, epsilon=1e-5)
        r = node(f"relu{at}", "ReLU", b)
        top = node(f"add{at}", "Add", r, top)
        nodes += [c, b, r, top]
    pool = node("pool", "GlobalAveragePooling2D", top)
    logits = node("logits", "Dense", pool, units=5)
    out = node("out", "Softmax", logits)
    return LayerGraph(nodes=(*nodes, pool, logits, out), outputs=("out",))


def lstm() -> LayerGraph:
    x = entry("x", 8, 2)
    first = node("first", "LSTM", x, units=6, return_sequences=True)
    drop = node("drop", "Dropout", first, rate=0.2)
    second = node("second", "LSTM", drop, units=6, return_sequences=True)
    last = node("last", "GRU", second, units=6)
    out = node("out", "Dense", last, units=1)
    return LayerGraph(nodes=(x, first, drop, second, last, out), outputs=("out",))


def shared() -> LayerGraph:
    """Two inputs, one layer called on both and again behind itself, two outputs."""
    x, y = entry("x", 6), entry("y", 6)
    a = node("a", "Dense", x, units=6, activation="relu")
    b = node("b", "Dense", y, units=6, activation="relu", shares="a")
    c = node("c", "Dense", a, units=6, activation="relu", shares="a")
    d = node("d", "LeakyReLU", b)
    e = node("e", "LeakyReLU", c, shares="d")
    merged = node("merged", "Add", d, e)
    side = node("side", "Dense", d, units=2)
    out = node("out", "Dense", merged, units=3, activation="softmax")
    return LayerGraph(nodes=(x, y, a, b, c, d, e, merged, side, out), outputs=("out", "side"))


GRAPHS = {"lenet": lenet(), "residual": residual(), "lstm": lstm(), "shared": shared()}


@dataclass(frozen=True, slots=True)
class ModelInput:
    kind: SampleKind | None
    shape: Shape
    dtype: str = "float32"
    below: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    name: str
    graph: LayerGraph
    data: tuple[ModelInput, ...]
    label_shape: Shape
    classes: int = 0


MODELS = (
    Model("lenet", GRAPHS["lenet"], (ModelInput(SampleKind.DIGITS, (8, 8, 1)),), (10,), 10),
    Model("lstm", GRAPHS["lstm"], (ModelInput(SampleKind.SINE, (8, 2)),), (1,)),
)
