"""The sample data of models has the documented content, and never changes."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.models import SampleKind
from ciguard.execution.worker.samples import DIGITS, SHADES, SIDE, sample

KINDS = st.sampled_from([kind.value for kind in SampleKind])


@pytest.mark.parametrize(
    ("kind", "shape", "checksum"),
    [
        ("digits", (4, 28, 28, 1), 211395874),
        ("images", (2, 9, 7, 3), 1392727733),
        ("sine", (2, 20, 2), 1808389267),
        ("prices", (2, 20, 1), 1910553666),
    ],
)
def test_samples_are_stable(kind: str, shape: tuple[int, ...], checksum: int) -> None:
    assert zlib.crc32(sample(kind, 3, shape).tobytes()) == checksum


@given(KINDS, st.integers(0, 2**31), st.lists(st.integers(0, 6), min_size=1, max_size=5))
def test_a_sample_has_its_shape_and_range(kind: str, seed: int, shape: list[int]) -> None:
    made = sample(kind, seed, shape)

    assert made.shape == tuple(shape)
    assert made.dtype == np.float32
    assert made.flags.c_contiguous
    assert np.all(np.abs(made) <= 1)
    assert kind == "sine" or np.all(made >= 0)


@given(KINDS, st.integers(0, 1000), st.integers(1, 4))
def test_a_batch_begins_with_the_samples_of_a_smaller_one(kind: str, seed: int, batch: int) -> None:
    together = sample(kind, seed, (batch + 1, 6, 5, 2))

    assert np.array_equal(together[batch:], sample(kind, seed + batch, (1, 6, 5, 2)))


def test_there_are_two_of_each_digit_in_seventeen_shades() -> None:
    assert len(DIGITS) == 20
    assert {len(text) for text in DIGITS} == {SIDE * SIDE}
    assert set("".join(DIGITS)) == set(SHADES)


def test_a_digit_is_stretched_by_repeating_pixels_and_repeated_over_channels() -> None:
    small, large = sample("digits", 7, (1, 8, 8, 1)), sample("digits", 7, (1, 16, 24, 3))

    for channel in range(3):
        assert np.array_equal(large[0, ::2, ::3, channel], small[0, :, :, 0])
        assert np.array_equal(large[0, 1::2, 2::3, channel], small[0, :, :, 0])


def test_the_wave_is_a_sine_within_a_thousandth() -> None:
    made = sample("sine", 11, (1, 2000, 1))[0, :, 0].astype(float)

    # Of a sine of angular step w: s[n+1] + s[n-1] = 2 cos(w) s[n].
    inner = made[1:-1]
    cosine = np.dot(made[2:] + made[:-2], inner) / (2 * np.dot(inner, inner))
    step = math.acos(cosine)
    basis = np.stack([np.sin(step * np.arange(2000)), np.cos(step * np.arange(2000))], axis=1)
    fitted = basis @ np.linalg.lstsq(basis, made, rcond=None)[0]
    assert np.abs(fitted - made).max() < 0.004
    assert 0.99 < made.max() <= 1


def test_prices_span_the_range_in_small_steps() -> None:
    made = sample("prices", 5, (3, 250, 2))

    assert np.all(made.min(axis=1) == 0)
    assert np.all(made.max(axis=1) == 1)
    assert np.abs(np.diff(made, axis=1)).max() < 0.5


def test_different_seeds_give_different_samples() -> None:
    for kind in SampleKind:
        assert not np.array_equal(
            sample(kind.value, 1, (1, 8, 8, 1)), sample(kind.value, 2, (1, 8, 8, 1))
        )
