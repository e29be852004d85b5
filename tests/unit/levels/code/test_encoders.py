"""Encoders: similarity of texts."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.errors import EncoderError
from ciguard.levels.code.encoders import DEFAULT_ENCODER, ENCODERS, SentenceEmbeddings, TfIdf


def test_texts_of_the_same_words_have_the_same_vector() -> None:
    same, also, other = TfIdf().encode(["max pooling", "Pooling, max!", "dropout"])

    assert same @ also == pytest.approx(1.0)
    assert same @ other == 0.0


def test_a_rare_word_in_common_counts_more_than_a_frequent_one() -> None:
    texts = ["applies convolution", "transposed convolution", "applies pooling", "applies dropout"]

    own, rare, frequent, _ = TfIdf().encode(texts)

    assert own @ rare > own @ frequent > 0


def test_a_text_without_words_has_similarity_zero() -> None:
    empty, other = TfIdf().encode(["", "pooling"])

    assert not empty.any()
    assert empty @ other == 0.0


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6))
def test_vectors_have_length_one_or_none(texts: list[str]) -> None:
    vectors = TfIdf().encode(texts)

    lengths = np.linalg.norm(vectors, axis=1)
    assert vectors.shape[0] == len(texts)
    assert all(length == pytest.approx(1.0) or length == 0.0 for length in lengths)


def test_a_missing_encoder_package_is_named_with_its_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    with pytest.raises(EncoderError, match=r"pip install 'ciguard\[embeddings\]'"):
        ENCODERS.get("sentence-embeddings")()


class _Model:
    def __init__(self, name: str) -> None:
        if name == "absent":
            msg = "no such model"
            raise OSError(msg)

    def encode(self, texts: list[str]) -> list[list[float]]:
        return [[3.0, 4.0] if text else [0.0, 0.0] for text in texts]


@pytest.fixture
def _transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = _Model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


@pytest.mark.usefixtures("_transformers")
def test_embeddings_are_scaled_to_length_one() -> None:
    vectors = SentenceEmbeddings().encode(["text", ""])

    assert vectors.tolist() == [[0.6, 0.8], [0.0, 0.0]]


@pytest.mark.usefixtures("_transformers")
def test_an_unloadable_encoder_model_is_named_in_the_error() -> None:
    with pytest.raises(EncoderError, match="cannot load the model 'absent'"):
        SentenceEmbeddings("absent")


def test_the_default_needs_nothing_but_numpy() -> None:
    assert isinstance(ENCODERS.get(DEFAULT_ENCODER)(), TfIdf)
