"""Simulated answers: from the vocabulary, reproducible, with the configured confusion."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st

from ciguard.errors import ConfigurationError
from ciguard.levels.app.dead_conditions import Vocabulary
from ciguard.levels.app.input_synthesis.inputs import InputSpec, Sentiment, digest_of
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.description import (
    TASKS_WITHOUT_INPUTS,
    MediaKind,
    Operation,
    RecognitionTask,
    media_kind,
)
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.virtualization.relations import relations_of, topics_of
from ciguard.levels.app.virtualization.simulated import SimulationEngine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.values import Json

GOOGLE = known_providers()[0]
OPERATIONS = {
    name: operation for client in GOOGLE.clients for name, operation in client.operations.items()
}
SERVED = [
    operation for operation in OPERATIONS.values() if operation.task not in TASKS_WITHOUT_INPUTS
]
PNG = b"\x89PNG\r\n\x1a\n"
LONG_TEXT = (
    "Anna and Bruno went to Paris on a rainy day. The food was good, the hotel was not! Would "
    "they come again? Nobody in the Louvre knew."
)
LABELS = OPERATIONS["label_detection"]
MESSAGES = {
    RecognitionTask.LABELS: "vision.AnnotateImageResponse",
    RecognitionTask.OBJECTS: "vision.AnnotateImageResponse",
    RecognitionTask.FACES: "vision.AnnotateImageResponse",
    RecognitionTask.TEXT: "vision.AnnotateImageResponse",
    RecognitionTask.CATEGORIES: "language_v1.ClassifyTextResponse",
    RecognitionTask.SPEECH: "speech_v1.RecognizeResponse",
    RecognitionTask.SENTIMENT: "language_v1.AnalyzeSentimentResponse",
}

names = st.from_regex(re.compile(r"[A-Z][a-z]{1,6}( [a-z]{2,6})?"), fullmatch=True)
vocabularies = st.frozensets(names, min_size=1, max_size=40).map(Vocabulary)


def content(task: RecognitionTask, number: int = 0) -> bytes:
    """Return a valid content of the kind that a task needs."""
    match media_kind(task):
        case MediaKind.TEXT:
            return f"{LONG_TEXT} {number}".encode()
        case MediaKind.IMAGE:
            return PNG + str(number).encode()
        case MediaKind.SOUND:
            return b"RIFF" + str(number).encode()


def parsed(operation: Operation, answer: Json) -> Any:
    """Return an answer as the client's own message, unknown fields refused."""
    name = MESSAGES.get(operation.task, "")
    if operation.task is RecognitionTask.ENTITIES:
        has_sentiment = operation.name == "analyze_entity_sentiment"
        name = f"language_v1.AnalyzeEntit{'ySentiment' if has_sentiment else 'ies'}Response"
    module, _, message = name.partition(".")
    made = getattr(importlib.import_module(f"google.cloud.{module}"), message)
    return made(json_format.ParseDict(answer, made.pb(made())))


def labels_in(answer: Json) -> list[str]:
    return [item["description"] for item in answer.get("label_annotations", [])]


def known(wanted: InputSpec, count: int) -> dict[str, InputSpec]:
    return {digest_of(content(wanted.task, number)): wanted for number in range(count)}


@given(vocabularies, st.data(), st.integers())
def test_labels_are_from_the_vocabulary(
    vocabulary: Vocabulary, data: st.DataObject, seed: int
) -> None:
    key = data.draw(
        st.one_of(st.just(""), st.text(max_size=12), st.sampled_from(sorted(vocabulary.labels)))
    )
    wanted = known(InputSpec(RecognitionTask.LABELS, key), 1) if data.draw(st.booleans()) else {}

    for confusion in (0.0, 0.5, 1.0):
        engine = SimulationEngine(vocabulary, wanted, confusion, seed)
        answer = engine.answer(LABELS, content(RecognitionTask.LABELS))

        assert set(labels_in(answer)) <= vocabulary.labels
        assert len(labels_in(answer)) == len(set(labels_in(answer))) <= 10
        scores = [item["score"] for item in answer.get("label_annotations", [])]
        assert scores == sorted(scores, reverse=True)
        assert all(0.5 <= score <= 0.99 for score in scores)


@given(vocabularies, st.data(), st.integers())
def test_requested_label_is_always_answered_without_confusion_and_never_with_full_confusion(
    vocabulary: Vocabulary, data: st.DataObject, seed: int
) -> None:
    label = data.draw(st.sampled_from(sorted(vocabulary.labels)))
    wanted = known(InputSpec(RecognitionTask.LABELS, label.upper()), 1)

    answers = [
        labels_in(
            SimulationEngine(vocabulary, wanted, confusion, seed).answer(
                LABELS, content(RecognitionTask.LABELS)
            )
        )
        for confusion in (0.0, 1.0)
    ]

    assert label in answers[0]
    assert label not in answers[1]
    assert len(answers[0]) >= min(3, len(vocabulary.labels))


@given(st.sampled_from(SERVED), st.integers(0, 10**6), st.integers(), st.text(max_size=20))
def test_equal_contents_have_equal_answers_that_clients_can_parse(
    operation: Operation, number: int, seed: int, key: str
) -> None:
    about = content(operation.task, number)
    for wanted in ({}, {digest_of(about): InputSpec(operation.task, key, "PERSON")}):
        engine = SimulationEngine(None, wanted, 0.5, seed)

        answer = engine.answer(operation, about)

        assert answer == SimulationEngine(None, wanted, 0.5, seed).answer(operation, about)
        parsed(operation, answer)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("label_detection", InputSpec(RecognitionTask.LABELS, "fire")),
        ("object_localization", InputSpec(RecognitionTask.OBJECTS, "Bicycle")),
        ("face_detection", InputSpec(RecognitionTask.FACES, "joy")),
        ("text_detection", InputSpec(RecognitionTask.TEXT, "Exit to the left")),
        ("document_text_detection", InputSpec(RecognitionTask.TEXT, "Total: 12.50\nThank you")),
        ("classify_text", InputSpec(RecognitionTask.CATEGORIES, "/Food & Drink")),
        ("analyze_entities", InputSpec(RecognitionTask.ENTITIES, "Paris", "LOCATION")),
        ("analyze_sentiment", InputSpec(RecognitionTask.SENTIMENT, feeling=Sentiment.NEGATIVE)),
        ("recognize", InputSpec(RecognitionTask.SPEECH, "turn on the light")),
    ],
)
@pytest.mark.lengthy
def test_share_of_hits_matches_the_confusion(name: str, wanted: InputSpec) -> None:
    operation, count = OPERATIONS[name], 500
    for confusion in (0.0, 0.2, 1.0):
        engine = SimulationEngine(None, known(wanted, count), confusion, seed=4)

        hits = [
            is_hit(wanted, engine.answer(operation, content(wanted.task, number)))
            for number in range(count)
        ]

        assert abs(sum(hits) / count - (1 - confusion)) < (0.06 if 0 < confusion < 1 else 1e-9)


def is_hit(wanted: InputSpec, answer: Json) -> bool:
    return (wanted.key, wanted.kind) in RESULTS[wanted.task](answer)


def _emotions(answer: Json) -> list[tuple[str, str]]:
    faces = answer.get("face_annotations", [])
    likely = ("LIKELY", "VERY_LIKELY")
    return [("joy", "") for face in faces if face["joy_likelihood"] in likely]


RESULTS: dict[RecognitionTask, Callable[[Json], list[tuple[str, str]]]] = {
    RecognitionTask.LABELS: lambda answer: [(name.lower(), "") for name in labels_in(answer)],
    RecognitionTask.OBJECTS: lambda answer: [
        (r["name"], "") for r in answer["localized_object_annotations"]
    ],
    RecognitionTask.FACES: _emotions,
    RecognitionTask.TEXT: lambda answer: [(answer.get("full_text_annotation", {}).get("text"), "")],
    RecognitionTask.CATEGORIES: lambda answer: [
        (item["name"], "") for item in answer["categories"]
    ],
    RecognitionTask.ENTITIES: lambda answer: [
        (item["name"], item["type"]) for item in answer["entities"]
    ],
    RecognitionTask.SENTIMENT: lambda a: (
        [("", "")] if a["document_sentiment"]["score"] < -0.25 else []
    ),
    RecognitionTask.SPEECH: lambda answer: [
        (item["alternatives"][0]["transcript"], "") for item in answer.get("results", [])
    ],
}


def test_answer_also_has_labels_similar_to_the_requested_one() -> None:
    engine = SimulationEngine(None, known(InputSpec(RecognitionTask.LABELS, "fire"), 50), 0.0)

    like = {"Flame", "Heat", "Gas", "Smoke", "Bonfire", "Fireplace", "Explosion"}
    answers = [
        set(labels_in(engine.answer(LABELS, content(RecognitionTask.LABELS, n)))) for n in range(50)
    ]

    assert sum(bool(answer & like) for answer in answers) > 40


def test_unknown_label_is_answered_with_the_nearest_ones() -> None:
    vocabulary = Vocabulary(frozenset({"Clothing", "Fire", "Sky", "Food", "Tree", "Dog", "Cat"}))
    engine = SimulationEngine(
        vocabulary, known(InputSpec(RecognitionTask.LABELS, "clothes"), 50), 0.0
    )

    answers = [
        labels_in(engine.answer(LABELS, content(RecognitionTask.LABELS, n))) for n in range(50)
    ]

    assert all("Clothing" in answer for answer in answers)


def test_input_that_shows_nothing_has_few_results() -> None:
    for operation in SERVED:
        engine = SimulationEngine(None, known(InputSpec(operation.task), 50), 0.0)
        answers = [engine.answer(operation, content(operation.task, n)) for n in range(50)]

        if operation.task is RecognitionTask.SENTIMENT:
            assert all(abs(a["document_sentiment"]["score"]) <= 0.2 for a in answers)
        else:
            assert all(len(a.get(operation.records, [])) <= 2 for a in answers)


def test_input_of_another_task_shows_nothing() -> None:
    made = {digest_of(content(RecognitionTask.TEXT)): InputSpec(RecognitionTask.TEXT, "Fire")}
    objects = {
        digest_of(content(RecognitionTask.LABELS)): InputSpec(RecognitionTask.LABELS, "Fire")
    }

    answer = SimulationEngine(None, made, 0.0).answer(LABELS, content(RecognitionTask.TEXT))
    things = SimulationEngine(None, objects, 0.0).answer(
        OPERATIONS["object_localization"], content(RecognitionTask.LABELS)
    )

    assert len(labels_in(answer)) <= 2
    assert "Fire" in [item["name"] for item in things["localized_object_annotations"]]


def test_different_seeds_give_different_answers() -> None:
    answers = {str(SimulationEngine(None, {}, seed=seed).answer(LABELS, PNG)) for seed in range(20)}

    assert len(answers) == 20


def test_page_of_a_text_has_words_and_line_breaks() -> None:
    operation = OPERATIONS["text_detection"]
    wanted = known(InputSpec(RecognitionTask.TEXT, "Way out\n\nleft"), 1)

    answer = SimulationEngine(None, wanted, 0.0).answer(operation, content(RecognitionTask.TEXT))

    read = parsed(operation, answer)
    assert [item.description for item in read.text_annotations] == [
        "Way out\nleft", "Way", "out", "left",
    ]  # fmt: skip
    assert "".join(_letters(read.full_text_annotation)) == "Way out\nleft\n"


def _letters(text: Any) -> Iterator[str]:
    for paragraph in text.pages[0].blocks[0].paragraphs:
        for word in paragraph.words:
            for symbol in word.symbols:
                yield symbol.text
                yield {0: "", 1: " ", 5: "\n"}[int(symbol.property.detected_break.type_)]


def test_topic_is_answered_only_below_a_known_one() -> None:
    operation = OPERATIONS["classify_text"]
    deep, unknown = "/Sports/Team Sports/Soccer", "/Sport"

    answers = [
        SimulationEngine(None, known(InputSpec(RecognitionTask.CATEGORIES, key), 1), 0.0).answer(
            operation, content(RecognitionTask.CATEGORIES)
        )
        for key in (deep, unknown)
    ]

    topics = [[item["name"] for item in answer["categories"]] for answer in answers]
    assert deep in topics[0]
    assert unknown not in topics[1]
    assert "/Sports" in topics[1]


def test_paths_in_the_users_vocabulary_are_the_topics() -> None:
    given_ = Vocabulary(frozenset({"Fire", "/Weather", "/Weather/Rain"}))

    assert topics_of(given_).labels == ("/Weather", "/Weather/Rain")
    assert "/News" in topics_of(None).labels


def test_kind_of_an_entity_is_one_of_the_service() -> None:
    operation = OPERATIONS["analyze_entities"]
    wanted = known(InputSpec(RecognitionTask.ENTITIES, "Rex", "ANIMAL"), 1)

    answer = SimulationEngine(None, wanted, 0.0).answer(
        operation, content(RecognitionTask.ENTITIES)
    )

    assert ("Rex", "OTHER") in [(item["name"], item["type"]) for item in answer["entities"]]


def test_simulated_engine_is_simulated_and_serves_tasks_with_inputs() -> None:
    engine = SimulationEngine(None, {})

    assert engine.is_simulated
    assert engine.name.startswith("generator of labels")
    assert not engine.serves(OPERATIONS["logo_detection"])
    assert all(engine.serves(operation) for operation in SERVED)
    assert all(
        engine.serves(operation) for operation in known_providers()[1].operations("detect_labels")
    )
    compared = known_providers()[1].operations("compare_faces")
    assert not any(engine.serves(operation) for operation in compared)


def test_bundled_labels_are_related_symmetrically() -> None:
    own = relations_of(None)

    assert len(own.labels) > 200
    for label in own.labels:
        assert own.related(label)
        assert label not in own.related(label)
    assert {"Flame", "Heat", "Gas"} <= set(own.related("fire"))
    assert "Fire" in own.related("Flame")


def test_simulated_engine_refuses_what_the_service_refuses() -> None:
    with pytest.raises(ServiceError, match="Bad image data"):
        SimulationEngine(None, {}).answer(LABELS, b"no image")


@pytest.mark.parametrize("confusion", [-0.1, 1.1, float("nan")])
def test_confusion_outside_zero_to_one_is_refused(confusion: float) -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        SimulationEngine(None, {}, confusion)
