"""Answers of Azure's Face: attributes, and the requested parts of a face."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.input_synthesis.drawn_images import faces
from ciguard.levels.app.input_synthesis.inputs import InputSpec
from ciguard.levels.app.providers.azure.face_messages import (
    EMOTION_KINDS,
    FACE_PROPERTIES,
    face_answer,
)
from ciguard.levels.app.providers.azure.in_target.faces import (
    are_faces,
    operation_of,
    requested_faces,
)
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.recognised import BoundingBox, Face
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.virtualization.faces import FaceEngine
from ciguard.levels.app.virtualization.faults import Distortion, Fault
from ciguard.levels.app.virtualization.faulty import with_faults

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.providers.description import Operation

SIZE = (640, 480)
LIKELIHOODS = ("UNKNOWN", "VERY_UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")


def described(name: str) -> Operation:
    (azure,) = (provider for provider in known_providers() if provider.name == "azure")
    (first_face,) = azure.operations(name)
    return first_face


def drawn_face() -> ServiceInput:
    rng = random.Random(1)
    return next(faces(InputSpec(RecognitionTask.FACES, "face"), rng))


def face(*shown: str, side: float = 20, reported_confidence: float = 0.9) -> Face:
    likely = dict.fromkeys(shown, "VERY_LIKELY")
    return Face(BoundingBox(1, 2, side, side), 0.9, likely, 30, reported_confidence)


def attributes_of(*shown: str, reported_confidence: float = 0.9) -> Json:
    (first_face,) = face_answer([face(*shown, reported_confidence=reported_confidence)], SIZE)
    return first_face["face_attributes"]


@given(st.dictionaries(st.sampled_from(FACE_PROPERTIES), st.sampled_from(LIKELIHOODS)))
def test_emotion_shares_sum_to_one(likelihoods: dict[str, str]) -> None:
    (first_face,) = face_answer([Face(BoundingBox(0, 0, 9, 9), 0.5, likelihoods)], SIZE)

    emotion = first_face["face_attributes"]["emotion"]
    assert emotion.keys() == set(EMOTION_KINDS)
    assert all(0 <= share <= 1 for share in emotion.values())
    assert sum(emotion.values()) == pytest.approx(1, abs=1e-3)


def test_face_attributes_match_the_drawn_face() -> None:
    plain = attributes_of()

    assert plain["emotion"]["neutral"] == 1.0
    assert plain["quality_for_recognition"] == "high"
    assert {name for name in FACE_PROPERTIES if attributes_of(name) == plain} == set()
    assert attributes_of("joy")["emotion"]["happiness"] == attributes_of("joy")["smile"] == 0.9
    assert attributes_of("sunglasses")["glasses"] == "sunglasses"
    assert attributes_of("sunglasses")["accessories"] == [{"type": "glasses", "confidence": 0.9}]
    assert attributes_of("mask")["mask"] == {"type": "faceMask", "nose_and_mouth_covered": True}


@pytest.mark.parametrize(
    ("shown", "reported_confidence", "name", "level"),
    [
        ("blurred", 0.9, "blur", "high"), ("blurred", 0.3, "blur", "medium"),
        ("blurred", 0.1, "blur", "low"), ("noisy", 0.5, "noise", "medium"),
        ("under_exposed", 0.9, "exposure", "underExposure"),
        ("over_exposed", 0.9, "exposure", "overExposure"), ("joy", 0.9, "exposure", "goodExposure"),
    ],
)  # fmt: skip
def test_value_has_the_level_of_its_range(
    shown: str, reported_confidence: float, name: str, level: str
) -> None:
    assert (
        attributes_of(shown, reported_confidence=reported_confidence)[name][f"{name}_level"]
        == level
    )


def test_answer_has_the_hundred_largest_faces_largest_first() -> None:
    first_face = face_answer([face(side=side) for side in range(1, 121)], SIZE)

    assert [face_item["face_rectangle"]["width"] for face_item in first_face] == list(
        range(120, 20, -1)
    )
    assert len({face_item["face_id"] for face_item in first_face}) == 100


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("", {"face_id"}),
        ("returnFaceId=true&returnRecognitionModel=True", {"face_id", "recognition_model"}),
        ("returnFaceId=false&returnRecognitionModel=true", set()),
        ("returnFaceId=False&returnFaceLandmarks=true", {"face_landmarks"}),
        ("returnFaceAttributes=", {"face_id"}),
        ("returnFaceAttributes=age,headPose", {"face_id", "face_attributes"}),
    ],
)
def test_attributes_not_requested_are_removed(query: str, parts: set[str]) -> None:
    whole = face_answer([face()], SIZE)

    (first_face,) = requested_faces(json.loads(json.dumps(whole)), parse_qs(query))

    assert first_face.keys() == {"face_rectangle", *parts}
    if "face_attributes" in parts:
        assert first_face["face_attributes"].keys() == {"age", "head_pose"}


@pytest.mark.parametrize(
    ("path", "is_stream", "operation"),
    [
        ("/face/v1.0/detect", True, "detect_with_stream"),
        ("/face/v1.0/detect", False, "detect_with_url"),
        ("/face/v1.2-preview.1/detect", True, "detect"),
        ("/face/v1.2/detect", False, "detect_from_url"),
        ("/face/v1.0/verify", True, ""),
        ("/vision/v3.2/detect", True, ""),
    ],
)
def test_path_has_the_operation_of_the_client_of_its_version(
    path: str,
    is_stream: bool,  # noqa: FBT001 - of a case
    operation: str,
) -> None:
    assert operation_of(path, is_stream=is_stream) == operation
    assert are_faces(path) is bool(operation)
    assert not operation or described(operation).name == operation


def test_drawn_faces_are_detected_by_the_face_engine() -> None:
    drawn = drawn_face()
    asked = described("detect")

    answer = FaceEngine().answer(asked, drawn.content)

    assert FaceEngine().serves(asked)
    (first_face,) = answer
    assert first_face["face_rectangle"]["width"] > 50
    assert first_face["face_attributes"]["emotion"]["neutral"] == 1.0


@pytest.mark.parametrize(("distortion", "count"), [(Distortion.NOTHING, 0), (Distortion.MANY, 100)])
def test_faults_change_an_answer_that_is_a_list(distortion: Distortion, count: int) -> None:
    drawn = drawn_face()
    (engine,) = with_faults([FaceEngine()], [Fault(answer=distortion)], 0)

    assert len(engine.answer(described("detect"), drawn.content)) == count
