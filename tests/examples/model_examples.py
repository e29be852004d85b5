"""Runs of small models, and what targets answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ciguard_planted.adapter import PlantedAdapter

from ciguard.domain.models import (
    INPUT,
    ONE_LAYER,
    Check,
    GraphOrigin,
    LayerGraph,
    LayerNode,
    ModelCase,
)
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import ArrayValue, Uniform
from ciguard.execution.worker.summarise import Summariser
from ciguard.oracles import Identity, Subject

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGINES = ("torch", "tensorflow", "jax")
_SUMMARISER = Summariser(PlantedAdapter())

X = LayerNode(name="x", layer=INPUT, shape=(4,))
FIRST = LayerNode(
    name="first", layer="keras.layers.Dense", config={"units": 3}, inputs=("x",), shape=(3,)
)
SECOND = LayerNode(name="second", layer="keras.layers.Softmax", inputs=("first",), shape=(3,))
MODEL = ModelCase(
    api="keras.Model",
    graph=LayerGraph(nodes=(X, FIRST, SECOND), outputs=("second",)),
    data=(ArrayValue("float32", (2, 4), Uniform(1, -1.0, 1.0)),),
    truth=ArrayValue("float32", (2, 3), Uniform(2, 0.0, 1.0)),
    origin=GraphOrigin(model="tiny", mutations=("LA first: keras.layers.Softmax",)),
)
ALONE = ModelCase(
    api="keras.layers.Softmax",
    graph=LayerGraph(
        nodes=(
            LayerNode(name="x0", layer=INPUT, shape=(3,)),
            LayerNode(name=ONE_LAYER, layer="keras.layers.Softmax", inputs=("x0",), shape=(3,)),
        ),
        outputs=(ONE_LAYER,),
    ),
    data=(ArrayValue("float32", (2, 3), Uniform(1, -1.0, 1.0)),),
    truth=ArrayValue("float32", (2, 3), Uniform(2, 0.0, 1.0)),
    check=Check.PREDICT,
)


def returned(result: Mapping[str, Any]) -> Passed:
    """Return the outcome of a run whose worker returned this."""
    return Passed(_SUMMARISER.encode(dict(result)), 0.001)


def layers(**outputs: Any) -> dict[str, Any]:
    """Return what a run tells of its layers, by name: elements of their outputs."""
    told = {}
    for name, output in outputs.items():
        array = np.asarray(output, dtype=np.float32)
        finite = np.isfinite(array)
        told[name] = {
            "shape": list(array.shape),
            "dtype": "float32",
            "sample": array.ravel()[:64],
            "nan": int(np.isnan(array).sum()),
            "inf": int(np.isinf(array).sum()),
            "mean_abs": float(np.abs(array[finite]).mean()) if finite.any() else 0.0,
        }
    return told


def predicted(**outputs: Any) -> Passed:
    """Return the outcome of a prediction, with the outputs of its layers in order."""
    *_, last = outputs.values()
    result = {"outputs": [np.asarray(last, dtype=np.float32)], "layers": layers(**outputs)}
    return returned(result)


def alone(output: Any) -> Passed:
    """Return the outcome of one layer's prediction."""
    return returned({"outputs": [np.asarray(output, dtype=np.float32)]})


def subject(api: str = "keras.layers.Softmax", *tags: str, count: int = 3) -> Subject:
    """Return what is tested: Keras on the first `count` backends."""
    return Subject(
        library="keras",
        api=api,
        tags=frozenset(tags),
        targets={
            name: Identity(
                request=f"keras==3.15.1 + {name}",
                packages=("keras==3.15.1", name),
                version="3.15.1",
                device="cpu",
                library="keras",
                engine=name,
            )
            for name in ENGINES[:count]
        },
    )
