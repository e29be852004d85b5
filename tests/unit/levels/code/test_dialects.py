"""Dialects of the libraries: adapters, sizes and statements."""

from __future__ import annotations

import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.errors import UnknownNameError
from ciguard.levels.code.blocks import BlockTensor, LibraryCall
from ciguard.levels.code.dialects import dialect_of, has_weights, keeps_size
from ciguard.levels.code.running import recorder_statements, run_statements

LIBRARIES = ("torch", "tensorflow", "jittor")
shapes = st.lists(st.integers(1, 40), min_size=2, max_size=5).map(tuple)


@given(library=st.sampled_from(LIBRARIES), shape=shapes, rank=st.integers(2, 5))
def test_adapters_keep_the_batch_and_every_element(
    library: str, shape: tuple[int, ...], rank: int
) -> None:
    adapter = dialect_of(library).adapter(shape, rank, 1)

    assert adapter is not None
    text, now = adapter
    assert (now[0], len(now), math.prod(now)) == (shape[0], rank, math.prod(shape))
    assert isinstance(ast.parse(text, mode="eval").body, ast.Call)


@pytest.mark.parametrize(
    ("library", "shape", "rank", "text", "now"),
    [
        ("torch", (4, 8, 3, 3), 2, "x.flatten(1)", (4, 72)),
        ("torch", (4, 8), 4, "x.flatten(1).unflatten(1, (8, 1, 1))", (4, 8, 1, 1)),
        ("torch", (4, 8, 36), 4, "x.flatten(1).unflatten(1, (8, 6, 6))", (4, 8, 6, 6)),
        ("jittor", (4, 8, 3, 2), 3, "x.reshape((-1, 8, 6))", (4, 8, 6)),
        (
            *("tensorflow", (4, 3, 2, 8), 3),
            *("tensorflow.keras.layers.Reshape((6, 8))(x)", (4, 6, 8)),
        ),
    ],
)
def test_reshaping_keeps_the_channels(
    library: str, shape: tuple[int, ...], rank: int, text: str, now: tuple[int, ...]
) -> None:
    assert dialect_of(library).adapter(shape, rank, 1) == (text, now)


def test_no_shape_without_a_batch_is_adapted() -> None:
    assert dialect_of("torch").adapter((4, 8), 1, 1) is None
    assert dialect_of("torch").adapter((), 2, 1) is None


@pytest.mark.parametrize(
    ("library", "text", "layers"),
    [
        ("torch", "x.flatten(1)", ["torch.nn.Flatten(1)"]),
        (
            *("torch", "x.flatten(1).unflatten(1, (2, 3))"),
            ["torch.nn.Flatten(1)", "torch.nn.Unflatten(1, (2, 3))"],
        ),
        ("torch", "x.float()", None),
        ("jittor", "x.reshape((-1, 2))", ["lambda x: x.reshape((-1, 2))"]),
        ("jittor", "x.flatten(1)", ["jittor.nn.Flatten(1)"]),
        ("tensorflow", "keras.layers.Flatten()(x)", ["keras.layers.Flatten()"]),
        ("torch", "_Seen(3)(x)", ["_Seen(3)"]),
    ],
)
def test_adapters_become_layers_of_a_sequence(
    library: str, text: str, layers: list[str] | None
) -> None:
    assert dialect_of(library).element(text) == layers


@pytest.mark.parametrize(
    ("library", "rank", "text", "layers"),
    [
        ("torch", 2, "x.unflatten(0, (-1, 1))", ["torch.nn.Unflatten(0, (-1, 1))"]),
        ("torch", 4, "x.unflatten(0, (-1, 1, 1, 1))", ["torch.nn.Unflatten(0, (-1, 1, 1, 1))"]),
        ("jittor", 2, "x.reshape((-1, 1))", None),
        ("tensorflow", 2, "tensorflow.keras.layers.Flatten()(x)", None),
    ],
)
def test_one_number_per_sample_is_one_feature(
    library: str, rank: int, text: str, layers: list[str] | None
) -> None:
    dialect = dialect_of(library)

    assert dialect.adapter((4,), rank, 1) == (text, (4, *[1] * (rank - 1)))
    assert layers is None or dialect.element(text) == layers


@pytest.mark.parametrize(
    ("api", "parameter"),
    [
        ("torch.nn.Conv2d", "in_channels"),
        ("torch.nn.ConvTranspose1d", "in_channels"),
        ("jittor.nn.BatchNorm", "num_features"),
        ("torch.nn.GroupNorm", "num_channels"),
        ("torch.nn.LSTM", "input_size"),
        ("torch.nn.ReLU", None),
    ],
)
def test_sizes_of_inputs_are_known(api: str, parameter: str | None) -> None:
    library = api.partition(".")[0]
    size = dialect_of(library).input_size(LibraryCall(api=api, makes_layer=True))

    assert (size.name if size is not None else None) == parameter


def test_keras_infers_sizes() -> None:
    call = LibraryCall(api="keras.layers.Dense", makes_layer=True)

    assert dialect_of("tensorflow").input_size(call) is None


def test_layers_with_weights_are_recognised() -> None:
    assert all(map(has_weights, ("torch.nn.Linear", "keras.layers.DepthwiseConv2D", "LSTM")))
    assert not any(map(has_weights, ("torch.nn.ReLU", "keras.layers.Flatten", "torch.cat")))
    assert keeps_size("torch.nn.functional.leaky_relu")
    assert not keeps_size("torch.flatten")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "uint8"])
def test_statements_that_run_a_model_are_python(library: str, dtype: str) -> None:
    text = run_statements(library, "model", BlockTensor((2, 3), dtype))

    assert "(2, 3)" in text
    ast.parse(text)
    ast.parse(recorder_statements(library))


def test_an_unknown_library_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="library of level 'code' 'caffe'"):
        dialect_of("caffe")
