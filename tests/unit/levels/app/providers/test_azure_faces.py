"""Faces as Azure tells them, whatever they show, and as far as they are asked for."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.input_synthesis.drawing import faces
from ciguard.levels.app.input_synthesis.inputs import InputSpec
from ciguard.levels.app.providers.azure.face_messages import (
    EMOTION_KINDS,
    SHOWN_BY_FACES,
    face_answer,
)
from ciguard.levels.app.providers.azure.in_target.faces import (
    are_faces,
    faces_asked_for,
    operation_of,
)
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.recognised import BoundingBox, Face
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.virtualization.faces import Faces
from ciguard.levels.app.virtualization.faults import Fault, Oddity
from ciguard.levels.app.virtualization.faulty import with_faults

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.providers.description import Operation

SIZE = (640, 480)
LIKELIHOODS = ("UNKNOWN", "VERY_UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")


def described(name: str) -> Operation:
    (azure,) = (one for one in known_providers() if one.name == "azure")
    (found,) = azure.operations(name)
    return found


def drawn_face() -> ServiceInput:
    rng = random.Random(1)
    return next(faces(InputSpec(RecognitionTask.FACES, "face"), rng))


def face(*shown: str, side: float = 20, sureness: float = 0.9) -> Face:
    likely = dict.fromkeys(shown, "VERY_LIKELY")
    return Face(BoundingBox(1, 2, side, side), 0.9, likely, 30, sureness)


def told(*shown: str, sureness: float = 0.9) -> Json:
    (found,) = face_answer([face(*shown, sureness=sureness)], SIZE)
    return found["face_attributes"]


@given(st.dictionaries(st.sampled_from(SHOWN_BY_FACES), st.sampled_from(LIKELIHOODS)))
def test_shares_of_emotions_are_one_in_all(likelihoods: dict[str, str]) -> None:
    (found,) = face_answer([Face(BoundingBox(0, 0, 9, 9), 0.5, likelihoods)], SIZE)

    emotion = found["face_attributes"]["emotion"]
    assert emotion.keys() == set(EMOTION_KINDS)
    assert all(0 <= share <= 1 for share in emotion.values())
    assert sum(emotion.values()) == pytest.approx(1, abs=1e-3)


def test_each_face_shows_what_it_is_to() -> None:
    plain = told()

    assert plain["emotion"]["neutral"] == 1.0
    assert plain["quality_for_recognition"] == "high"
    assert {what for what in SHOWN_BY_FACES if told(what) == plain} == set()
    assert told("joy")["emotion"]["happiness"] == told("joy")["smile"] == 0.9
    assert told("sunglasses")["glasses"] == "sunglasses"
    assert told("sunglasses")["accessories"] == [{"type": "glasses", "confidence": 0.9}]
    assert told("mask")["mask"] == {"type": "faceMask", "nose_and_mouth_covered": True}


@pytest.mark.parametrize(
    ("shown", "sureness", "what", "level"),
    [
        ("blurred", 0.9, "blur", "high"), ("blurred", 0.3, "blur", "medium"),
        ("blurred", 0.1, "blur", "low"), ("noisy", 0.5, "noise", "medium"),
        ("under_exposed", 0.9, "exposure", "underExposure"),
        ("over_exposed", 0.9, "exposure", "overExposure"), ("joy", 0.9, "exposure", "goodExposure"),
    ],
)  # fmt: skip
def test_values_have_the_level_that_they_are_at(
    shown: str, sureness: float, what: str, level: str
) -> None:
    assert told(shown, sureness=sureness)[what][f"{what}_level"] == level


def test_the_largest_hundred_faces_are_told_the_largest_first() -> None:
    found = face_answer([face(side=side) for side in range(1, 121)], SIZE)

    assert [one["face_rectangle"]["width"] for one in found] == list(range(120, 20, -1))
    assert len({one["face_id"] for one in found}) == 100


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
def test_what_is_not_asked_for_is_left_out(query: str, parts: set[str]) -> None:
    whole = face_answer([face()], SIZE)

    (found,) = faces_asked_for(json.loads(json.dumps(whole)), parse_qs(query))

    assert found.keys() == {"face_rectangle", *parts}
    if "face_attributes" in parts:
        assert found["face_attributes"].keys() == {"age", "head_pose"}


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
def test_operations_are_those_of_the_client_that_speaks_the_version(
    path: str,
    is_stream: bool,  # noqa: FBT001 - of a case
    operation: str,
) -> None:
    assert operation_of(path, is_stream=is_stream) == operation
    assert are_faces(path) is bool(operation)
    assert not operation or described(operation).name == operation


def test_faces_that_are_drawn_are_found_by_the_engine_for_them() -> None:
    drawn = drawn_face()
    asked = described("detect")

    answer = Faces().answer(asked, drawn.content)

    assert Faces().serves(asked)
    (found,) = answer
    assert found["face_rectangle"]["width"] > 50
    assert found["face_attributes"]["emotion"]["neutral"] == 1.0


@pytest.mark.parametrize(("oddity", "count"), [(Oddity.NOTHING, 0), (Oddity.MANY, 100)])
def test_faults_reach_an_answer_that_is_a_list(oddity: Oddity, count: int) -> None:
    drawn = drawn_face()
    (engine,) = with_faults([Faces()], [Fault(answer=oddity)], 0)

    assert len(engine.answer(described("detect"), drawn.content)) == count
