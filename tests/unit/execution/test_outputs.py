"""Outputs are summarised in the worker and decoded in the parent."""

from __future__ import annotations

import numpy as np
import pytest
from ciguard_planted.adapter import PlantedAdapter
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from ciguard.execution import (
    Container,
    Scalar,
    TensorDigest,
    TensorOutput,
    Unreadable,
    decode_outputs,
)
from ciguard.execution.worker.summarise import COMPACT, WHOLE_BYTES, Summariser

summariser = Summariser(PlantedAdapter())
arrays = npst.arrays(
    dtype=st.sampled_from(["float32", "int64", "bool", "complex128", "uint8"]),
    shape=npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@given(arrays)
def test_a_small_array_is_returned_whole(array: np.ndarray) -> None:
    output = decode_outputs(summariser.encode(array))

    assert isinstance(output, TensorOutput)
    assert output.shape == array.shape
    assert output.dtype == str(array.dtype)
    np.testing.assert_array_equal(output.elements, array.ravel())


def test_a_large_array_is_returned_as_a_digest_that_shows_differences() -> None:
    array = np.arange(WHOLE_BYTES, dtype="float64")
    array[7] = np.nan
    other = array.copy()
    other[-1] += 1

    digest = decode_outputs(summariser.encode(array))
    different = decode_outputs(summariser.encode(other))

    assert isinstance(digest, TensorDigest)
    assert isinstance(different, TensorDigest)
    assert digest.nan == 1
    assert digest.sha256 != different.sha256


def test_the_shape_of_an_unreadable_tensor_may_be_unknown() -> None:
    known, unknown = (
        {"dtype": "float8_e4m3fn", "note": "no", **shape} for shape in ({"shape": [2]}, {})
    )

    decoded = [
        decode_outputs(COMPACT.encode(summariser._tensor_tree(read)).encode())
        for read in (known, unknown)
    ]

    assert decoded == [
        Unreadable("float8_e4m3fn", (2,), "no"),
        Unreadable("float8_e4m3fn", None, "no"),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, Scalar("none", "")),
        (True, Scalar("o", "1")),
        (3, Scalar("i", "3")),
        (float("nan"), Scalar("f", "nan")),
        ("a\n@x", Scalar("s", "a\n@x")),
        (object(), Scalar("O", "object")),
    ],
)
def test_scalars_keep_their_kind(value: object, expected: Scalar) -> None:
    assert decode_outputs(summariser.encode(value)) == expected


def test_containers_nest_and_are_bounded() -> None:
    output = decode_outputs(summariser.encode({"a": (1, [2]), "b": list(range(1000))}))

    assert isinstance(output, Container)
    assert output.keys == ("a", "b")
    long = output.items[1]
    assert isinstance(long, Container)
    assert long.length == 1000
    assert len(long.items) == 64


def test_a_list_that_contains_itself_is_bounded() -> None:
    endless: list[object] = []
    endless.append(endless)

    assert isinstance(decode_outputs(summariser.encode(endless)), Container)


@given(st.binary())
def test_garbage_decodes_to_nothing(garbage: bytes) -> None:
    output = decode_outputs(garbage)

    assert output is None or isinstance(output, (Scalar, Container, TensorOutput, TensorDigest))


@pytest.mark.parametrize(
    "text",
    [
        b"[]",
        b'["T"]',
        b'["T","float32",[1],"!"]',
        b'{"a":1}',
        b"[1]",
        b"[" * 100_000,
        b'["L","list",[' * 50_000,
        b'["D","float32",[1],{"sample":"AACAPw==","nan":1e999}]',
    ],
)
def test_malformed_outputs_decode_to_nothing(text: bytes) -> None:
    assert decode_outputs(text) is None
