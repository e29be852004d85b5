"""Answers that are made up: from the vocabulary, the same each time, as often right as is said."""

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
from ciguard.levels.app.input_synthesis.inputs import Feeling, InputSpec, digest_of
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.description import (
    MediaKind,
    Operation,
    RecognitionTask,
    kind_of,
)
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.virtualization.relations import relations_of, topics_of
from ciguard.levels.app.virtualization.simulated import Simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.values import Json

GOOGLE = known_providers()[0]
OPERATIONS = {name: one for client in GOOGLE.clients for name, one in client.operations.items()}
SERVED = [one for one in OPERATIONS.values() if one.task is not RecognitionTask.OTHER]
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
    """Return something that a service takes, of the kind that is asked about."""
    match kind_of(task):
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
        is_felt = operation.name == "analyze_entity_sentiment"
        name = f"language_v1.AnalyzeEntit{'ySentiment' if is_felt else 'ies'}Response"
    module, _, message = name.partition(".")
    made = getattr(importlib.import_module(f"google.cloud.{module}"), message)
    return made(json_format.ParseDict(answer, made.pb(made())))


def found(answer: Json) -> list[str]:
    return [one["description"] for one in answer.get("label_annotations", [])]


def known(wanted: InputSpec, count: int) -> dict[str, InputSpec]:
    return {digest_of(content(wanted.task, number)): wanted for number in range(count)}


@given(vocabularies, st.data(), st.integers())
def test_no_label_is_outside_the_vocabulary(
    vocabulary: Vocabulary, data: st.DataObject, seed: int
) -> None:
    key = data.draw(
        st.one_of(st.just(""), st.text(max_size=12), st.sampled_from(sorted(vocabulary.labels)))
    )
    wanted = known(InputSpec(RecognitionTask.LABELS, key), 1) if data.draw(st.booleans()) else {}

    for confusion in (0.0, 0.5, 1.0):
        engine = Simulated(vocabulary, wanted, confusion, seed)
        answer = engine.answer(LABELS, content(RecognitionTask.LABELS))

        assert set(found(answer)) <= vocabulary.labels
        assert len(found(answer)) == len(set(found(answer))) <= 10
        scores = [one["score"] for one in answer.get("label_annotations", [])]
        assert scores == sorted(scores, reverse=True)
        assert all(0.5 <= score <= 0.99 for score in scores)


@given(vocabularies, st.data(), st.integers())
def test_without_confusion_what_is_wanted_is_shown_and_with_all_of_it_never(
    vocabulary: Vocabulary, data: st.DataObject, seed: int
) -> None:
    label = data.draw(st.sampled_from(sorted(vocabulary.labels)))
    wanted = known(InputSpec(RecognitionTask.LABELS, label.upper()), 1)

    answers = [
        found(
            Simulated(vocabulary, wanted, confusion, seed).answer(
                LABELS, content(RecognitionTask.LABELS)
            )
        )
        for confusion in (0.0, 1.0)
    ]

    assert label in answers[0]
    assert label not in answers[1]
    assert len(answers[0]) >= min(3, len(vocabulary.labels))


@given(st.sampled_from(SERVED), st.integers(0, 10**6), st.integers(), st.text(max_size=20))
def test_the_same_content_is_answered_the_same_in_messages_that_the_clients_can_read(
    operation: Operation, number: int, seed: int, key: str
) -> None:
    about = content(operation.task, number)
    for wanted in ({}, {digest_of(about): InputSpec(operation.task, key, "PERSON")}):
        engine = Simulated(None, wanted, 0.5, seed)

        answer = engine.answer(operation, about)

        assert answer == Simulated(None, wanted, 0.5, seed).answer(operation, about)
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
        ("analyze_sentiment", InputSpec(RecognitionTask.SENTIMENT, feeling=Feeling.NEGATIVE)),
        ("recognize", InputSpec(RecognitionTask.SPEECH, "turn on the light")),
    ],
)
@pytest.mark.lengthy
def test_the_share_of_hits_is_near_what_is_said(name: str, wanted: InputSpec) -> None:
    operation, count = OPERATIONS[name], 500
    for confusion in (0.0, 0.2, 1.0):
        engine = Simulated(None, known(wanted, count), confusion, seed=4)

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
    RecognitionTask.LABELS: lambda answer: [(name.lower(), "") for name in found(answer)],
    RecognitionTask.OBJECTS: lambda answer: [
        (r["name"], "") for r in answer["localized_object_annotations"]
    ],
    RecognitionTask.FACES: _emotions,
    RecognitionTask.TEXT: lambda answer: [(answer.get("full_text_annotation", {}).get("text"), "")],
    RecognitionTask.CATEGORIES: lambda answer: [(one["name"], "") for one in answer["categories"]],
    RecognitionTask.ENTITIES: lambda answer: [
        (one["name"], one["type"]) for one in answer["entities"]
    ],
    RecognitionTask.SENTIMENT: lambda a: (
        [("", "")] if a["document_sentiment"]["score"] < -0.25 else []
    ),
    RecognitionTask.SPEECH: lambda answer: [
        (one["alternatives"][0]["transcript"], "") for one in answer.get("results", [])
    ],
}


def test_beside_what_is_wanted_are_labels_that_are_like_it() -> None:
    engine = Simulated(None, known(InputSpec(RecognitionTask.LABELS, "fire"), 50), 0.0)

    like = {"Flame", "Heat", "Gas", "Smoke", "Bonfire", "Fireplace", "Explosion"}
    answers = [
        set(found(engine.answer(LABELS, content(RecognitionTask.LABELS, n)))) for n in range(50)
    ]

    assert sum(bool(answer & like) for answer in answers) > 40


def test_for_a_label_that_the_service_lacks_it_gives_the_nearest_ones() -> None:
    vocabulary = Vocabulary(frozenset({"Clothing", "Fire", "Sky", "Food", "Tree", "Dog", "Cat"}))
    engine = Simulated(vocabulary, known(InputSpec(RecognitionTask.LABELS, "clothes"), 50), 0.0)

    answers = [found(engine.answer(LABELS, content(RecognitionTask.LABELS, n))) for n in range(50)]

    assert all("Clothing" in answer for answer in answers)


def test_where_nothing_in_particular_is_shown_little_is_found() -> None:
    for operation in SERVED:
        engine = Simulated(None, known(InputSpec(operation.task), 50), 0.0)
        answers = [engine.answer(operation, content(operation.task, n)) for n in range(50)]

        if operation.task is RecognitionTask.SENTIMENT:
            assert all(abs(a["document_sentiment"]["score"]) <= 0.2 for a in answers)
        else:
            assert all(len(a.get(operation.records, [])) <= 2 for a in answers)


def test_an_input_that_was_made_for_another_task_shows_nothing_in_particular_to_this_one() -> None:
    made = {digest_of(content(RecognitionTask.TEXT)): InputSpec(RecognitionTask.TEXT, "Fire")}
    objects = {
        digest_of(content(RecognitionTask.LABELS)): InputSpec(RecognitionTask.LABELS, "Fire")
    }

    answer = Simulated(None, made, 0.0).answer(LABELS, content(RecognitionTask.TEXT))
    things = Simulated(None, objects, 0.0).answer(
        OPERATIONS["object_localization"], content(RecognitionTask.LABELS)
    )

    assert len(found(answer)) <= 2
    assert "Fire" in [one["name"] for one in things["localized_object_annotations"]]


def test_other_seeds_give_other_answers() -> None:
    answers = {str(Simulated(None, {}, seed=seed).answer(LABELS, PNG)) for seed in range(20)}

    assert len(answers) == 20


def test_a_text_is_laid_out_by_words_and_breaks() -> None:
    operation = OPERATIONS["text_detection"]
    wanted = known(InputSpec(RecognitionTask.TEXT, "Way out\n\nleft"), 1)

    answer = Simulated(None, wanted, 0.0).answer(operation, content(RecognitionTask.TEXT))

    read = parsed(operation, answer)
    assert [one.description for one in read.text_annotations] == [
        "Way out\nleft", "Way", "out", "left",
    ]  # fmt: skip
    assert "".join(_letters(read.full_text_annotation)) == "Way out\nleft\n"


def _letters(text: Any) -> Iterator[str]:
    for paragraph in text.pages[0].blocks[0].paragraphs:
        for word in paragraph.words:
            for symbol in word.symbols:
                yield symbol.text
                yield {0: "", 1: " ", 5: "\n"}[int(symbol.property.detected_break.type_)]


def test_a_topic_below_one_of_ciguards_own_is_believed_and_an_unknown_one_is_not() -> None:
    operation = OPERATIONS["classify_text"]
    deep, unknown = "/Sports/Team Sports/Soccer", "/Sport"

    answers = [
        Simulated(None, known(InputSpec(RecognitionTask.CATEGORIES, key), 1), 0.0).answer(
            operation, content(RecognitionTask.CATEGORIES)
        )
        for key in (deep, unknown)
    ]

    topics = [[one["name"] for one in answer["categories"]] for answer in answers]
    assert deep in topics[0]
    assert unknown not in topics[1]
    assert "/Sports" in topics[1]


def test_paths_in_the_users_vocabulary_are_the_topics() -> None:
    given_ = Vocabulary(frozenset({"Fire", "/Weather", "/Weather/Rain"}))

    assert topics_of(given_).labels == ("/Weather", "/Weather/Rain")
    assert "/News" in topics_of(None).labels


def test_the_kind_of_an_entity_is_one_that_the_service_has() -> None:
    operation = OPERATIONS["analyze_entities"]
    wanted = known(InputSpec(RecognitionTask.ENTITIES, "Rex", "ANIMAL"), 1)

    answer = Simulated(None, wanted, 0.0).answer(operation, content(RecognitionTask.ENTITIES))

    assert ("Rex", "OTHER") in [(one["name"], one["type"]) for one in answer["entities"]]


def test_it_says_that_it_is_simulated_and_serves_what_inputs_are_made_for() -> None:
    engine = Simulated(None, {})

    assert engine.is_simulated
    assert engine.name.startswith("simulated labels")
    assert not engine.serves(OPERATIONS["logo_detection"])
    assert all(engine.serves(one) for one in SERVED)
    assert all(engine.serves(one) for one in known_providers()[1].operations("detect_labels"))
    compared = known_providers()[1].operations("compare_faces")
    assert not any(engine.serves(one) for one in compared)


def test_its_own_labels_are_many_and_related_both_ways() -> None:
    own = relations_of(None)

    assert len(own.labels) > 200
    for label in own.labels:
        assert own.related(label)
        assert label not in own.related(label)
    assert {"Flame", "Heat", "Gas"} <= set(own.related("fire"))
    assert "Fire" in own.related("Flame")


def test_what_the_service_refuses_is_refused() -> None:
    with pytest.raises(ServiceError, match="Bad image data"):
        Simulated(None, {}).answer(LABELS, b"no image")


@pytest.mark.parametrize("confusion", [-0.1, 1.1, float("nan")])
def test_a_confusion_that_is_no_share_is_refused(confusion: float) -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        Simulated(None, {}, confusion)
