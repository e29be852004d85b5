"""Applications of the real clients of Azure Face: exploration and accuracy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from running_applications import assessed, explored, failures, never, written

if TYPE_CHECKING:
    from pathlib import Path

CLIENTS = """
import io

from azure.ai.vision.face import FaceClient as NewFaceClient
from azure.ai.vision.face.models import FaceDetectionModel, FaceRecognitionModel
from azure.cognitiveservices.vision.face import FaceClient
from azure.cognitiveservices.vision.face.models import (
    APIErrorException,
    FaceAttributeType,
    GlassesType,
)
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import HttpResponseError
from msrest.authentication import CognitiveServicesCredentials

PLACE = "https://here.cognitiveservices.azure.com"
client = FaceClient(PLACE, CognitiveServicesCredentials("key"))
new = NewFaceClient(PLACE, AzureKeyCredential("key"))
models = {
    "detection_model": FaceDetectionModel.DETECTION03,
    "recognition_model": FaceRecognitionModel.RECOGNITION04,
}
"""
EVERYTHING = (
    CLIENTS
    + """
def party(image: bytes):
    wanted = [FaceAttributeType.age, "gender", "smile", "emotion", "glasses", "headPose"]
    found = client.face.detect_with_stream(io.BytesIO(image), return_face_attributes=wanted)
    for one in found:
        told = one.face_attributes
        if told.emotion.happiness > 0.8:
            return "happy"
        if told.age < 12 and told.gender == "female":
            return "girl"
        if told.glasses == GlassesType.sunglasses:
            return "cool"
        if abs(told.head_pose.yaw) > 30:
            return "away"
    if len(found) > 3:
        return "crowd"

def usable(path):
    with open(path, "rb") as image:
        wanted = ["blur", "qualityForRecognition", "mask"]
        found = new.detect(
            image.read(), **models, return_face_id=False, return_face_attributes=wanted
        )
    for one in found:
        if one.face_attributes.quality_for_recognition == "low":
            return False
        if one.face_attributes.blur.blur_level == "medium":
            return None
        if one.face_id:  # it is not asked for
            return one.face_id

def near(image_url: str):
    known = new.detect_from_url(url=image_url, **models, return_face_id=True)
    found = client.face.detect_with_url(image_url, return_face_landmarks=True)
    if found and found[0].face_landmarks.nose_tip.x > 5 and found[0].face_rectangle.width > 200:
        return known[0].face_id if known else None
"""
)


@pytest.mark.slow
def test_exploration_reaches_every_outcome_of_answers(tmp_path: Path) -> None:
    results = explored(written(tmp_path, EVERYTHING))

    assert {name: result.problem for name, result in results.items()} == dict.fromkeys(
        ("party", "usable", "near"), ""
    )
    assert never(results) == {
        ("usable", "one.face_id", True),
        ("near", "found[0].face_landmarks.nose_tip.x > 5", False),
    }
    assert not failures(results)


def test_answer_lacks_features_that_are_not_requested_or_refused(tmp_path: Path) -> None:
    text = """
def first(image: bytes):
    return client.face.detect_with_stream(io.BytesIO(image))[0].face_id

def ages(image: bytes):
    return [one.face_attributes.age for one in client.face.detect_with_stream(io.BytesIO(image))]

def guarded(image: bytes):
    try:
        return len(client.face.detect_with_stream(io.BytesIO(image)))
    except APIErrorException as error:
        if error.response.status_code == 429:
            return {}["no second try"]

def guarded_too(image: bytes):
    try:
        return len(new.detect(image, **models, return_face_id=False))
    except HttpResponseError as error:
        if error.status_code == 429:
            return {}["no second try"]

def same(image: bytes):
    found = client.face.detect_with_stream(io.BytesIO(image))
    if found:
        return client.face.verify_face_to_face(found[0].face_id, found[0].face_id)
"""

    results = explored(written(tmp_path, CLIENTS + text))

    assert failures(results) == {
        "first": {"IndexError"},
        "ages": {"AttributeError"},
        "guarded": {"KeyError"},
        "guarded_too": {"KeyError"},
    }
    assert "azure POST /face/v1.0/verify, for which" in results["same"].problem


TRIED = (
    CLIENTS
    + """
def glad(image: bytes):
    wanted = ["emotion"]
    for one in client.face.detect_with_stream(io.BytesIO(image), return_face_attributes=wanted):
        if one.face_attributes.emotion.happiness > 0.5:
            return True

def smiling(image: bytes):
    found = new.detect(image, **models, return_face_id=False, return_face_attributes=["smile"])
    for one in found:
        if one.face_attributes.smile > 0.5:
            return True
"""
)


@pytest.mark.slow
def test_functions_are_assessed_recorded_and_replayed(tmp_path: Path) -> None:
    app = written(tmp_path / "app", TRIED)
    record = tmp_path / "recording.jsonl"

    results = assessed(app, record=record)
    again = assessed(app, replay=record)

    for result in results.values():
        assert [(verdict.is_failure, verdict.is_simulated) for verdict in result.verdicts] == [
            (False, True)
        ]
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert {line["operation"] for line in lines} == {"detect_with_stream", "detect"}
    assert all(isinstance(line["answer"], list) for line in lines)
    for name, result in again.items():
        claims = [result.claim for result in results[name].verdicts]
        assert [verdict.claim for verdict in result.verdicts] == claims
