"""Conversion of seed models to layer graphs and back in a real Keras target."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.case import case_to_json
from ciguard.domain.models import (
    INPUT,
    LayerGraph,
    ModelCase,
    SampleKind,
    graph_from_json,
    graph_to_json,
)
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import ArrayValue, Constant
from ciguard.errors import SeedModelError
from ciguard.execution import Container, Dispatcher, Job, TensorOutput, decode_outputs
from ciguard.levels.model.seed_sources import FOLDERS as MODEL_FOLDERS
from ciguard.levels.model.seed_sources import KerasApplication, parse_source, shipped_scripts
from ciguard.levels.model.seeds import SeedModel, read_seed_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ciguard.targets import Environment

REPOSITORY = Path(__file__).parents[2]
PROBE = Path(__file__).with_name("graph_probe.py")
TARGET = "keras==3.15.1 + torch"
KEEPS = REPOSITORY / "kept"

SIZES = {
    "alexnet_cifar10": (1_250_000, 17),
    "densenet121": (8_060_000, 121),
    "inception_v3": (23_900_000, 159),
    "lenet5_fashion_mnist": (413_000, 10),
    "lenet5_mnist": (62_000, 13),
    "lstm_price": (27_000, 3),
    "lstm_sine": (71_000, 5),
    "mobilenet_v1": (4_250_000, 88),
    "resnet50": (25_600_000, 50),
    "vgg16": (138_000_000, 23),
    "vgg19": (144_000_000, 26),
    "xception": (22_900_000, 126),
}
"""Numbers of parameters and of layers of each seed in LEMON, table 1."""

SCRIPT = """
import os
import socket
import keras
from beside import units

CALLED = 1

def build(width=1.0):
    print("noise on the output of the worker")
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(round(units * width))])

def without_width():
    words = keras.Input((4,), dtype="int32")
    table = keras.layers.Embedding(9, 2)(words)
    return keras.Model(words, keras.layers.Softmax()(keras.layers.Flatten()(table)))

def raises():
    raise KeyError("nothing there")

def dies():
    os.kill(os.getpid(), 11)

def hangs():
    while True:
        pass

def reads():
    return open(SECRET).read()

def calls_home():
    socket.create_connection(("127.0.0.1", 9))

def returns_nothing():
    pass

def leaves():
    raise SystemExit(0)
"""

pytestmark = pytest.mark.library("keras")


@pytest.fixture(scope="module")
def environment(environment_of: Callable[[str], Environment]) -> Environment:
    return environment_of(TARGET)


def ask(environment: Environment, folder: Path, *question: str) -> Any:
    completed = subprocess.run(
        [str(environment.python), "-I", str(PROBE), str(REPOSITORY), str(folder), *question],
        env=dict(environment.variables),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr[-2000:]
    return json.loads(completed.stdout.splitlines()[-1])


# --- graphs ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return ask(environment, tmp_path_factory.mktemp("small"), "seeds", "0.05")


@pytest.fixture(scope="module")
def good(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return ask(environment, tmp_path_factory.mktemp("good"), "good")


@pytest.fixture(scope="module")
def refusals(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return ask(environment, tmp_path_factory.mktemp("bad"), "bad")


@pytest.mark.parametrize("name", sorted(SIZES))
def test_a_small_seed_survives_the_round_trip_through_its_graph(small: Any, name: str) -> None:
    result = small[name]

    graph = graph_from_json(result["graph"])
    original, rebuilt = result["parameters"]
    assert result["name"] == name.replace("_", "-")
    assert len(graph.nodes) >= SIZES[name][1]
    assert original == rebuilt < SIZES[name][0] / 50
    assert result["shapes"][0] == result["shapes"][1]
    assert result["same"]
    assert graph_to_json(graph) == result["graph"]


@pytest.mark.parametrize(
    "name",
    [
        *("nested", "shared", "masked", "reopened", "older", "odd_names", "derived_defaults"),
        *("stacked_cells", "deep", "state_given", "given_as_dictionary"),
    ],
)
def test_a_model_of_any_form_survives_the_round_trip_through_its_graph(
    good: Any, name: str
) -> None:
    result = good[name]

    assert result["parameters"][0] == result["parameters"][1]
    assert result["shapes"][0] == result["shapes"][1]
    assert result["same"]


def test_nested_models_are_flattened(good: Any) -> None:
    graph = graph_from_json(good["nested"]["graph"])

    assert [node.layer.rpartition(".")[2] for node in graph.nodes] == [
        *("Input", "Input", "Maximum", "Add", "Add", "Dense", "Dense", "Concatenate"),
    ]
    first, repeated = (node for node in graph.nodes if node.layer == "keras.layers.Dense")
    assert (first.shares, repeated.shares) == ("", first.name)
    assert first.weights.stored == "two/inner/dense"


def test_a_layer_that_is_called_several_times_is_shared(good: Any) -> None:
    graph = graph_from_json(good["shared"]["graph"])

    calls = [node for node in graph.nodes if node.layer == "keras.layers.Dense"]
    assert [node.shares for node in calls] == ["", calls[0].name, calls[0].name]
    assert [bool(node.weights.seed) for node in calls] == [True, False, False]


def test_only_arguments_that_differ_from_defaults_are_stored(good: Any) -> None:
    graph = graph_from_json(good["derived_defaults"]["graph"])

    pool, average, transposed, convolution, norm = (dict(n.config) for n in graph.nodes[1:])
    assert pool == {"pool_size": [3, 3], "strides": [2, 2]}
    assert average == {"pool_size": [2, 2], "padding": "same"}
    assert transposed == {
        "filters": 3,
        "kernel_size": [3, 2],
        "strides": [2, 2],
        "activation": "elu",
        "use_bias": False,
    }
    leaky = {"layer": "keras.layers.LeakyReLU", "config": {"negative_slope": 0.1}}
    assert convolution == {"filters": 2, "kernel_size": [1, 1], "activation": leaky}
    assert norm == {"axis": 1, "epsilon": 0.01}


def test_names_of_nodes_are_valid_and_unique(good: Any) -> None:
    graph = graph_from_json(good["odd_names"]["graph"])

    assert [node.name for node in graph.nodes] == ["layer_1st_input", "a_b_c", "a_b_c_2"]


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("subclassed model", "is a subclass of keras.Model, which cannot be stored"),
        ("own layer", "layer 'odd': the layer's class __main__.Own is not in keras.layers"),
        ("lambda", "layer 'odd': Lambda runs custom code"),
        ("several outputs", "layer 'odd': the layer has 3 outputs instead of one"),
        ("operation", "layer 'exp': this is the operation Exp, not a layer: use a layer from"),
        ("training", "layer 'odd': the layer is called with training=True, but a seed"),
        ("ranks", "layer 'add': this is the operation Add"),
        ("initial states", "layer 'odd': the layer is called with initial_state="),
        ("dynamic", "layer 'input_layer': the shape (None, None, 2) is dynamic"),
        ("not built", "the model was never built: add keras.Input(shape)"),
        ("own activation", "layer 'odd': an argument of the layer's constructor is the function"),
        ("own regulariser", "layer 'odd': an argument of the layer's constructor is the Penalty"),
        ("dtype", "layer 'odd': the layer computes in mixed_float16, but in float32 when"),
        ("text", "layer 'odd': inputs of type string are not supported"),
        ("tied", "layer 'odd': the layer shares a weight with layer 'dense'"),
    ],
)
def test_a_model_that_is_not_a_graph_is_rejected_with_the_reason(
    refusals: Any, model: str, why: str
) -> None:
    assert refusals[model].startswith("model 'tower'")
    assert why in refusals[model]
    is_own_code = model in {"subclassed model", "own layer", "lambda", "own activation"}
    assert not is_own_code or "level function" in refusals[model]


@pytest.mark.slow
def test_seeds_have_the_sizes_in_the_paper(environment: Environment, tmp_path: Path) -> None:
    sizes = ask(environment, tmp_path, "sizes")

    assert sizes.keys() == SIZES.keys()
    for name, (parameters, layers) in sizes.items():
        assert parameters == pytest.approx(SIZES[name][0], rel=0.02), name
        assert layers >= SIZES[name][1], name


# --- in a worker ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, environment: Environment) -> Path:
    folder = tmp_path_factory.mktemp("user")
    secret = tmp_path_factory.mktemp("private") / "key"
    secret.write_text("secret")
    saved = folder / "saved"
    saved.mkdir()
    (saved / "computed.json").write_text(json.dumps(ask(environment, saved, "files")))
    (folder / "beside.py").write_text("units = 6\n")
    (folder / "own.py").write_text(f"SECRET = {str(secret)!r}\n{SCRIPT}")
    (folder / "odd.py").write_text("DATA = 'whales'\nfrom own import build\n")
    (folder / "broken.keras").write_text("no archive")
    return folder


@pytest.fixture(scope="module")
def dispatcher(environment: Environment, folder: Path) -> Iterator[Dispatcher]:
    spec = worker_spec("keras", environment, Config())
    shipped = next(iter(shipped_scripts().values())).parent
    folders = {MODEL_FOLDERS: json.dumps({"saved": str(folder / "saved")})}
    spec = replace(
        spec,
        readable=(*spec.readable, folder, shipped),
        variables={**spec.variables, **folders},
    )
    with Dispatcher() as dispatcher:
        started = dispatcher.start([spec])["keras"]
        assert not isinstance(started, Exception), started
        yield dispatcher


def described(
    dispatcher: Dispatcher, folder: Path, *texts: str, limit_s: float = 120
) -> list[SeedModel | str]:
    """Return the seed model that each text names, or the error."""
    sources = [parse_source(text, width=0.5, base=folder, weights_folder=KEEPS) for text in texts]
    records = dispatcher.tasks("keras").models(
        [source.request for source in sources], limit_s=limit_s
    )
    return [read(source, record) for source, record in zip(sources, records, strict=True)]


def read(source: Any, record: Mapping[str, Any]) -> SeedModel | str:
    try:
        return read_seed_model(source, dict(record))
    except SeedModelError as error:
        return str(error)


def layers_of(graph: LayerGraph) -> list[str]:
    return [node.layer.rpartition(".")[2] for node in graph.nodes]


def test_shipped_seeds_are_described_with_their_data(dispatcher: Dispatcher, folder: Path) -> None:
    digits, sine = described(dispatcher, folder, "lenet5-mnist", "lstm-sine")

    assert isinstance(digits, SeedModel)
    assert isinstance(sine, SeedModel)
    assert (digits.name, digits.classes, digits.label_shape) == ("lenet5-mnist", 10, (10,))
    assert [(feed.kind, feed.shape) for feed in digits.data] == [(SampleKind.DIGITS, (28, 28, 1))]
    assert [(feed.kind, feed.shape) for feed in sine.data] == [(SampleKind.SINE, (10, 1))]
    assert (sine.classes, sine.label_shape) == (0, (1,))
    assert layers_of(sine.graph) == ["Input", "LSTM", "Dropout", "LSTM", "Dropout", "Dense"]


def test_describing_a_seed_is_repeatable(dispatcher: Dispatcher, folder: Path) -> None:
    first, second = described(dispatcher, folder, "lenet5-mnist", "lenet5-mnist")

    assert first == second


def test_a_function_of_the_user_is_described(dispatcher: Dispatcher, folder: Path) -> None:
    scaled, looked_up = described(dispatcher, folder, "own.py", "own.py:without_width")

    assert isinstance(scaled, SeedModel)
    assert isinstance(looked_up, SeedModel)
    assert scaled.label_shape == (3,)
    assert scaled.data[0].kind is None
    (feed,) = looked_up.data
    assert (feed.shape, feed.dtype, feed.below) == ((4,), "int32", 9)
    assert looked_up.classes == 8


@pytest.mark.parametrize("file", ["tower.keras", "tower.h5"])
def test_a_saved_model_keeps_its_weights(dispatcher: Dispatcher, folder: Path, file: str) -> None:
    (seed,) = described(dispatcher, folder, f"saved/{file}")

    assert isinstance(seed, SeedModel)
    weights = [node.weights for node in seed.graph.nodes if node.layer != INPUT]
    assert {weight.file for weight in weights} == {f"saved/{file}"}  # wherever that is here
    assert [weight.stored for weight in weights] == ["lower/out", "upper/out", "out"]
    assert (seed.classes, seed.label_shape) == (3, (3,))
    computed = json.loads((folder / "saved" / "computed.json").read_text())[file]
    assert outputs_of_ones(dispatcher, seed) == pytest.approx(computed, rel=1e-5)


def outputs_of_ones(dispatcher: Dispatcher, seed: SeedModel) -> list[float]:
    """Return a worker's outputs of a seed for an input of ones."""
    (feed,) = seed.data
    ones = ArrayValue(feed.dtype, (1, *feed.shape), Constant(1.0))
    truth = ArrayValue("float32", (1, *seed.label_shape), Constant(0.0))
    case = ModelCase(api="keras.Model", graph=seed.graph, data=(ones,), truth=truth)
    dispatcher.add(Job("keras", "test", (json.dumps(case_to_json(case)).encode(),), limit_s=60))
    while not (results := dispatcher.wait(60)):
        assert not dispatcher.is_idle
    (outcome,) = results[0].outcomes
    assert isinstance(outcome, Passed), outcome
    output = decode_outputs(outcome.encoded)
    assert isinstance(output, Container)
    outputs = output.items[output.keys.index("outputs")]
    assert isinstance(outputs, Container)
    assert isinstance(outputs.items[0], TensorOutput)
    return [float(element) for element in outputs.items[0].elements]


def test_an_application_needs_no_network_without_its_weights(
    dispatcher: Dispatcher, folder: Path
) -> None:
    (seed,) = described(dispatcher, folder, "application:mobilenet")

    assert isinstance(seed, SeedModel)
    assert seed.label_shape == (1000,)


def test_an_unknown_application_is_an_error_with_the_known_ones(
    dispatcher: Dispatcher, tmp_path: Path
) -> None:
    # The folder is not writable to this worker, and no test depends on a network.
    source = KerasApplication(name="p", application="NoSuchNet", weights_folder=tmp_path)

    (record,) = dispatcher.tasks("keras").models([source.request])

    with pytest.raises(
        SeedModelError, match=r"keras\.applications has no 'NoSuchNet'; it has: .*VGG"
    ):
        read_seed_model(source, record)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("own.py:missing", "has no function 'missing'; it has: build, without_width, raises"),
        ("own.py:CALLED", "has no function 'CALLED'"),
        ("own.py:raises", "KeyError: 'nothing there'"),
        ("own.py:dies", "its process crashed with signal 11"),
        ("own.py:reads", "PermissionError"),
        ("own.py:calls_home", "PermissionError"),
        ("own.py:returns_nothing", "returns NoneType, not a keras.Model"),
        ("own.py:leaves", "cannot be read"),
        (
            "odd.py",
            "its script sets DATA = 'whales', which is not a known kind of data. Known: digits",
        ),
        ("broken.keras", "broken.keras"),
    ],
)
def test_a_failing_source_is_an_error_of_that_source_only(
    dispatcher: Dispatcher, folder: Path, text: str, why: str
) -> None:
    failed, other = described(dispatcher, folder, text, "own.py")

    assert isinstance(failed, str)
    assert failed.startswith(f"seed model {text}: ")
    assert why in failed
    assert isinstance(other, SeedModel)


def test_a_builder_that_hangs_times_out(dispatcher: Dispatcher, folder: Path) -> None:
    (failed,) = described(dispatcher, folder, "own.py:hangs", limit_s=3)

    assert failed == "seed model own.py:hangs: not described within 3 s"


def test_a_file_that_workers_cannot_read_is_an_error(
    dispatcher: Dispatcher, tmp_path: Path
) -> None:
    (tmp_path / "hidden.py").write_text("build = 1\n")

    (failed,) = described(dispatcher, tmp_path, "hidden.py")

    assert isinstance(failed, str)
    assert "hidden.py" in failed
    assert "PermissionError" in failed or "workers have no access" in failed
