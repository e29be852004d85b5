"""Similarity of APIs, to find replacements of an API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from code_records import CONV2D, MAX_POOL, NORM, RELU, apis
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.code.encoders import TfIdf
from ciguard.levels.code.similarity import (
    Similarities,
    cosine_similarities,
    description,
    kinds_of,
    parameter_match_rate,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ciguard.levels.code.similarity import Kinds

INT, FLOAT, EITHER, UNKNOWN = (
    frozenset({"int"}),
    frozenset({"float"}),
    frozenset({"int", "float"}),
    frozenset[str](),
)
LISTS = st.lists(st.sampled_from((INT, FLOAT, EITHER, UNKNOWN)), max_size=6)


def test_equal_parameter_lists_have_rate_one() -> None:
    assert parameter_match_rate([INT, FLOAT], [INT, FLOAT]) == 1.0


def test_a_substituted_parameter_counts_against_the_rate() -> None:
    assert parameter_match_rate([INT, FLOAT], [INT, INT]) == 0.5


def test_a_deleted_parameter_counts_against_the_rate() -> None:
    assert parameter_match_rate([INT, FLOAT, INT, INT], [FLOAT]) == 0.25


def test_inserted_parameters_do_not_count() -> None:
    assert parameter_match_rate([FLOAT], [INT, FLOAT, INT]) == 1.0


def test_parameters_match_if_both_accept_a_common_kind() -> None:
    assert parameter_match_rate([INT, FLOAT], [EITHER, EITHER]) == 1.0


def test_an_undocumented_kind_matches_only_itself() -> None:
    assert parameter_match_rate([UNKNOWN], [UNKNOWN]) == 1.0
    assert parameter_match_rate([UNKNOWN], [INT]) == 0.0


def test_apis_without_parameters_match() -> None:
    assert parameter_match_rate([], []) == 1.0
    assert parameter_match_rate([], [INT]) == 0.0


def test_the_order_of_parameters_matters() -> None:
    assert parameter_match_rate([INT, FLOAT], [FLOAT, INT]) == 0.5


@given(LISTS, LISTS)
def test_the_rate_is_between_zero_and_one(own: list[Kinds], other: list[Kinds]) -> None:
    assert 0.0 <= parameter_match_rate(own, other) <= 1.0


@given(LISTS)
def test_a_list_has_rate_one_with_itself(own: list[Kinds]) -> None:
    assert parameter_match_rate(own, own) == 1.0


@given(LISTS, LISTS)
def test_no_more_parameters_match_than_either_list_has(
    own: list[Kinds], other: list[Kinds]
) -> None:
    matches = round(parameter_match_rate(own, other) * len(own))

    assert matches <= min(len(own), len(other)) or not own


@given(st.lists(st.sampled_from((INT, FLOAT)), max_size=5))
def test_dropping_the_last_parameter_deletes_one(own: list[Kinds]) -> None:
    assert parameter_match_rate([*own, INT], own) == pytest.approx(
        len(own) / (len(own) + 1) if own else 0.0
    )


def test_cosines_stay_in_range_and_are_zero_for_the_zero_vector() -> None:
    others = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])

    assert cosine_similarities(np.array([1.0, 0.0]), others).tolist() == [1.0, 0.0, -1.0]


def test_a_description_starts_with_the_words_of_the_signature() -> None:
    assert description(NORM).startswith("Batch Norm num features eps affine. Applies")


def test_a_size_accepts_an_int_and_a_list() -> None:
    api = apis().find(MAX_POOL.api)

    assert api is not None
    assert kinds_of(api.parameters[0]) == {"int", "list"}


def test_a_transposed_convolution_is_most_similar_to_a_convolution() -> None:
    candidates = Similarities(apis(), TfIdf()).candidates_for(CONV2D.api)

    assert candidates[0].name == "torch.nn.ConvTranspose2d"
    assert [c.similarity for c in candidates] == sorted(
        (c.similarity for c in candidates), reverse=True
    )
    assert all(TfIdf().threshold < c.similarity <= 1.0 for c in candidates)


def test_no_api_is_its_own_candidate_nor_one_of_other_dimensions() -> None:
    names = {
        c.name for c in Similarities(apis(), TfIdf(), threshold=-1.0).candidates_for(CONV2D.api)
    }

    assert "torch.nn.AvgPool2d" in names
    assert names.isdisjoint({"torch.nn.Conv2d", "torch.nn.Conv1d", "torch.nn.BatchNorm1d"})


class _CountingEncoder(TfIdf):
    def __init__(self) -> None:
        self.call_count = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.call_count += 1
        return super().encode(texts)


def test_the_encoder_is_called_once_per_module() -> None:
    encoder = _CountingEncoder()
    similarities = Similarities(apis(), encoder)

    first = similarities.candidates_for(CONV2D.api)
    similarities.candidates_for(RELU.api)

    assert similarities.candidates_for(CONV2D.api) is first
    assert encoder.call_count == 1


def test_an_unknown_api_has_no_candidates() -> None:
    assert Similarities(apis(), TfIdf()).candidates_for("torch.nn.Unheard") == ()
