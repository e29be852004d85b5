"""Fitting of blocks to their input."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.code.blocks import Block, BlockTensor, LibraryCall, OwnCall
from ciguard.levels.code.dialects import dialect_of
from ciguard.levels.code.fitting import fitted

TORCH = dialect_of("torch")
IMAGE = BlockTensor((4, 8, 6, 6))


def layer(api: str, *positional: str, **keywords: str) -> LibraryCall:
    return LibraryCall(
        api=f"torch.nn.{api}",
        positional=positional,
        keywords=tuple(keywords.items()),
        makes_layer=True,
    )


def block(*calls: LibraryCall, input_sources: tuple[int | None, ...] = (-1,)) -> Block:
    return Block(name="b", calls=calls, input_sources=input_sources)


def test_a_fitting_block_is_unchanged() -> None:
    seed = block(layer("Conv2d", "8", "16", "3"))

    assert fitted(seed, IMAGE, IMAGE, TORCH) == (seed, "")


@pytest.mark.parametrize(
    ("call", "now", "repaired"),
    [
        (layer("Conv2d", "8", "16", "3"), (4, 5, 6, 6), layer("Conv2d", "5", "16", "3")),
        (
            layer("Conv2d", in_channels="WIDTH", out_channels="16", kernel_size="3"),
            (4, 5, 6, 6),
            layer("Conv2d", in_channels="5", out_channels="16", kernel_size="3"),
        ),
        (
            layer("Conv2d", "8", "8", "3", groups="8"),
            (4, 5, 6, 6),
            layer("Conv2d", "5", "5", "3", groups="5"),
        ),
        (
            layer("Conv2d", "8", "16", "3", groups="8"),
            (4, 5, 6, 6),
            layer("Conv2d", "5", "10", "3", groups="5"),
        ),
        (
            layer("Conv2d", "8", "16", "3", groups="4"),
            (4, 6, 6, 6),
            layer("Conv2d", "6", "16", "3", groups="2"),
        ),
        (layer("BatchNorm2d", "8"), (4, 5, 6, 6), layer("BatchNorm2d", "5")),
        (layer("GroupNorm", "1", "8"), (4, 5, 6, 6), layer("GroupNorm", "1", "5")),
        (layer("Linear", "6", "3"), (4, 8, 6, 9), layer("Linear", "9", "3")),
        (layer("LayerNorm", "[6, 6]"), (4, 8, 7, 9), layer("LayerNorm", "(7, 9)")),
        (layer("LayerNorm", "6"), (4, 8, 7, 9), layer("LayerNorm", "9")),
        (layer("LayerNorm", "3"), IMAGE.shape, layer("LayerNorm", "6")),
        (
            layer("Bilinear", "2", in2_features="6", out_features="3"),
            (4, 8, 6, 9),
            layer("Bilinear", "9", in2_features="9", out_features="3"),
        ),
        (layer("PReLU", "1"), (4, 5, 6, 6), layer("PReLU", "1")),
        (layer("PReLU"), (4, 5, 6, 6), layer("PReLU")),
        (layer("ReLU"), (4, 5, 6, 6), layer("ReLU")),
        (layer("Conv2d", "*sizes"), (4, 5, 6, 6), layer("Conv2d", "*sizes")),
    ],
)
def test_sizes_follow_the_input(
    call: LibraryCall, now: tuple[int, ...], repaired: LibraryCall
) -> None:
    assert fitted(block(call), IMAGE, BlockTensor(now), TORCH) == (block(repaired), "")


def test_sizes_follow_the_layers_before_them_in_the_block() -> None:
    mutant = block(
        layer("Conv2d", "8", "12", "3"),
        layer("BatchNorm2d", "16"),
        layer("ReLU"),
        layer("Conv2d", "WIDTH", "16", "1"),
        layer("Linear", "6", "6"),
        input_sources=(-1, 0, 0, 0, None),
    )

    fit = fitted(mutant, IMAGE, IMAGE, TORCH)

    assert fit is not None
    texts = [call.positional[:1] for call in fit[0].calls]
    assert texts == [("8",), ("12",), (), ("12",), ("6",)]


def test_both_directions_of_a_recurrent_layer_are_not_guessed() -> None:
    seed = block(
        layer("LSTM", "6", "5", bidirectional="True"),
        layer("Linear", "10", "2"),
        input_sources=(-1, 0),
    )

    assert fitted(seed, BlockTensor((4, 3, 6)), BlockTensor((4, 3, 6)), TORCH) == (seed, "")


@pytest.mark.parametrize(("given_text", "text"), [("8", "5"), ("64", "40"), ("a // b", "5")])
def test_a_class_of_the_program_gets_its_size_in_proportion(given_text: str, text: str) -> None:
    call = LibraryCall(api="Fire", positional=(given_text, "3"), makes_layer=True)
    own = OwnCall(call=call, parameter="channels", position=0, axis=1)

    fit = fitted(
        Block(name="b", calls=(), own_calls=(own,)), IMAGE, BlockTensor((4, 5, 6, 6)), TORCH
    )

    assert fit is not None
    assert fit[0].own_calls[0].call.positional == (text, "3")


def test_another_rank_gets_an_adapter_and_adjusted_sizes() -> None:
    seed = block(layer("Linear", "64", "3"))

    assert fitted(seed, BlockTensor((4, 64)), IMAGE, TORCH) == (
        replace(block(layer("Linear", "288", "3")), adapter="x.flatten(1)"),
        "x.flatten(1)",
    )


def test_integers_are_cast_and_adapted_in_one_expression() -> None:
    torch = fitted(
        block(layer("ReLU")), BlockTensor((4, 9)), BlockTensor((4, 3, 3), "int64"), TORCH
    )
    keras = fitted(
        block(layer("ReLU")),
        BlockTensor((4, 9)),
        BlockTensor((4, 3, 3), "int64"),
        dialect_of("tensorflow"),
    )

    layers = "tensorflow.keras.layers"
    assert torch is not None
    assert torch[1] == "x.float().flatten(1)"
    assert keras is not None
    assert keras[1] == f"{layers}.Flatten()({layers}.Rescaling(1.0)(x))"


def test_a_block_of_integers_accepts_nothing_else() -> None:
    seed = block(layer("Embedding", "9", "4"))

    assert fitted(seed, BlockTensor((4, 3), "int64", 9), BlockTensor((4, 3)), TORCH) is None


def test_an_empty_vector_fits_no_block() -> None:
    assert fitted(block(layer("ReLU")), IMAGE, BlockTensor((4, 0)), TORCH) is None


@given(st.lists(st.integers(1, 20), min_size=2, max_size=5).map(tuple))
def test_fitting_is_idempotent(shape: tuple[int, ...]) -> None:
    seed = block(layer("Conv2d", "8", "16", "3"), layer("BatchNorm2d", "16"), input_sources=(-1, 0))

    once = fitted(seed, IMAGE, BlockTensor(shape), TORCH)

    assert once is not None
    assert fitted(once[0], IMAGE, BlockTensor(shape), TORCH) == once


def test_a_replacement_for_volumes_gets_volumes() -> None:
    mutant = block(layer("Conv3d", "1", "16", "3"))

    fit = fitted(mutant, IMAGE, IMAGE, TORCH, rank=5)

    adapter = "x.flatten(1).unflatten(1, (8, 6, 2, 3))"
    assert fit == (replace(block(layer("Conv3d", "8", "16", "3")), adapter=adapter), adapter)
