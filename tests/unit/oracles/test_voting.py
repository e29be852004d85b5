"""Majority vote among targets."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.oracles.voting import majority_target


@pytest.mark.parametrize(
    ("ballots", "winner"),
    [
        ({"a": 1}, "a"),
        ({"a": 1, "b": 2}, "a"),
        ({"a": 1, "b": 2, "c": 2}, "b"),
        ({"a": 1, "b": 2, "c": 3}, "a"),
        ({"a": 1, "b": 2, "c": 1, "d": 2, "e": 2}, "b"),
    ],
)
def test_the_majority_target_is_elected_and_the_first_of_a_tie(
    ballots: dict[str, int], winner: str
) -> None:
    assert majority_target(ballots, operator.eq) == winner


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 3), min_size=1, max_size=6))
def test_no_target_has_more_votes_than_the_elected_one(ballots: dict[str, int]) -> None:
    counts = {name: list(ballots.values()).count(answer) for name, answer in ballots.items()}

    assert counts[majority_target(ballots, operator.eq)] == max(counts.values())
