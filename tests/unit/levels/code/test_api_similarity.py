"""Similarity of APIs, of which one replaces another."""

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
    definition,
    kinds_of,
    word_correctness_rate,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ciguard.levels.code.similarity import Kinds

INT, FLOAT, EITHER, UNSAID = (
    frozenset({"int"}),
    frozenset({"float"}),
    frozenset({"int", "float"}),
    frozenset[str](),
)
LISTS = st.lists(st.sampled_from((INT, FLOAT, EITHER, UNSAID)), max_size=6)


def test_equal_parameter_lists_have_rate_one() -> None:
    assert word_correctness_rate([INT, FLOAT], [INT, FLOAT]) == 1.0


def test_a_substituted_parameter_counts_against_the_rate() -> None:
    assert word_correctness_rate([INT, FLOAT], [INT, INT]) == 0.5


def test_a_deleted_parameter_counts_against_the_rate() -> None:
    assert word_correctness_rate([INT, FLOAT, INT, INT], [FLOAT]) == 0.25


def test_inserted_parameters_do_not_count() -> None:
    assert word_correctness_rate([FLOAT], [INT, FLOAT, INT]) == 1.0


def test_parameters_match_where_both_take_one_kind() -> None:
    assert word_correctness_rate([INT, FLOAT], [EITHER, EITHER]) == 1.0


def test_an_undocumented_kind_matches_only_itself() -> None:
    assert word_correctness_rate([UNSAID], [UNSAID]) == 1.0
    assert word_correctness_rate([UNSAID], [INT]) == 0.0


def test_apis_without_parameters_match() -> None:
    assert word_correctness_rate([], []) == 1.0
    assert word_correctness_rate([], [INT]) == 0.0


def test_the_order_of_parameters_matters() -> None:
    assert word_correctness_rate([INT, FLOAT], [FLOAT, INT]) == 0.5


@given(LISTS, LISTS)
def test_the_rate_is_between_zero_and_one(own: list[Kinds], other: list[Kinds]) -> None:
    assert 0.0 <= word_correctness_rate(own, other) <= 1.0


@given(LISTS)
def test_every_list_has_rate_one_with_itself(own: list[Kinds]) -> None:
    assert word_correctness_rate(own, own) == 1.0


@given(LISTS, LISTS)
def test_kept_parameters_are_symmetric(own: list[Kinds], other: list[Kinds]) -> None:
    kept = round(word_correctness_rate(own, other) * len(own))

    assert kept <= min(len(own), len(other)) or not own


@given(st.lists(st.sampled_from((INT, FLOAT)), max_size=5))
def test_dropping_the_last_parameter_deletes_one(own: list[Kinds]) -> None:
    assert word_correctness_rate([*own, INT], own) == pytest.approx(
        len(own) / (len(own) + 1) if own else 0.0
    )


def test_cosines_stay_in_range_and_are_zero_for_the_zero_vector() -> None:
    others = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])

    assert cosine_similarities(np.array([1.0, 0.0]), others).tolist() == [1.0, 0.0, -1.0]


def test_a_definition_has_the_words_of_the_signature() -> None:
    assert definition(NORM).startswith("Batch Norm num features eps affine. Applies")


def test_kinds_of_a_size_are_number_and_list() -> None:
    known = apis().find(MAX_POOL.api)

    assert known is not None
    assert kinds_of(known.parameters[0]) == {"int", "list"}


def test_a_transposed_convolution_is_most_similar_to_a_convolution() -> None:
    candidates = Similarities(apis(), TfIdf()).of(CONV2D.api)

    assert candidates[0].name == "torch.nn.ConvTranspose2d"
    assert [c.similarity for c in candidates] == sorted(
        (c.similarity for c in candidates), reverse=True
    )
    assert all(TfIdf().threshold < c.similarity <= 1.0 for c in candidates)


def test_no_api_is_its_own_candidate_nor_one_of_other_dimensions() -> None:
    names = {c.name for c in Similarities(apis(), TfIdf(), threshold=-1.0).of(CONV2D.api)}

    assert "torch.nn.AvgPool2d" in names
    assert names.isdisjoint({"torch.nn.Conv2d", "torch.nn.Conv1d", "torch.nn.BatchNorm1d"})


class _Counting(TfIdf):
    def __init__(self) -> None:
        self.asked = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.asked += 1
        return super().encode(texts)


def test_the_encoder_is_called_once_per_module() -> None:
    encoder = _Counting()
    similarities = Similarities(apis(), encoder)

    first = similarities.of(CONV2D.api)
    similarities.of(RELU.api)

    assert similarities.of(CONV2D.api) is first
    assert encoder.asked == 1


def test_an_unknown_api_has_no_candidates() -> None:
    assert Similarities(apis(), TfIdf()).of("torch.nn.Unheard") == ()
