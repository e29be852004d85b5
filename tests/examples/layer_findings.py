"""Findings about single layers, isolated from mutants of models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.findings import Evidence, Finding, PairKind, Severity
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

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Outcome

TORCH = "keras==3.15.1 + torch"
JAX = "keras==3.15.1 + jax"
MUTATIONS = ("LA conv2d_1: keras.layers.PReLU", "GF dense_2")
RATES = (
    *(("conv2d", 0.0), ("conv2d_1", 0.031), ("p_relu", -0.4), ("max_pooling2d", 0.0)),
    *(("conv2d_2", 12.5), ("conv_3", 32_000.0), ("batch_normalization", 417.0), ("flatten", 0.0)),
    *((f"dense_{number}", 1.0 / number) for number in range(1, 10)),
)
"""R_a of 17 layers."""


def layer_case(origin: GraphOrigin | None = None, *, check: Check = Check.PREDICT) -> ModelCase:
    """Return the run of a layer alone."""
    found = GraphOrigin(
        model="lenet5-mnist", mutations=MUTATIONS, deviations=RATES, suspect="conv_3"
    )
    data = ArrayValue("float32", (2, 8, 8, 1), Uniform(1, -1.0, 1.0))
    return ModelCase(
        api="keras.layers.Conv2D",
        graph=LayerGraph(
            nodes=(
                LayerNode(name="x0", layer=INPUT, shape=(8, 8, 1)),
                LayerNode(
                    name=ONE_LAYER,
                    layer="keras.layers.Conv2D",
                    config={"filters": 3, "kernel_size": 3},
                    inputs=("x0",),
                    shape=(6, 6, 3),
                ),
            ),
            outputs=(ONE_LAYER,),
        ),
        data=(data,),
        truth=ArrayValue("float32", (2, 6, 6, 3), Uniform(2, 0.0, 1.0)),
        check=check,
        origin=found if origin is None else origin,
    )


def whole_case() -> ModelCase:
    """Return the run of a model of two layers that no layer of was isolated."""
    alone = layer_case()
    *inputs, layer = alone.graph.nodes
    last = LayerNode(name="flat", layer="keras.layers.Flatten", inputs=(layer.name,), shape=(108,))
    graph = LayerGraph(nodes=(*inputs, layer, last), outputs=("flat",))
    origin = GraphOrigin(model="lenet5-mnist", mutations=MUTATIONS)
    return replace(alone, api="keras.Model", graph=graph, origin=origin)


def layer_difference(case: ModelCase | None = None) -> Finding:
    """Return a finding that one backend computes another result in a layer."""
    tested = case or layer_case()
    says = "values: 0.5 is not 0.7"
    return Finding(
        oracle="differential",
        kind="values",
        severity=Severity.HIGH,
        library="keras",
        api=tested.api,
        case=tested,
        outcomes={TORCH: Passed(b"[1]", 0.1), JAX: Passed(b"[2]", 0.1)},
        targets=(TORCH, JAX),
        pair=PairKind.BACKEND,
        detail="predict: jax",
        message=f"{tested.api} (predict) differs in {says}",
        evidence=Evidence(expected="0.7", observed="0.5"),
    )


def layer_death(outcome: Outcome, case: ModelCase | None = None) -> Finding:
    """Return a finding that the run of a layer does not come back."""
    tested = case or layer_case()
    return Finding(
        oracle="crash",
        kind="signal",
        severity=Severity.CRITICAL,
        library="keras",
        api=tested.api,
        case=tested,
        outcomes={JAX: outcome},
        targets=(JAX,),
        message="it died",
    )
