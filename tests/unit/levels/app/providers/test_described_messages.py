"""Answers written at the paths of a description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ciguard.levels.app.providers.described import DescribedMessages
from ciguard.levels.app.providers.description import RecognitionTask, read_provider
from ciguard.levels.app.providers.recognised import BoundingBox, Entity, ScoredSentence, Word

if TYPE_CHECKING:
    from pathlib import Path

OWN = """
name = "acme"
packages = ["acme.sight"]

[[clients]]
name = "eyes"
made_by = ["acme.sight.Eyes"]
[clients.operations]
see = { task = "labels", records = "seen.all", key = "it.name", score = "sure", between = [0, 100] }
see_more = { task = "labels", records = "others", key = "name" }
objects = { task = "objects", records = ".", key = "name", score = "sure" }
read = { task = "text", records = "lines", key = "words.0.text", score = "sure" }
topics = { task = "categories", records = "topics", key = "name" }
feel = { task = "sentiment", key = "feeling", score = "score", between = [-1, 1] }
names = { task = "entities", records = "names", key = "name", kind = "type", score = "sure" }
language = { task = "language", records = "languages", key = "code" }
"""
BOX = BoundingBox(0, 0, 1, 1)
FOUND = [("Cat", 0.25), ("Dog", 0.5)]


@pytest.fixture
def messages(tmp_path: Path) -> DescribedMessages:
    (tmp_path / "acme.toml").write_text(OWN)
    return DescribedMessages(read_provider(tmp_path / "acme.toml"))


def test_described_operations_are_answered(messages: DescribedMessages) -> None:
    assert {"eyes"} == messages.CLIENTS
    assert {
        RecognitionTask.LABELS,
        RecognitionTask.OBJECTS,
        RecognitionTask.TEXT,
        RecognitionTask.CATEGORIES,
        RecognitionTask.SENTIMENT,
        RecognitionTask.ENTITIES,
    } == messages.TASKS


def test_results_are_at_the_path_of_the_first_operation_of_a_task(
    messages: DescribedMessages,
) -> None:
    dog, cat = {"it": {"name": "Dog"}, "sure": 50.0}, {"it": {"name": "Cat"}, "sure": 25.0}

    assert messages.label_answer(FOUND) == {"seen": {"all": [dog, cat]}}
    assert messages.label_answer([]) == {"seen": {"all": []}}
    assert messages.category_answer(FOUND) == {"topics": [{"name": "Dog"}, {"name": "Cat"}]}


def test_answer_may_be_the_list_of_results(messages: DescribedMessages) -> None:
    objects = messages.object_answer(FOUND, [BOX, BOX])

    assert objects == [{"name": "Dog", "sure": 0.5}, {"name": "Cat", "sure": 0.25}]


def test_lines_keep_their_order(messages: DescribedMessages) -> None:
    lines = [[Word("a", BOX, 0.5), Word("b", BOX, 0.25)], [Word("c", BOX, 0.75)]]

    assert messages.text_answer(lines, (1, 1)) == {
        "lines": [
            {"words": [{"text": "a b"}], "sure": 0.25},
            {"words": [{"text": "c"}], "sure": 0.75},
        ]
    }


@pytest.mark.parametrize(
    ("score", "sentiment"), [(0.9, "positive"), (-0.9, "negative"), (0.0, "neutral")]
)
def test_sentiment_is_one_of_three(
    messages: DescribedMessages, score: float, sentiment: str
) -> None:
    answer = messages.sentiment_answer(score, [ScoredSentence("So.", 0, score)])

    assert answer == {"feeling": sentiment, "score": score}


def test_sentiments_lie_around_each_number(messages: DescribedMessages) -> None:
    scores: list[Any] = [content["score"] for _, content in messages.sentiments_around([0.5, 7])]

    assert scores == pytest.approx([-0.9, 0.0, 0.45, 0.5, 0.55, 0.9])


def test_entities_have_their_kinds(messages: DescribedMessages) -> None:
    several = [
        Entity("Rome", "LOCATION", 0.25, 3),
        Entity("Ada", "PERSON", 0.75, 0, reported_confidence=0.5),
    ]

    assert messages.entity_answer(several) == {
        "names": [
            {"name": "Ada", "type": "PERSON", "sure": 0.5},
            {"name": "Rome", "type": "LOCATION", "sure": 0.25},
        ]
    }
