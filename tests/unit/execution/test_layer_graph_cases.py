"""Workers run layer graphs with their adapter, and name the layer of an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ciguard.domain.case import case_to_json
from ciguard.domain.models import (
    INPUT,
    MODEL,
    DataSample,
    LayerGraph,
    LayerNode,
    ModelCase,
    SampleKind,
)
from ciguard.domain.outcomes import Errored, Exhausted, Outcome, Passed, Rejected, Stage
from ciguard.domain.values import ArrayValue, Uniform
from ciguard.execution import Container, TensorDigest, TensorOutput, decode_outputs
from ciguard.execution.decode import decode_record
from ciguard.execution.worker import cell, loop, models
from ciguard.execution.worker.loop import Executor
from ciguard.execution.worker.samples import sample
from ciguard.libraries.in_target import contract

NODE = LayerNode(name="in", layer=INPUT, shape=(3,))
CASE = ModelCase(
    api="keras.Model",
    graph=LayerGraph(nodes=(NODE,), outputs=("in",)),
    data=(DataSample(SampleKind.SINE, 4, (2, 3)), ArrayValue("int32", (2,), Uniform(1, 0.0, 9.0))),
    truth=ArrayValue("float32", (2, 3), Uniform(9, 0.0, 1.0)),
    seed=11,
)


class Fake(contract.Adapter):
    """An adapter that returns or raises a given object."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.runs: list[contract.ModelRun] = []
        self.seeds: list[int] = []

    def reset(self, seed: int) -> None:
        self.seeds.append(seed)

    def read(self, output: Any) -> dict[str, Any] | None:
        del output
        return None

    def run_model(self, run: contract.ModelRun) -> Any:
        self.runs.append(run)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def outcome_of(adapter: contract.Adapter, case: ModelCase = CASE) -> Outcome:
    status, payload = Executor(adapter).execute(case_to_json(case))
    assert len(payload) <= cell.ROOM
    return decode_record((status, 1, payload))


def items(outcome: Outcome) -> list[Any]:
    assert isinstance(outcome, Passed)
    decoded = decode_outputs(outcome.encoded)
    assert isinstance(decoded, Container)
    return list(decoded.items)


def test_a_model_case_is_identified_by_its_second_member() -> None:
    assert loop.MODEL == MODEL
    assert case_to_json(CASE)[1] == loop.MODEL


def test_an_adapter_receives_the_data_and_the_function_for_weights() -> None:
    adapter = Fake({"outputs": []})

    outcome_of(adapter)

    (run,) = adapter.runs
    assert adapter.seeds == [11]
    assert run.case["graph"]["outputs"] == ["in"]
    assert np.array_equal(run.data[0], sample("sine", 4, (2, 3)))
    assert run.data[1].dtype == np.int32
    assert run.truth.shape == (2, 3)
    (kernel,) = run.weights("keras.layers.Dense", {"seed": 1}, [("kernel", (2, 4), "float32")])
    assert kernel.shape == (2, 4)


def test_a_hundred_layers_and_a_megabyte_are_returned_whole() -> None:
    large = np.arange(250_000, dtype=np.float32)
    adapter = Fake({"layers": {f"n{n}": {"inf": n} for n in range(200)}, "outputs": [large]})

    layers, outputs = items(outcome_of(adapter))

    assert len(layers.items) == len(layers.keys) == 200
    (tensor,) = outputs.items
    assert isinstance(tensor, TensorOutput)
    assert np.array_equal(tensor.elements, large)


@pytest.mark.parametrize("sizes", [[1_000_000], [600_000, 600_000]])
def test_outputs_too_large_for_a_record_are_returned_as_digests(sizes: list[int]) -> None:
    adapter = Fake([np.zeros(size, np.float32) for size in sizes])

    digests = items(outcome_of(adapter))

    assert all(isinstance(digest, TensorDigest) for digest in digests)
    assert [digest.shape for digest in digests] == [(size,) for size in sizes]


def test_the_largest_array_that_is_kept_whole_fits_with_many_layers() -> None:
    largest = np.zeros(models.MAX_WHOLE_BYTES // 4, np.float32)

    (kept,) = items(outcome_of(Fake([largest])))

    assert isinstance(kept, TensorOutput)


def test_an_error_in_a_layer_names_the_layer_and_keeps_its_class() -> None:
    error = contract.LayerError("conv", ValueError("bad kernel"), unbuilt=False)

    assert outcome_of(Fake(error)) == Rejected("ValueError", "layer 'conv': bad kernel")


def test_a_layer_that_cannot_be_built_rejects_the_case() -> None:
    error = contract.LayerError("conv", TypeError("no such argument"), unbuilt=True)

    expected = Rejected("TypeError", "layer 'conv': no such argument", Stage.BUILD)
    assert outcome_of(Fake(error)) == expected


def test_a_layer_that_needs_a_missing_package_rejects_the_case() -> None:
    error = contract.LayerError("resize", ImportError("install torchvision"), unbuilt=False)

    expected = Rejected("ImportError", "layer 'resize': install torchvision", Stage.BUILD)
    assert outcome_of(Fake(error)) == expected


def test_a_loaded_layer_that_needs_a_missing_package_rejects_the_case() -> None:
    expected = Rejected("ImportError", "install torchvision", Stage.BUILD)
    assert outcome_of(Fake(ImportError("install torchvision"))) == expected


def test_errors_in_layers_are_classified_like_other_errors() -> None:
    internal, exhausted = (
        outcome_of(Fake(contract.LayerError("a", cause, unbuilt=False)))
        for cause in (RecursionError("deep"), MemoryError("full"))
    )

    assert isinstance(internal, Errored)
    assert internal.exception == "RecursionError"
    assert internal.message == "layer 'a': deep"
    assert isinstance(exhausted, Exhausted)


def test_an_error_outside_layers_is_an_outcome() -> None:
    assert outcome_of(Fake(ValueError("cannot save"))) == Rejected("ValueError", "cannot save")


def test_a_model_that_a_target_cannot_compute_is_rejected() -> None:
    outcome = outcome_of(Fake(contract.CannotComputeError("no float64")))

    assert outcome == Rejected("CannotComputeError", "no float64", Stage.BUILD)


def test_a_library_without_layer_graphs_rejects_models() -> None:
    class Plain(contract.Adapter):
        module = "plain"

        def reset(self, seed: int) -> None:
            del seed

    outcome = outcome_of(Plain())

    assert isinstance(outcome, Rejected)
    assert outcome.stage is Stage.BUILD
    assert "plain does not support layer graphs" in outcome.message


def test_unknown_data_rejects_the_case() -> None:
    encoded = case_to_json(CASE)
    encoded[2]["data"] = [["sample", "elephants", 1, [2, 3]]]

    status, _ = Executor(Fake([])).execute(encoded)

    assert status == cell.UNBUILT
