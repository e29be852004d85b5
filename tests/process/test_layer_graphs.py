"""Layer graphs run alike in Keras on each of its backends; what differs is the library's doing."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ciguard.domain.case import case_to_json
from ciguard.domain.models import (
    INPUT,
    Check,
    DataSample,
    LayerGraph,
    LayerNode,
    ModelCase,
    SampleKind,
    WeightEdit,
    WeightRule,
    Weights,
)
from ciguard.domain.outcomes import Outcome, Passed, Rejected, Stage
from ciguard.domain.values import ArrayValue, Constant, Explicit, Uniform
from ciguard.execution import (
    Container,
    Dispatcher,
    Job,
    Limits,
    Output,
    Scalar,
    ServerProcess,
    TensorDigest,
    TensorOutput,
    WorkerSpec,
    decode_outputs,
)
from ciguard.execution.decode import decode_record
from ciguard.execution.worker.fills import elements

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.targets import Environment

REPOSITORY = Path(__file__).parents[2]
PROBE = Path(__file__).with_name("layer_run_probe.py")
BACKENDS = ("torch", "tensorflow-cpu", "jax")

pytestmark = pytest.mark.library("keras")


def node(name: str, layer: str, *inputs: str, **settings: Any) -> LayerNode:
    """Return a node; its shape, which the worker does not need, only where it is an input."""
    config = settings.pop("config", {})
    return LayerNode(
        name=name,
        layer=layer if layer == INPUT else f"keras.layers.{layer}",
        inputs=inputs,
        config=config,
        shape=settings.pop("shape", ()),
        weights=settings.pop("weights", Weights(seed=len(name) + ord(name[-1]))),
        **settings,
    )


def wrapped(layer: str, **config: object) -> dict[str, object]:
    return {"layer": {"layer": f"keras.layers.{layer}", "config": config}}


def case(*nodes: LayerNode, outputs: tuple[str, ...] = (), **settings: Any) -> ModelCase:
    """Return a case that feeds each input two samples; the truth has the shape that is given."""
    data = tuple(
        ArrayValue(each.dtype, (2, *each.shape), Uniform(n + 1, 0.0, 5.0))
        if each.dtype == "int32"
        else DataSample(SampleKind.IMAGES, n, (2, *each.shape))
        for n, each in enumerate(nodes)
        if each.layer == INPUT
    )
    return ModelCase(
        api="keras.Model",
        graph=LayerGraph(nodes=nodes, outputs=outputs or (nodes[-1].name,)),
        data=settings.pop("data", data),
        truth=ArrayValue("float32", settings.pop("truth", (2, 3)), Uniform(9, 0.0, 1.0)),
        **settings,
    )


RESIDUAL = (
    node("image", INPUT, shape=(9, 9, 3)),
    node("first", "Conv2D", "image", config={"filters": 4, "kernel_size": [3, 3]}),
    node("norm", "BatchNormalization", "first"),
    node("left", "Activation", "norm", config={"activation": "relu"}),
    node(
        "right",
        "SeparableConv2D",
        "norm",
        config={"filters": 4, "kernel_size": 3, "padding": "same"},
        weights=Weights(seed=1, edits=(WeightEdit(WeightRule.SHUFFLING, 2),)),
    ),
    node("sum", "Add", "left", "right", "norm", as_list=True),
    node("pool", "GlobalAveragePooling2D", "sum"),
    node("out", "Dense", "pool", config={"units": 3, "activation": "softmax"}),
)
SEQUENCES = (
    node("series", INPUT, shape=(6, 4)),
    node("words", INPUT, shape=(6,), dtype="int32"),
    node("table", "Embedding", "words", config={"input_dim": 7, "output_dim": 4}),
    node("joined", "Concatenate", "series", "table", as_list=True, config={"axis": -1}),
    node("lstm", "LSTM", "joined", config={"units": 5, "return_sequences": True}),
    node("each", "TimeDistributed", "lstm", config=wrapped("Dense", units=6)),
    node("both", "Bidirectional", "each", config=wrapped("GRU", units=3, return_sequences=True)),
    node("heads", "MultiHeadAttention", "both", "each", config={"num_heads": 2, "key_dim": 3}),
    node("rnn", "SimpleRNN", "heads", config={"units": 4}),
    node("out", "Dense", "rnn", config={"units": 3}),
)
SHARED = (
    node("one", INPUT, shape=(5,)),
    node("two", INPUT, shape=(5,)),
    node("dense", "Dense", "one", config={"units": 5, "activation": "tanh"}),
    node("again", "Dense", "two", shares="dense", config={"units": 5}),
    node("twice", "Dense", "again", shares="dense", config={"units": 5}),
    node("both", "Multiply", "dense", "twice", as_list=True),
    node("alpha", "PReLU", "both"),
    node("out", "Dense", "alpha", config={"units": 3}),
)
IMAGES = (
    node("image", INPUT, shape=(8, 8, 2)),
    node("depth", "DepthwiseConv2D", "image", config={"kernel_size": 3, "depth_multiplier": 2}),
    node("up", "Conv2DTranspose", "depth", config={"filters": 3, "kernel_size": 3, "strides": 2}),
    node("small", "AveragePooling2D", "up", config={"pool_size": [3, 3], "padding": "same"}),
    node("norm", "LayerNormalization", "small"),
    node("flat", "Flatten", "norm"),
    node("half", "Rescaling", "flat", config={"scale": 0.5}),
    node("out", "Dense", "flat", config={"units": 3}),
)
MISFIT = (
    node("in", INPUT, shape=(4,)),
    node("fits", "Dense", "in", config={"units": 3}),
    node("misfit", "Conv2D", "fits", config={"filters": 2, "kernel_size": 3}),
)
MASKED = (
    node("series", INPUT, shape=(6, 4)),
    node("words", INPUT, shape=(6,), dtype="int32"),
    node("mask", "Masking", "series"),
    node(
        "table", "Embedding", "words", config={"input_dim": 7, "output_dim": 4, "mask_zero": True}
    ),
    node("lstm", "LSTM", "mask", config={"units": 5, "return_sequences": True}),
    node("heads", "MultiHeadAttention", "lstm", "table", config={"num_heads": 2, "key_dim": 3}),
    node("pool", "GlobalAveragePooling1D", "heads"),
    node("last", "GRU", "table", config={"units": 4}),
    node("joined", "Concatenate", "pool", "last", as_list=True, config={"axis": -1}),
    node("out", "Dense", "joined", config={"units": 3}),
)
WITH_GAPS = (
    ArrayValue(
        "float32",
        (2, 6, 4),
        Explicit(
            tuple(0.0 if 8 <= place < 16 or place >= 40 else place / 48 for place in range(48))
        ),
    ),
    ArrayValue("int32", (2, 6), Explicit((1, 2, 0, 3, 4, 0, 0, 0, 5, 6, 1, 0))),
)
WITHOUT_MASKS = (
    *MASKED[:2],
    replace(MASKED[2], layer="keras.layers.Identity"),
    replace(MASKED[3], config={"input_dim": 7, "output_dim": 4}),
    *MASKED[4:],
)
GRAPHS = {"residual": RESIDUAL, "sequences": SEQUENCES, "shared": SHARED, "images": IMAGES}


def grown(layers: int) -> tuple[LayerNode, ...]:
    nodes = [node("input", INPUT, shape=(8,))]
    for number in range(layers):
        nodes.append(node(f"dense{number}", "Dense", nodes[-1].name, config={"units": 8}))
    return tuple(nodes)


CASES: dict[str, ModelCase] = {
    **{
        f"{name} {check}": case(*nodes, check=Check(check))
        for name, nodes in GRAPHS.items()
        for check in Check
    },
    "masked predict": case(*MASKED, data=WITH_GAPS),
    "masked train": case(*MASKED, data=WITH_GAPS, check=Check.TRAIN, training=True),
    "masked save": case(*MASKED, data=WITH_GAPS, check=Check.SAVE),
    "not masked": case(*WITHOUT_MASKS, data=WITH_GAPS),
    "wide masked": case(*MASKED, data=WITH_GAPS, dtype="float64"),
    "two outputs": case(*IMAGES, outputs=("out", "half")),
    "a hundred layers": case(*grown(100), truth=(2, 8)),
    "wide": case(*RESIDUAL, dtype="float64"),
    "wide sequences": case(*SEQUENCES, dtype="float64"),
    "wide gradients": case(*RESIDUAL, check=Check.TRAIN, dtype="float64"),
    "after a wide one": case(*RESIDUAL),
    "training": case(*RESIDUAL, check=Check.TRAIN, training=True),
    "independent of its input": case(
        node("in", INPUT, shape=(4,)),
        node("bin", "Discretization", "in", config={"bin_boundaries": [0.0]}, dtype="int32"),
        node("table", "Embedding", "bin", config={"input_dim": 2, "output_dim": 3}),
        check=Check.TRAIN,
        truth=(2, 4, 3),
    ),
    "nudged": case(*RESIDUAL, nudge=1),
    "probed": case(*RESIDUAL, probe="sum"),
    "large": case(node("in", INPUT, shape=(60, 80, 20)), node("same", "ReLU", "in")),
    "too large": case(node("in", INPUT, shape=(300, 80, 20)), node("same", "ReLU", "in")),
    "infinite": case(
        node("in", INPUT, shape=(70,)),
        node("far", "Rescaling", "in", config={"scale": 1e38}),
        node("farther", "Rescaling", "far", config={"scale": 1e3}),
        node("none", "Subtract", "farther", "farther", as_list=True),
    ),
    "half": case(
        node("in", INPUT, shape=(4,)),
        node("dense", "Dense", "in", config={"units": 3}, dtype="float16"),
    ),
    "refused": case(*MISFIT),
    "refused in training": case(*MISFIT, check=Check.TRAIN),
    "no such layer": case(node("in", INPUT, shape=(4,)), node("new", "NotYetThere", "in")),
    "no such argument": case(
        node("in", INPUT, shape=(4,)), node("new", "Dense", "in", config={"units": 2, "odd": 1})
    ),
    "no such shape": case(*RESIDUAL, truth=(2, 4), check=Check.TRAIN),
}


TRAINED = """
import sys, keras
keras.utils.set_random_seed(3)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, name="kept", activation="tanh")])
model.add(keras.layers.Dense(3, name="last"))
model.save(sys.argv[1])
print(model(keras.ops.ones((2, 6))).tolist())
"""


def with_stored_weights(file: Path, last: str = "last") -> ModelCase:
    def read(layer: str) -> Weights:
        return Weights(file=str(file), stored=layer)

    return case(
        node("in", INPUT, shape=(6,)),
        node("a", "Dense", "in", config={"units": 4, "activation": "tanh"}, weights=read("kept")),
        node("b", "Dense", "a", config={"units": 3}, weights=read(last)),
        data=(ArrayValue("float32", (2, 6), Constant(1.0)),),
    )


class Answers:
    """What each case came to on one backend."""

    def __init__(self, environment: Environment, cases: Mapping[str, ModelCase]) -> None:
        done = subprocess.run(
            [str(environment.python), "-I", str(PROBE), str(REPOSITORY), "keras"],
            input=json.dumps([case_to_json(each) for each in cases.values()]),
            env=dict(environment.variables),
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        answer = json.loads(done.stdout.splitlines()[-1])
        self.left: list[str] = answer["left"]
        self.outcomes: dict[str, Outcome] = {
            name: decode_record((status, 1, text.encode("ascii")))
            for name, (status, text) in zip(cases, answer["records"], strict=True)
        }

    def passed(self, name: str) -> dict[str, Output]:
        outcome = self.outcomes[name]
        assert isinstance(outcome, Passed), outcome
        decoded = decode_outputs(outcome.encoded)
        assert decoded is not None
        return items(decoded)


@pytest.fixture(scope="module")
def stored(
    environment_of: Callable[[str], Environment], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Any]:
    """Return a file with a model, and what the model computes of ones."""
    file = tmp_path_factory.mktemp("models") / "trained.keras"
    environment = environment_of(f"keras==3.15.1 + {BACKENDS[0]}")
    done = subprocess.run(
        [str(environment.python), "-I", "-c", TRAINED, str(file)],
        env=dict(environment.variables),
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return file, np.array(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def answers(
    environment_of: Callable[[str], Environment], stored: tuple[Path, Any]
) -> dict[str, Answers]:
    file, _ = stored
    cases = {
        **CASES,
        "stored": with_stored_weights(file),
        "stored elsewhere": with_stored_weights(file.with_suffix(".h5")),
        "stored under another name": with_stored_weights(file, "first"),
    }
    return {
        backend: Answers(environment_of(f"keras==3.15.1 + {backend}"), cases)
        for backend in BACKENDS
    }


def items(output: Output) -> dict[str, Output]:
    assert isinstance(output, Container)
    keys = output.keys or tuple(map(str, range(output.length)))
    return dict(zip(keys, output.items, strict=True))


def numbers(output: Output) -> dict[str, Any]:
    """Return every number in an output by where it is: arrays, and scalars as arrays."""
    if isinstance(output, TensorOutput):
        return {"": output.elements}
    if isinstance(output, Scalar):
        return {"": np.array(float(output.text))} if output.kind in "if" else {}
    return {
        f"{key}/{rest}": found
        for key, item in items(output).items()
        for rest, found in numbers(item).items()
    }


def largest_difference(first: Mapping[str, Output], second: Mapping[str, Output]) -> float:
    """Return the largest |a - b| / (1 + |b|) of all numbers."""
    pairs = [(numbers(first[key]), numbers(second[key])) for key in first]
    assert first.keys() == second.keys()
    worst = 0.0
    for one, two in pairs:
        assert one.keys() == two.keys()
        for key, array in two.items():
            assert one[key].shape == array.shape, key
            worst = max(worst, float(np.max(np.abs(one[key] - array) / (1 + np.abs(array)))))
    return worst


def tensors(output: Output) -> list[TensorOutput]:
    return [each for each in items(output).values() if isinstance(each, TensorOutput)]


def text_of(output: Output) -> str:
    assert isinstance(output, Scalar)
    return output.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *(f"{graph} {check}" for graph in GRAPHS for check in Check),
        *("two outputs", "a hundred layers", "training", "nudged", "probed", "after a wide one"),
        "independent of its input",
        *("masked predict", "masked train", "masked save"),
    ],
)
def test_three_backends_compute_the_same(answers: dict[str, Answers], name: str) -> None:
    torch, *others = (answers[backend].passed(name) for backend in BACKENDS)

    for other in others:
        assert largest_difference(other, torch) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_masks_reach_the_layers_that_use_them(answers: dict[str, Answers], backend: str) -> None:
    masked, plain = (answers[backend].passed(name) for name in ("masked predict", "not masked"))

    assert largest_difference(masked, plain) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_outputs_come_back_whole_and_every_layer_sampled(
    answers: dict[str, Answers], backend: str
) -> None:
    found = answers[backend].passed("residual predict")

    (output,) = tensors(found["outputs"])
    assert (output.dtype, output.shape) == ("float32", (2, 3))
    layers = items(found["layers"])
    assert list(layers) == [each.name for each in RESIDUAL if each.layer != INPUT]
    first = items(layers["first"])
    assert [text_of(each) for each in items(first["shape"]).values()] == ["2", "7", "7", "4"]
    assert text_of(first["dtype"]) == "float32"
    assert isinstance(first["sample"], TensorOutput)
    assert first["sample"].shape == (64,)
    assert float(text_of(first["mean_abs"])) > 0
    assert text_of(first["nan"]) == text_of(first["inf"]) == "0"


@pytest.mark.slow
def test_weights_are_those_of_the_recipe(answers: dict[str, Answers]) -> None:
    plain, nudged = (
        tensors(answers["torch"].passed(name)["outputs"])[0].elements
        for name in ("residual predict", "nudged")
    )

    assert 0 < np.abs(plain - nudged).max() < 1e-5


@pytest.mark.slow
def test_a_model_that_was_loaded_computes_what_it_did_when_it_was_saved(
    answers: dict[str, Answers],
) -> None:
    for backend in BACKENDS:
        for graph in GRAPHS:
            found = answers[backend].passed(f"{graph} save")
            predicted = answers[backend].passed(f"{graph} predict")

            (before,), (after,) = tensors(found["before"]), tensors(found["after"])
            assert before.elements.tobytes() == after.elements.tobytes()
            (output,) = tensors(predicted["outputs"])
            assert np.abs(output.elements - before.elements).max() < 1e-5
        assert answers[backend].left == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wide", "wide sequences", "wide gradients"])
def test_two_backends_compute_the_same_in_double_precision(
    answers: dict[str, Answers], name: str
) -> None:
    torch, tensorflow = (answers[b].passed(name) for b in ("torch", "tensorflow-cpu"))

    assert largest_difference(tensorflow, torch) < 1e-9


@pytest.mark.slow
def test_double_precision_says_what_single_precision_approximates(
    answers: dict[str, Answers],
) -> None:
    wide, narrow = (
        tensors(answers["torch"].passed(name)["outputs"])[0]
        for name in ("wide", "residual predict")
    )

    assert wide.dtype == "float64"
    assert 0 < np.abs(wide.elements - narrow.elements).max() < 1e-5


@pytest.mark.slow
def test_a_backend_without_double_precision_says_so(answers: dict[str, Answers]) -> None:
    outcome = answers["jax"].outcomes["wide"]

    assert isinstance(outcome, Rejected)
    assert outcome.stage is Stage.BUILD
    assert outcome.exception == "CannotComputeError"


@pytest.mark.slow
def test_double_precision_of_a_case_does_not_affect_the_next(answers: dict[str, Answers]) -> None:
    for backend in BACKENDS:
        before, after = (
            answers[backend].passed(name) for name in ("residual predict", "after a wide one")
        )

        assert largest_difference(after, before) == 0


@pytest.mark.slow
def test_gradients_are_there_for_every_trainable_weight_and_floating_input(
    answers: dict[str, Answers],
) -> None:
    for backend in BACKENDS:
        found = answers[backend].passed("sequences train")

        assert list(items(found["inputs"])) == ["series"]
        gradients = items(found["gradients"])
        assert {key.partition("/")[0] for key in gradients} == {
            *("table", "lstm", "each", "both", "heads", "rnn", "out")
        }
        assert len([key for key in gradients if key.startswith("both/")]) == 6
        for gradient in gradients.values():
            described = items(gradient)
            assert isinstance(described["sample"], TensorOutput)
            norm = np.linalg.norm(described["sample"].elements.astype(np.float64))
            assert float(text_of(described["norm"])) == pytest.approx(norm)


@pytest.mark.slow
def test_the_gradient_is_that_of_the_mean_squared_error(answers: dict[str, Answers]) -> None:
    found = answers["torch"].passed("wide gradients")
    (output,) = tensors(answers["torch"].passed("wide")["outputs"])
    truth = elements(["u", 9, 0.0, 1.0], "float32", [2, 3]).reshape(-1)

    assert isinstance(found["loss"], TensorOutput)
    assert found["loss"].elements[0] == pytest.approx(np.mean((output.elements - truth) ** 2))


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_probe_returns_the_inputs_of_its_node_only(
    answers: dict[str, Answers], backend: str
) -> None:
    found = answers[backend].passed("probed")

    assert list(found) == ["inputs"]
    assert [tensor.shape for tensor in tensors(found["inputs"])] == [(2, 7, 7, 4)] * 3


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_large_outputs_come_back_whole_as_long_as_a_record_holds_them(
    answers: dict[str, Answers], backend: str
) -> None:
    large, too_large = (
        items(answers[backend].passed(name)["outputs"])["0"] for name in ("large", "too large")
    )

    assert isinstance(large, TensorOutput)
    assert isinstance(too_large, TensorDigest)
    assert too_large.shape == (2, 300, 80, 20)


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_is_counted_by_layer(answers: dict[str, Answers], backend: str) -> None:
    layers = items(answers[backend].passed("infinite")["layers"])

    counts = {name: items(layer) for name, layer in layers.items()}
    assert text_of(counts["far"]["inf"]) == "0"
    assert int(text_of(counts["farther"]["inf"])) == int(text_of(counts["none"]["nan"])) > 0
    assert np.isfinite(float(text_of(counts["none"]["mean_abs"])))


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_layer_computes_in_the_type_of_its_output(
    answers: dict[str, Answers], backend: str
) -> None:
    (output,) = tensors(answers[backend].passed("half")["outputs"])

    assert output.dtype == "float16"


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_are_read_from_a_file(
    answers: dict[str, Answers], stored: tuple[Path, Any], backend: str
) -> None:
    (output,) = tensors(answers[backend].passed("stored")["outputs"])

    assert np.abs(output.elements - stored[1].reshape(-1)).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stored elsewhere", "stored under another name"])
def test_weights_that_are_not_there_are_the_fault_of_the_case(
    answers: dict[str, Answers], name: str
) -> None:
    outcome = answers["jax"].outcomes[name]

    assert isinstance(outcome, Rejected)
    assert outcome.stage is Stage.BUILD


@pytest.mark.slow
@pytest.mark.parametrize("name", ["refused", "refused in training"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_error_names_its_node(answers: dict[str, Answers], backend: str, name: str) -> None:
    outcome = answers[backend].outcomes[name]

    assert isinstance(outcome, Rejected)
    assert outcome.exception == "ValueError"
    assert outcome.stage is not Stage.BUILD
    assert outcome.message.startswith("layer 'misfit': Input 0 ")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["no such layer", "no such argument"])
def test_missing_name_of_this_version_is_not_run(answers: dict[str, Answers], name: str) -> None:
    for backend in BACKENDS:
        outcome = answers[backend].outcomes[name]

        assert isinstance(outcome, Rejected)
        assert outcome.stage is Stage.BUILD
        assert outcome.message.startswith("layer 'new': ")


@pytest.mark.slow
def test_a_truth_of_another_shape_is_refused(answers: dict[str, Answers]) -> None:
    for backend in BACKENDS:
        outcome = answers[backend].outcomes["no such shape"]

        assert isinstance(outcome, Rejected)
        assert "shape (2, 3), the labels (2, 4)" in outcome.message


def test_a_confined_worker_runs_graphs_and_saves_models(
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
    names = ("residual predict", "residual save", "too large", "refused")
    cases = {name: CASES[name] for name in names}
    encoded = [json.dumps(case_to_json(case)).encode() for case in cases.values()]
    unconfined = Answers(environment, cases)

    with Dispatcher() as dispatcher:
        started = dispatcher.start([spec])["keras"]
        assert isinstance(started, ServerProcess), started
        dispatcher.add(Job("keras", "graphs", tuple(encoded)))
        deadline = time.monotonic() + 300
        found: list[Outcome] = []
        while not found and time.monotonic() < deadline:
            found = [each for result in dispatcher.wait(1.0) for each in result.outcomes]

    for name, outcome in zip(names, found, strict=True):
        expected = unconfined.outcomes[name]
        if isinstance(expected, Passed):
            assert isinstance(outcome, Passed)
            assert outcome.encoded == expected.encoded
        else:
            assert outcome == expected
