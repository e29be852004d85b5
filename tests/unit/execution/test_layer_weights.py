"""Weights follow from their recipe, and each rule changes them as specified."""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.models import WeightRule
from ciguard.execution.worker.layer_weights import NOISE, SHARE, arrays

DENSE = [("kernel", (20, 10), "float32"), ("bias", (10,), "float32")]
LAYERS: dict[str, list[tuple[str, tuple[int, ...], str]]] = {
    "keras.layers.Dense": DENSE,
    "keras.layers.Conv2D": [("kernel", (3, 3, 4, 10), "float32"), ("bias", (10,), "float32")],
    "keras.layers.Conv2DTranspose": [
        ("kernel", (3, 3, 10, 4), "float32"),
        ("bias", (10,), "float32"),
    ],
    "keras.layers.DepthwiseConv2D": [
        ("kernel", (3, 3, 5, 2), "float32"),
        ("bias", (10,), "float32"),
    ],
    "keras.layers.Embedding": [("embeddings", (30, 10), "float32")],
    "keras.layers.SimpleRNN": [
        ("kernel", (4, 10), "float32"),
        ("recurrent_kernel", (10, 10), "float32"),
        ("bias", (10,), "float32"),
    ],
    "keras.layers.LSTM": [
        ("kernel", (4, 40), "float32"),
        ("recurrent_kernel", (10, 40), "float32"),
        ("bias", (40,), "float32"),
    ],
    "keras.layers.GRU": [
        ("kernel", (4, 30), "float32"),
        ("recurrent_kernel", (10, 30), "float32"),
        ("bias", (2, 30), "float32"),
    ],
}
"""Each with ten neurons."""
ANY_LAYER = st.sampled_from(sorted(LAYERS))
SEEDS = st.integers(0, 2**62)


def by(number: int, *, moves_zeros: bool = False) -> tuple[int, bool]:
    return number, moves_zeros


def by_neuron(layer: str, name: str, array: Any) -> Any:
    """Return (connections in all gates, 10): what belongs to each of the ten neurons."""
    if name == "kernel" and layer.endswith("Transpose"):
        array = np.moveaxis(array, -2, -1)
    return array.reshape(-1, 10)


def edited(layer: str, rule: WeightRule, seed: int) -> list[tuple[str, Any, Any]]:
    """Return name, array before and array after for each weight."""
    before = arrays(layer, {"seed": 7}, LAYERS[layer])
    after = arrays(layer, {"seed": 7, "edits": [[rule.value, seed]]}, LAYERS[layer])
    names = [name for name, _, _ in LAYERS[layer]]
    return [
        (name, by_neuron(layer, name, old), by_neuron(layer, name, new))
        for name, old, new in zip(names, before, after, strict=True)
    ]


def changed(edits: list[tuple[str, Any, Any]]) -> set[int]:
    return {
        n for _, old, new in edits for n in range(10) if not np.array_equal(old[:, n], new[:, n])
    }


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_weights_never_change(layer: str) -> None:
    recipe = {"seed": 5, "edits": [[rule.value, 9] for rule in WeightRule]}
    made = arrays(layer, recipe, LAYERS[layer], nudge=by(3))

    assert zlib.crc32(b"".join(array.tobytes() for array in made)) == CHECKSUMS[layer]


CHECKSUMS = {
    "keras.layers.Dense": 788778257,
    "keras.layers.Conv2D": 2541944294,
    "keras.layers.Conv2DTranspose": 3796259634,
    "keras.layers.DepthwiseConv2D": 800998157,
    "keras.layers.Embedding": 1115212651,
    "keras.layers.SimpleRNN": 525769751,
    "keras.layers.LSTM": 3074412167,
    "keras.layers.GRU": 2376767949,
}


@given(ANY_LAYER, SEEDS, st.integers(-3, 3))
def test_a_recipe_always_gives_the_same_arrays(layer: str, seed: int, nudge: int) -> None:
    recipe = {"seed": seed, "edits": [["GF", seed], ["NS", 3]]}
    first = arrays(layer, recipe, LAYERS[layer], nudge=by(nudge))
    arrays("keras.layers.Dense", {"seed": 1, "edits": [["WS", 2]]}, DENSE)

    again = arrays(layer, recipe, LAYERS[layer], nudge=by(nudge))

    for (_, shape, _), one, two in zip(LAYERS[layer], first, again, strict=True):
        assert one.shape == shape
        assert one.dtype == np.float32
        assert one.tobytes() == two.tobytes()


@given(ANY_LAYER, SEEDS)
def test_gaussian_fuzzing_adds_noise_to_three_in_ten_neurons(layer: str, seed: int) -> None:
    edits = edited(layer, WeightRule.GAUSSIAN_FUZZING, seed)

    everything = np.concatenate([old.reshape(-1) for _, old, _ in edits])
    noise = np.concatenate(
        [(new - old)[:, sorted(changed(edits))].reshape(-1) for _, old, new in edits]
    )
    assert len(changed(edits)) == round(SHARE * 10)
    assert np.all(noise != 0)
    assert 0.3 < noise.std() / (NOISE * everything.std()) < 2
    assert np.abs(noise).max() < 7 * NOISE * everything.std()


@given(ANY_LAYER, SEEDS)
def test_shuffling_keeps_the_values_of_a_neurons_weights(layer: str, seed: int) -> None:
    edits = edited(layer, WeightRule.SHUFFLING, seed)

    assert len(changed(edits)) == 3
    for name, old, new in edits:
        assert np.array_equal(np.sort(old, axis=0), np.sort(new, axis=0))
        assert name != "bias" or np.array_equal(old, new)


@given(ANY_LAYER, SEEDS)
def test_inversion_changes_the_sign_of_all_inputs(layer: str, seed: int) -> None:
    edits = edited(layer, WeightRule.INVERSE, seed)

    neurons = sorted(changed(edits))
    assert len(neurons) == 3
    for _, old, new in edits:
        expected = old.copy()
        expected[:, neurons] *= -1
        assert np.array_equal(new, expected)


@given(ANY_LAYER, SEEDS)
def test_a_blocked_neuron_has_only_zero_weights(layer: str, seed: int) -> None:
    edits = edited(layer, WeightRule.BLOCK, seed)

    neurons = sorted(changed(edits))
    assert len(neurons) == 3
    for _, old, new in edits:
        expected = old.copy()
        expected[:, neurons] = 0
        assert np.array_equal(new, expected)


@given(ANY_LAYER, SEEDS)
def test_a_switch_exchanges_two_neurons(layer: str, seed: int) -> None:
    edits = edited(layer, WeightRule.SWITCH, seed)

    one, other = sorted(changed(edits))
    for _, old, new in edits:
        expected = old.copy()
        expected[:, [one, other]] = old[:, [other, one]]
        assert np.array_equal(new, expected)


def test_edits_are_applied_in_order() -> None:
    twice = arrays("keras.layers.Dense", {"edits": [["NAI", 4], ["NAI", 4]]}, DENSE)

    for array, plain in zip(twice, arrays("keras.layers.Dense", {}, DENSE), strict=True):
        assert np.array_equal(array, plain)


def test_a_layer_of_one_neuron_can_be_edited_but_not_switched() -> None:
    weights = [("kernel", (3, 1), "float32")]
    (plain,) = arrays("keras.layers.Dense", {}, weights)

    (switched,) = arrays("keras.layers.Dense", {"edits": [["NS", 1]]}, weights)
    (inverted,) = arrays("keras.layers.Dense", {"edits": [["NAI", 1]]}, weights)

    assert np.array_equal(switched, plain)
    assert np.array_equal(inverted, -plain)


def test_layers_without_a_kernel_are_not_edited() -> None:
    weights = [("gamma", (8,), "float32"), ("beta", (8,), "float32")]
    edits = [[rule.value, 1] for rule in WeightRule]

    made = arrays("keras.layers.BatchNormalization", {"edits": edits}, weights)

    plain = arrays("keras.layers.BatchNormalization", {}, weights)
    assert [array.tolist() for array in made] == [array.tolist() for array in plain]


def test_the_heads_of_an_attention_are_edited_with_their_bias() -> None:
    weights = [("kernel", (6, 2, 5), "float32"), ("bias", (2, 5), "float32")]
    before = arrays("keras.layers.MultiHeadAttention", {}, weights)

    after = arrays("keras.layers.MultiHeadAttention", {"edits": [["NAI", 2]]}, weights)

    flipped = before[1] != after[1]
    assert flipped.sum() == 3
    assert np.array_equal(after[0], np.where(flipped, -before[0], before[0]))


def test_both_directions_of_a_wrapper_are_edited_and_differ() -> None:
    weights = [*LAYERS["keras.layers.LSTM"], *LAYERS["keras.layers.LSTM"]]
    before = arrays("keras.layers.LSTM", {}, weights)

    after = arrays("keras.layers.LSTM", {"edits": [["NEB", 2]]}, weights)

    assert not np.array_equal(before[0], before[3])
    assert [bool((array == 0).any()) for array in after] == [True] * 6


def test_the_depthwise_part_of_a_separable_convolution_is_not_edited() -> None:
    weights = [
        ("depthwise_kernel", (3, 3, 4, 1), "float32"),
        ("pointwise_kernel", (1, 1, 4, 10), "float32"),
        ("bias", (10,), "float32"),
    ]

    made = arrays("keras.layers.SeparableConv2D", {"edits": [["NEB", 2]]}, weights)

    assert [int((array == 0).sum()) for array in made] == [0, 12, 3]


@given(st.integers(1, 200), SEEDS)
def test_activations_keep_their_scale(width: int, seed: int) -> None:
    (kernel,) = arrays("keras.layers.Dense", {"seed": seed}, [("kernel", (width, 400), "float32")])

    assert 0.7 < kernel.std() / math.sqrt(2 / width) < 1.3


@given(SEEDS)
def test_weights_are_in_the_range_of_their_role(seed: int) -> None:
    names = ("gamma", "moving_mean", "moving_variance", "variance", "alpha", "bias", "beta")
    weights = [(name, (50,), "float32") for name in names]

    made = dict(zip(names, arrays("keras.layers.Any", {"seed": seed}, weights), strict=True))

    assert 0.8 <= made["gamma"].min() < made["gamma"].max() <= 1.2 + 1e-6
    assert 0 < made["moving_variance"].min() < made["moving_variance"].max()
    assert made["variance"].min() > 0
    assert np.abs(made["moving_mean"]).max() <= 0.1 + 1e-6
    assert 0 < np.abs(made["bias"]).max() <= 0.05 + 1e-6


def test_weights_that_are_not_floating_point_are_kept() -> None:
    weights = [("seed_generator_state", (2,), "uint32"), ("kernel", (2, 2), "bfloat16")]

    state, kernel = arrays("keras.layers.Any", {"edits": [["GF", 1]]}, weights, nudge=by(1))

    assert state is None
    assert kernel.dtype == np.float32


def test_weights_do_not_depend_on_other_weights_of_the_layer() -> None:
    alone = arrays("keras.layers.Dense", {"seed": 3}, DENSE[:1])
    more = arrays("keras.layers.Dense", {"seed": 3}, [("other", (4,), "float32"), *DENSE])

    assert np.array_equal(alone[0], more[1])


@given(SEEDS, st.integers(1, 9))
def test_a_nudge_changes_every_weight_by_one_rounding_in_the_direction_of_its_sign(
    seed: int, nudge: int
) -> None:
    plain, up, down = (
        arrays("keras.layers.Dense", {"seed": seed}, DENSE, nudge=by(number))[0].astype(np.float64)
        for number in (0, nudge, -nudge)
    )

    for moved in (up, down):
        assert np.all(np.abs(moved / plain - 1) <= 1.51 * 2.0**-23)
        assert np.all(moved != plain)
    assert np.array_equal(up > plain, down < plain)
    assert 0.3 < np.mean(np.abs(up) > np.abs(plain)) < 0.7


def test_stored_weights_replace_those_of_the_seed_and_are_edited() -> None:
    stored = [np.full((20, 10), 2.0), None]

    made = arrays("keras.layers.Dense", {"seed": 3, "edits": [["NAI", 1]]}, DENSE, stored=stored)

    assert sorted(set(made[0].reshape(-1).tolist())) == [-2.0, 2.0]
    assert stored[0] is not None
    assert stored[0].min() == 2.0
    assert 0 < np.abs(made[1]).max() <= 0.05 + 1e-6


@pytest.mark.parametrize("moves_zeros", [False, True])
def test_zeros_change_only_on_request(*, moves_zeros: bool) -> None:
    blocked = {"seed": 7, "edits": [["NEB", 3]]}
    plain = arrays("keras.layers.LSTM", blocked, LAYERS["keras.layers.LSTM"])
    nudge = by(2, moves_zeros=moves_zeros)
    moved = arrays("keras.layers.LSTM", blocked, LAYERS["keras.layers.LSTM"], nudge=nudge)

    zeros = [array == 0 for array in plain]
    assert sum(map(np.sum, zeros)) > 0
    for before, after, was_zero in zip(plain, moved, zeros, strict=True):
        assert np.all((after[was_zero] != 0) == moves_zeros)
        assert np.allclose(before, after, rtol=0, atol=1e-6)
