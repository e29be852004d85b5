"""Functions that get a client or an object from their callers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from running_applications import assessed, explored, failures, never, written

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION = """
import time
from dataclasses import dataclass

import boto3
from azure.ai.textanalytics import TextAnalyticsClient
from azure.cognitiveservices.vision.computervision import ComputerVisionClient
from azure.core.credentials import AzureKeyCredential
from google.cloud import speech, vision

class Picture:
    def __init__(self, image, image_name, rekognition_client):
        self.image, self.image_name = image, image_name
        self.rekognition_client = rekognition_client

    def dog(self, max_labels, min_confidence):
        found = self.rekognition_client.detect_labels(
            Image=self.image, MaxLabels=max_labels, MinConfidence=min_confidence)
        if "Dog" in [one["Name"] for one in found["Labels"]]:
            return self.image_name

class Critic:
    def __init__(self, endpoint, key):
        self.client = TextAnalyticsClient(endpoint=endpoint, credential=AzureKeyCredential(key))

    def is_angry(self, text):
        answer = self.client.analyze_sentiment([text])[0]
        return not answer.is_error and answer.sentiment == "negative"

@dataclass
class Gate:
    client: vision.ImageAnnotatorClient
    most: int = 3

    def is_open(self, path: str) -> bool:
        image = vision.Image(content=open(path, "rb").read())
        faces = self.client.face_detection(image=image).face_annotations
        if len(faces) > self.most:
            return False
        return faces[0].joy_likelihood == 5

def cat(client: "ComputerVisionClient", image_path):
    with open(image_path, "rb") as image:
        found = client.tag_image_in_stream(image)
    if any(one.name == "cat" for one in found.tags):
        return found.tags[0].name

def halt(client: speech.SpeechClient, content: bytes, language_code):
    config = speech.RecognitionConfig(language_code=language_code)
    heard = client.recognize(config=config, audio=speech.RecognitionAudio(content=content))
    if not heard.results:
        return ""
    if "stop" in heard.results[0].alternatives[0].transcript:
        return "halt"

class Reader:
    GOOD = ["Lion", "Tiger"]

    def __init__(self, bot):
        self.bot = bot

    def see(self, paths):
        for path in paths:
            with open(path, "rb") as image:
                image = vision.Image(content=image.read())
            found = vision.ImageAnnotatorClient().label_detection(image=image).label_annotations
            if any(one.description in self.GOOD for one in found):
                return True

def only_fails(client: vision.ImageAnnotatorClient, path):
    found = client.label_detection(image=vision.Image(content=open(path, "rb").read()))
    if not found.label_annotations:
        raise_none.name
    return nothing.name

def refuses(client: vision.ImageAnnotatorClient, path):
    found = client.label_detection(image=vision.Image(content=open(path, "rb").read()))
    if found.label_annotations[0].description == "Cat":
        raise ValueError("no cats")
    raise LookupError("no more")

def mood(comprehend, text, language):
    answer = comprehend.detect_sentiment(Text=text, LanguageCode=language)
    if answer["Sentiment"] == "MIXED":
        return answer["Sentiment"]

def spoken(transcribe, job_name, nap_s: int = 0):
    transcribe.start_transcription_job(
        TranscriptionJobName=job_name, Media={"MediaFileUri": "s3://b/k.wav"}, LanguageCode="en-US")
    time.sleep(nap_s)
    job = transcribe.get_transcription_job(TranscriptionJobName=job_name)["TranscriptionJob"]
    return job["Transcript"]["TranscriptFileUri"]

def patiently(transcribe, job_name):
    return spoken(transcribe, job_name, 30)
"""


@pytest.fixture
def application(tmp_path: Path) -> Path:
    return written(tmp_path / "app", APPLICATION)


def test_clients_and_objects_are_created_as_arguments(application: Path) -> None:
    results = explored(application)

    only_fails = results.pop("only_fails")
    assert only_fails.problem.startswith("fails for each answer that was tried: NameError")
    assert only_fails.crashes == []
    assert {name: result.problem for name, result in results.items() if result.problem} == {}
    assert never(results) == set()
    # Who asks at once meets what is not done yet; who waits does not.
    assert failures(results) == {
        "Gate.is_open": {"IndexError"},
        "refuses": {"IndexError"},
        "spoken": {"KeyError"},
        "patiently": {"KeyError"},
    }
    by = {name: [crash.refusal for crash in result.crashes] for name, result in results.items()}
    assert by["spoken"] == [""]
    assert by["patiently"][0]


@pytest.mark.slow
def test_constructor_argument_of_an_object_reaches_the_service(application: Path) -> None:
    results = assessed(application, inputs=12)

    verdicts = {name: result.verdicts for name, result in results.items() if result.verdicts}
    assert verdicts.keys() == {"Picture.dog", "cat", "halt", "refuses"}
    (shown,) = verdicts["Picture.dog"]
    assert shown.measured is not None
    assert shown.measured.correct > shown.measured.expected / 2 > 2
