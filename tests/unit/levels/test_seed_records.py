"""Seed models: their specification, and the parsing of a target's records."""

from __future__ import annotations

import ast
import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.models import INPUT, LayerNode, SampleKind
from ciguard.errors import ConfigurationError, SeedModelError, UnknownNameError
from ciguard.levels.model.seed_sources import (
    KerasApplication,
    ModelScript,
    SavedModel,
    SeedSource,
    parse_source,
    shipped_scripts,
)
from ciguard.levels.model.seeds import InputDescription, read_seed_model

WEIGHTS_FOLDER = Path("/cache/models")
SHIPPED = {
    *("alexnet-cifar10", "densenet121", "inception-v3", "lenet5-fashion-mnist", "lenet5-mnist"),
    *("lstm-price", "lstm-sine", "mobilenet-v1", "resnet50", "vgg16", "vgg19", "xception"),
}
SCRIPT = ModelScript(name="own", path=Path("/user/own.py"), root=Path("/user"))
SAVED = SavedModel(name="saved", path=Path("/user/m.keras"))
RECORD: dict[str, Any] = {
    "name": "own",
    "graph": {
        "nodes": [
            {"name": "words", "layer": "keras.Input", "shape": [4], "dtype": "int32"},
            {"name": "table", "layer": "keras.layers.Embedding", "shape": [4, 2],
             "inputs": ["words"], "config": {"input_dim": 9, "output_dim": 2}},
            {"name": "out", "layer": "keras.layers.Flatten", "shape": [8], "inputs": ["table"]},
        ],
        "outputs": ["out"],
    },
    "data": [{"kind": "", "shape": [4], "dtype": "int32", "below": 9}],
    "truth": [8],
    "classes": 0,
}  # fmt: skip


def parse(text: str, base: Path, width: float = 1.0) -> SeedSource:
    return parse_source(text, width=width, base=base, weights_folder=WEIGHTS_FOLDER)


def constants(path: Path) -> dict[str, Any]:
    """Return the literals that a script assigns at its top level, by name."""
    source = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                source[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue  # not a literal
    return source


# --- names ----------------------------------------------------------------------------------------


def test_the_models_of_the_paper_are_shipped() -> None:
    assert set(shipped_scripts()) == SHIPPED


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_shipped_script_declares_its_model(name: str) -> None:
    declared = constants(shipped_scripts()[name])

    assert declared["NAME"] == name
    assert SampleKind(declared["DATA"])
    assert all(size > 0 for size in declared["INPUT"])
    assert ("CLASSES" in declared) == (declared["DATA"] in {"digits", "images"})


def test_a_shipped_model_is_found_by_name(tmp_path: Path) -> None:
    source = parse("lenet5-mnist", tmp_path, 0.25)

    assert isinstance(source, ModelScript)
    assert source.path.name == "lenet5_mnist.py"
    assert source.readable == (source.path.parent, source.path.parent)
    assert source.request == {
        "name": "lenet5-mnist",
        "script": str(source.path),
        "function": "build",
        "root": str(source.path.parent),
        "width": 0.25,
    }


def test_a_function_of_a_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "models" / "tower.py"
    path.parent.mkdir()
    path.touch()

    explicit = parse("models/tower.py:tall", tmp_path)
    default = parse("models/tower.py", tmp_path)

    expected = ModelScript(name="models/tower.py:tall", path=path, function="tall", root=tmp_path)
    assert explicit == expected
    assert isinstance(default, ModelScript)
    assert default.function == "build"
    assert expected.readable == (path.parent, tmp_path)
    assert not expected.may_read_weights(str(path))


@pytest.mark.parametrize("name", ["tower.keras", "tower.h5"])
def test_a_saved_model_is_found(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.touch()

    source = parse(name, tmp_path)

    assert source == SavedModel(name=name, path=path)
    assert source.readable == (path,)
    assert source.writable == ()
    assert source.may_read_weights(str(path))
    assert not source.may_read_weights("/etc/passwd")


def test_weights_of_an_application_are_downloaded_only_on_request(tmp_path: Path) -> None:
    plain = parse("application:MobileNet", tmp_path)
    trained = parse("pretrained:MobileNet", tmp_path)

    assert plain == KerasApplication(name="application:MobileNet", application="MobileNet")
    assert plain.readable == plain.writable == ()
    assert "folder" not in plain.request
    assert trained.request["folder"] == str(WEIGHTS_FOLDER)
    assert trained.readable == trained.writable == (WEIGHTS_FOLDER,)
    assert trained.may_read_weights(f"{WEIGHTS_FOLDER}/mobilenet.keras")
    assert not trained.may_read_weights("/etc/passwd")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "lenet-mnist",
            "no such seed model. Did you mean 'lenet5-mnist'? Known: alexnet-cifar10, ",
        ),
        ("tower.onnx", "A file must end in .py, .keras or .h5. "),
        ("", "no such seed model"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_known_names(
    tmp_path: Path, text: str, why: str
) -> None:
    with pytest.raises(UnknownNameError) as caught:
        parse(text, tmp_path)

    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gone.keras", "there is no file {}/gone.keras. {} contains: tower.h5, tower.py"),
        ("gone.py:build", "there is no file {}/gone.py"),
        ("no/folder/gone.h5", "no/folder contains: no model"),
        ("tower.py:tall-one", "'tall-one' is not a function name"),
        ("tower.py:", "Write path/to/model.py:function"),
        ("folder.keras", "there is no file {}/folder.keras"),
        ("pretrained:", "write pretrained:NAME with a model of keras.applications"),
        ("application:../x", "such as application:MobileNetV2"),
    ],
)
def test_a_missing_seed_model_is_an_error_with_a_remedy(
    tmp_path: Path, text: str, why: str
) -> None:
    for name in ("tower.py", "tower.h5", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "folder.keras").mkdir()

    with pytest.raises(ConfigurationError) as caught:
        parse(text, tmp_path)

    assert why.format(tmp_path, tmp_path) in str(caught.value).replace("folder.keras, ", "")


# --- records --------------------------------------------------------------------------------------


def test_a_seed_record_is_parsed() -> None:
    seed = read_seed_model(SCRIPT, RECORD)

    assert (seed.name, seed.label_shape, seed.classes) == ("own", (8,), 0)
    assert seed.data == (InputDescription(kind=None, shape=(4,), dtype="int32", below=9),)
    assert [node.name for node in seed.graph.nodes] == ["words", "table", "out"]
    assert seed.graph.inputs == (LayerNode(name="words", layer=INPUT, shape=(4,), dtype="int32"),)


def test_an_error_in_a_record_names_the_model() -> None:
    with pytest.raises(SeedModelError, match=r"^seed model own: no\\nline"):
        read_seed_model(SCRIPT, {"name": "else", "error": "no\nline"})


def changed(*path: Any, to: Any) -> dict[str, Any]:
    record = copy.deepcopy(RECORD)
    place: Any = record
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return record


DAMAGED = {
    "no graph": changed("graph", to=[]),
    "no nodes": changed("graph", "nodes", to=[]),
    "too many nodes": changed(
        "graph",
        "nodes",
        to=[
            *RECORD["graph"]["nodes"],
            *({"name": f"n{i}", "layer": INPUT, "shape": [1]} for i in range(20_000)),
        ],
    ),
    "endless size": changed("graph", "nodes", 1, "shape", to=[float("inf")]),
    "huge shape": changed("graph", "nodes", 1, "shape", to=[1 << 20, 1 << 20]),
    "empty shape": changed("graph", "nodes", 1, "shape", to=[0]),
    "a class of its own": changed("graph", "nodes", 1, "layer", to="os.system"),
    "a private class": changed("graph", "nodes", 1, "layer", to="keras.layers.core.x"),
    "an input with inputs": changed("graph", "nodes", 1, "layer", to=INPUT),
    "a layer without inputs": changed("graph", "nodes", 1, "inputs", to=[]),
    "a bad name": changed("graph", "nodes", 2, "name", to="a/b"),
    "a strange type": changed("graph", "nodes", 1, "dtype", to="object"),
    "a file of others": changed("graph", "nodes", 1, "weights", to={"file": "/etc/passwd"}),
    "no data": changed("data", to=[]),
    "data of another shape": changed("data", 0, "shape", to=[5]),
    "data of another type": changed("data", 0, "dtype", to="float32"),
    "a strange kind": changed("data", 0, "kind", to="whales"),
    "a negative table": changed("data", 0, "below", to=-1),
    "another truth": changed("truth", to=[9]),
    "a truth of truth": changed("truth", to=[True]),
    "no classes": changed("classes", to=None),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_record_is_an_error(damage: str) -> None:
    with pytest.raises(SeedModelError, match=r"^seed model own: "):
        read_seed_model(SCRIPT, DAMAGED[damage])


def test_weights_are_read_only_from_the_requested_file() -> None:
    def stored(file: str) -> dict[str, Any]:
        return changed("graph", "nodes", 1, "weights", to={"file": file, "stored": "table"})

    seed = read_seed_model(SAVED, stored("/user/m.keras"))

    assert seed.graph.nodes[1].weights.stored == "table"
    with pytest.raises(SeedModelError, match="node 'table'"):
        read_seed_model(SAVED, stored("/user/../etc/passwd"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
PLACES = [
    *(("graph",), ("data",), ("truth",), ("classes",), ("graph", "nodes"), ("graph", "outputs")),
    *(("data", 0, key) for key in ("kind", "shape", "dtype", "below")),
    *(
        ("graph", "nodes", 1, key)
        for key in ("name", "layer", "shape", "inputs", "dtype", "weights", "shares", "as_list")
    ),
]


@given(place=st.sampled_from(PLACES), value=JSON)
def test_any_record_is_parsed_or_rejected(place: tuple[Any, ...], value: Any) -> None:
    try:
        seed = read_seed_model(SCRIPT, changed(*place, to=value))
    except SeedModelError:
        return
    assert seed.graph.outputs
