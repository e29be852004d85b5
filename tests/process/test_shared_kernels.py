"""What JAX compiles in one worker is there for the next, and changes nothing that it computes."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from ciguard.domain.case import case_to_json
from ciguard.domain.models import INPUT, Check, LayerGraph, LayerNode, ModelCase
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.domain.values import ArrayValue, Uniform
from ciguard.execution import Dispatcher, Job, Limits, ServerProcess, WorkerSpec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ciguard.targets import Environment

pytestmark = pytest.mark.library("keras")

NODES = (
    LayerNode(name="in", layer=INPUT, shape=(5,)),
    LayerNode(
        name="dense",
        layer="keras.layers.Dense",
        config={"units": 4, "activation": "elu"},
        inputs=("in",),
        shape=(4,),
    ),
)
CASE = ModelCase(
    api="keras.Model",
    graph=LayerGraph(nodes=NODES, outputs=("dense",)),
    data=(ArrayValue("float32", (2, 5), Uniform(1, 0.0, 1.0)),),
    truth=ArrayValue("float32", (2, 4), Uniform(2, 0.0, 1.0)),
    check=Check.TRAIN,
)


def in_a_fresh_worker(dispatcher: Dispatcher) -> Outcome:
    encoded = json.dumps(case_to_json(CASE)).encode()
    dispatcher.add(Job("keras", "graph", (encoded,), fresh=True))
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        for result in dispatcher.wait(1.0):
            return result.outcomes[0]
    pytest.fail("no answer")


def kernels(dispatcher: Dispatcher) -> dict[Path, bytes]:
    files = dispatcher.scratch.glob("*/compiled/*-cache")
    return {file: file.read_bytes() for file in files}


def test_kernels_are_shared_and_damaged_ones_compiled_anew(
    environment_of: Callable[[str], Environment],
) -> None:
    environment = environment_of("keras==3.15.1 + jax")
    spec = WorkerSpec(
        name="keras",
        python=environment.python,
        adapter=environment.library.adapter,
        variables=environment.variables,
        readable=environment.readable,
        limits=Limits(case_s=60.0, memory_mib=2048),
    )

    with Dispatcher() as dispatcher:
        started = dispatcher.start([spec])["keras"]
        assert isinstance(started, ServerProcess), started
        compiled = in_a_fresh_worker(dispatcher)
        kept = kernels(dispatcher)
        loaded = in_a_fresh_worker(dispatcher)
        kept_then = kernels(dispatcher)
        for file, content in kept.items():
            file.write_bytes(content[: len(content) // 2])
        repaired = in_a_fresh_worker(dispatcher)

    assert kept
    assert kept_then == kept
    for outcome in (compiled, loaded, repaired):
        assert isinstance(outcome, Passed), outcome
        assert outcome.encoded == compiled.encoded  # type: ignore[union-attr]
