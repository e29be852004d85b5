"""Synthesised texts: with a sentiment, with a name, about a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.documents import DocumentWriter
from ciguard.levels.app.input_synthesis.inputs import InputSpec, Sentiment
from ciguard.levels.app.input_synthesis.named_entities import NamedEntities
from ciguard.levels.app.input_synthesis.sentiment_texts import bundled_texts, read_texts
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.levels.app.input_synthesis.inputs import Inverse

KINDS = (
    "PERSON", "LOCATION", "ORGANIZATION", "EVENT", "WORK_OF_ART", "CONSUMER_GOOD", "PHONE_NUMBER",
    "ADDRESS", "DATE", "NUMBER", "PRICE", "OTHER",
)  # fmt: skip


def texts_of(inverse: Inverse, wanted: InputSpec, count: int = 5, seed: int = 1) -> list[str]:
    return [sample.content.decode() for sample in inverse.inputs(wanted, count, seed=seed)]


@pytest.mark.parametrize("feeling", Sentiment)
def test_bundled_texts_are_distinct_and_reproducible(feeling: Sentiment) -> None:
    wanted = InputSpec(RecognitionTask.SENTIMENT, feeling=feeling)

    texts = texts_of(bundled_texts(), wanted, 20)

    assert len(set(texts)) == 20
    assert texts == texts_of(bundled_texts(), wanted, 20)
    assert texts != texts_of(bundled_texts(), wanted, 20, seed=2)


def test_bundled_text_has_one_sentiment() -> None:
    texts = [text for of_one in bundled_texts().texts.values() for text in of_one]

    assert len(texts) == len(set(texts))


def test_texts_of_the_user_are_read(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text('feeling,text\npositive,"Well, well!"\nneutral,So.\n', "utf-8")

    felt = read_texts(file)

    assert texts_of(felt, InputSpec(RecognitionTask.SENTIMENT, feeling=Sentiment.POSITIVE)) == [
        "Well, well!"
    ]
    assert not felt.serves(InputSpec(RecognitionTask.SENTIMENT, feeling=Sentiment.NEGATIVE))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("feeling,words\npositive,a\n", "lacks the column `text`"),
        ("", "lacks the column `feeling`"),
        ("feeling,text\npositive,a\nglad,b\n", "texts.csv:3: 'glad' is not a known feeling"),
        ("feeling,text\npositive,\n", "texts.csv:2: the text is empty"),
        ("feeling,text\npositive\n", "texts.csv:2: the text is empty"),
    ],
)
def test_invalid_texts_of_the_user_report_the_place(
    tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "texts.csv"
    file.write_text(content, "utf-8")

    with pytest.raises(ConfigurationError) as error:
        read_texts(file)

    assert message in str(error.value)


def test_unreadable_texts_raise_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_bytes(b"feeling,text\npositive,\xff\n")

    for name in ("texts.csv", "absent.csv"):
        with pytest.raises(ConfigurationError, match=name):
            read_texts(tmp_path / name)


@given(
    name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1), kind=st.sampled_from(KINDS)
)
def test_sentence_contains_the_requested_name(name: str, kind: str) -> None:
    texts = texts_of(NamedEntities(), InputSpec(RecognitionTask.ENTITIES, name, kind), 3)

    assert texts
    # The first letter of a sentence is a capital.
    assert all(name[1:].lower() in text.lower() for text in texts)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_entity_has_sentences(kind: str) -> None:
    texts = texts_of(NamedEntities(), InputSpec(RecognitionTask.ENTITIES, kind=kind), 5)

    assert len(set(texts)) == 5
    assert not any("{" in text for text in texts)


def test_unknown_kind_of_entity_is_not_served() -> None:
    wanted = InputSpec(RecognitionTask.ENTITIES, kind="MOOD")

    assert not NamedEntities().serves(wanted)
    assert not NamedEntities().inputs(wanted, 3, seed=1)


@pytest.mark.parametrize(
    ("topic", "word"), [("food", "recipe"), ("/Food & Drink/Beverages", "wine"), ("sport", "team")]
)
def test_documents_have_words_of_their_topic(topic: str, word: str) -> None:
    texts = texts_of(DocumentWriter(), InputSpec(RecognitionTask.CATEGORIES, topic), 10)

    assert len(set(texts)) == 10
    assert word in " ".join(texts)


@given(
    topic=st.sampled_from(("", "food", "/Health", "/Travel", "Pets & Animals", "science")),
    seed=st.integers(),
)
def test_documents_exceed_the_minimum_length_of_services(topic: str, seed: int) -> None:
    texts = texts_of(DocumentWriter(), InputSpec(RecognitionTask.CATEGORIES, topic), 5, seed)

    assert len(texts) == 5
    assert min(len(text.split()) for text in texts) >= 30


@given(topic=st.text())
def test_any_topic_has_documents_or_is_not_served(topic: str) -> None:
    wanted = InputSpec(RecognitionTask.CATEGORIES, topic)

    assert bool(DocumentWriter().inputs(wanted, 1, seed=1)) == DocumentWriter().serves(wanted)
