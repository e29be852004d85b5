"""Packed numbers of visits."""

from __future__ import annotations

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.visits import merged_visits, pack_visits, unpack_visits

COUNTS = st.lists(st.integers(0, 10_000), max_size=50)


def packed(text: bytes) -> str:
    return base64.b85encode(zlib.compress(text)).decode()


@given(COUNTS)
def test_visits_round_trip(counts: list[int]) -> None:
    assert unpack_visits(pack_visits(counts)) == counts


@given(COUNTS, st.lists(st.booleans(), min_size=50, max_size=50))
def test_merged_visits_are_those_of_all_shards(counts: list[int], choices: list[bool]) -> None:
    own = [count if choice else 0 for count, choice in zip(counts, choices, strict=False)]
    others = [0 if choice else count for count, choice in zip(counts, choices, strict=False)]

    assert unpack_visits(merged_visits([pack_visits(own), pack_visits(others)])) == counts


def test_visits_of_many_apis_are_short() -> None:
    assert len(pack_visits([number % 7 + 20 for number in range(2660)])) < 2000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not packed",
        "é",
        packed(b"{}"),
        packed(b"[1, -1]"),
        packed(b"[true]"),
        packed(b"[0.5]"),
        packed(b"[" * 100_000),
        packed(b"[" + b" " * 2_000_000 + b"]"),
    ],
)
def test_malformed_visits_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not "):
        unpack_visits(text)
