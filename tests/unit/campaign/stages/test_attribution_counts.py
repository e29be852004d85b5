"""How often base and head of a change showed a defect: counts, words, distrust."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from campaign_examples import bucket
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.attribution import Attribution, attribution_from_json, attribution_to_json
from ciguard.domain.findings import Confirmation, bucket_from_json, bucket_to_json
from ciguard.reports import bucket_lines
from ciguard.triage import merge_buckets

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

NEW = Attribution(head_shown=6, head_tried=6, base_tried=215)
FIXED = Attribution(head_tried=215, base_shown=6, base_tried=6)


def attributions() -> SearchStrategy[Attribution]:
    counts = st.tuples(st.integers(0, 300), st.integers(0, 300)).map(sorted)
    return st.tuples(counts, counts).map(
        lambda sides: Attribution(
            head_shown=sides[0][0],
            head_tried=sides[0][1],
            base_shown=sides[1][0],
            base_tried=sides[1][1],
        )
    )


@given(attributions())
def test_an_attribution_round_trips_through_json(attribution: Attribution) -> None:
    assert attribution_from_json(attribution_to_json(attribution)) == attribution


@given(attributions(), attributions())
def test_shards_add_up_in_either_order(one: Attribution, other: Attribution) -> None:
    assert one.plus(other) == other.plus(one)
    assert one.plus(other).head_tried == one.head_tried + other.head_tried


@pytest.mark.parametrize(
    "encoded",
    [
        [],
        {},
        {"head_shown": 7, "head_tried": 6, "base_shown": 0, "base_tried": 1},
        {"head_shown": -1, "head_tried": 6, "base_shown": 0, "base_tried": 1},
        {"head_shown": "6", "head_tried": 6, "base_shown": 0, "base_tried": 1},
        {"head_shown": 1e300, "head_tried": 6, "base_shown": 0, "base_tried": 1},
    ],
)
def test_an_attribution_without_counts_is_refused(encoded: object) -> None:
    with pytest.raises(ValueError, match=r"attribution|object"):
        attribution_from_json(encoded)


def test_an_attribution_is_stored_with_its_bucket_and_shown() -> None:
    judged = bucket(attribution=NEW)

    assert bucket_from_json(bucket_to_json(judged)).attribution == NEW
    assert "Seen:      head 6 of 6, base 0 of 215" in list(bucket_lines(judged, "", None))
    without = bucket_to_json(bucket())
    del without["attribution"]
    assert bucket_from_json(without).attribution is None


@pytest.mark.parametrize("attribution", [NEW, FIXED])
def test_a_bucket_that_one_side_always_shows_is_not_flaky(attribution: Attribution) -> None:
    assert not attribution.is_flaky


@pytest.mark.parametrize(
    "attribution",
    [
        replace(NEW, head_shown=5),
        Attribution(head_tried=1, base_tried=1),
        replace(FIXED, base_shown=5),
    ],
)
def test_a_bucket_that_one_side_sometimes_shows_is_flaky(attribution: Attribution) -> None:
    assert attribution.is_flaky


def test_a_bucket_that_is_flaky_on_one_shard_is_flaky_after_merging() -> None:
    firm = bucket(attribution=NEW)
    wavering = bucket(
        attribution=replace(NEW, head_shown=3), confirmation=Confirmation.FLAKY, count=4
    )

    whole = merge_buckets(firm, wavering)

    assert whole == merge_buckets(wavering, firm)
    assert whole.confirmation is Confirmation.FLAKY
    assert whole.attribution == Attribution(head_shown=9, head_tried=12, base_tried=430)
