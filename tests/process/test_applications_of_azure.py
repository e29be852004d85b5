"""Applications of the real clients of Azure: exploration and accuracy."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from running_applications import assessed, explored, failures, never, written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLIENTS = """
import io
import time

from azure.ai.textanalytics import TextAnalyticsClient
from azure.ai.vision.imageanalysis import ImageAnalysisClient
from azure.ai.vision.imageanalysis.models import VisualFeatures
from azure.cognitiveservices.vision.computervision import ComputerVisionClient
from azure.cognitiveservices.vision.computervision.models import (
    OperationStatusCodes,
    VisualFeatureTypes,
)
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import HttpResponseError
from msrest.authentication import CognitiveServicesCredentials

PLACE = "https://here.cognitiveservices.azure.com"
texts = TextAnalyticsClient(PLACE, AzureKeyCredential("key"))
old_texts = TextAnalyticsClient(PLACE, AzureKeyCredential("key"), api_version="v3.1")
eyes = ImageAnalysisClient(PLACE, AzureKeyCredential("key"))
vision = ComputerVisionClient(PLACE, CognitiveServicesCredentials("key"))
"""
EVERYTHING = (
    CLIENTS
    + """
def mood(text: str):
    felt = texts.analyze_sentiment([text])[0]
    if felt.is_error:
        return None
    if felt.sentiment == "negative" or felt.sentiment == "mixed":
        return "sorry"
    if felt.confidence_scores.positive > 0.8 and felt.sentences[0].text:
        return "great"

def moods(several: list[str]):
    for one in old_texts.analyze_sentiment(several):
        if not one.is_error and one.sentiment == "neutral":
            return True

def named(text: str):
    for document in texts.recognize_entities([text]):
        if document.is_error:
            continue
        for one in document.entities:
            if one.category == "Person" and one.confidence_score > 0.7:
                return one.text
            if one.category == "Email":
                return "mail"

def greeting(text: str):
    language = texts.detect_language([text[:100]])[0]
    if language.primary_language.iso6391_name == "de":
        return "Hallo"
    for phrase in texts.extract_key_phrases([text[:100]])[0].key_phrases:
        if phrase == "the rain":
            return "umbrella"

def dogs(path):
    with open(path, "rb") as image:
        for one in vision.tag_image_in_stream(image).tags:
            if one.name == "dog" and one.confidence > 0.5:
                return True
            if one.name == "Cat":  # tags are in small letters
                return False

def things(image: bytes):
    for one in vision.detect_objects_in_stream(io.BytesIO(image)).objects:
        if one.object_property == "car" and one.rectangle.w > 0:
            return True

def analysed(image: bytes):
    wanted = [VisualFeatureTypes.tags, VisualFeatureTypes.description]
    found = vision.analyze_image_in_stream(io.BytesIO(image), visual_features=wanted)
    for one in found.tags:
        if one.name == "cat":
            return True
    for one in found.description.captions:
        if "a storm" in one.text:
            return False

def moderated(image: bytes):
    wanted = [VisualFeatureTypes.adult, VisualFeatureTypes.color, VisualFeatureTypes.faces]
    found = vision.analyze_image_in_stream(io.BytesIO(image), visual_features=wanted)
    if found.adult.is_adult_content or found.adult.racy_score > 0.7:
        return "blocked"
    if found.adult.gore_score > 0.3 and not found.adult.is_gory_content:
        return "doubtful"
    if found.color.is_bw_img or found.color.dominant_color_background == "Black":
        return "dark"
    if found.faces and found.faces[0].gender == "Male":
        return "he"

def seen(image: bytes):
    wanted = [VisualFeatures.TAGS, VisualFeatures.CAPTION, VisualFeatures.READ]
    found = eyes.analyze(image_data=image, visual_features=wanted)
    for tag in found.tags.list:
        if tag.name == "fire":
            return True
    if "a storm" in found.caption.text:
        return False
    for block in found.read.blocks:
        for line in block.lines:
            if line.text == "EXIT":
                return 3

def total(image: bytes):
    answer = vision.read_in_stream(io.BytesIO(image), raw=True)
    number = answer.headers["Operation-Location"].split("/")[-1]
    while True:
        result = vision.get_read_result(number)
        if result.status not in [OperationStatusCodes.running, OperationStatusCodes.not_started]:
            break
        time.sleep(60)
    for page in result.analyze_result.read_results:
        for line in page.lines:
            if line.text == "Total":
                return True

def printed(image: bytes):
    for region in vision.recognize_printed_text_in_stream(io.BytesIO(image)).regions:
        for line in region.lines:
            if line.words[0].text == "Exit":
                return True
"""
)


@pytest.mark.slow
def test_exploration_reaches_every_outcome_of_answers(tmp_path: Path) -> None:
    results = explored(written(tmp_path, EVERYTHING))

    assert len(results) == 11
    assert {name: result.problem for name, result in results.items() if result.problem} == {}
    assert never(results) == {
        ("dogs", "one.name == 'Cat'", True),
        ("mood", "felt.sentences[0].text", False),
        ("things", "one.rectangle.w > 0", False),
    }
    assert not failures(results)


def test_answer_lacks_features_that_are_not_requested_or_refused(tmp_path: Path) -> None:
    text = """
def first(image: bytes):
    return vision.describe_image_in_stream(io.BytesIO(image)).captions[0].text

def without_features(image: bytes):
    for one in vision.analyze_image_in_stream(io.BytesIO(image)).tags:
        return one.name

def careless(text: str):
    return texts.analyze_sentiment([text])[0].sentiment

def guarded(image: bytes):
    try:
        return eyes.analyze(image_data=image, visual_features=[VisualFeatures.TAGS]).tags.list
    except HttpResponseError as error:
        if error.status_code == 429:
            return {}["no second try"]
"""

    results = explored(written(tmp_path, CLIENTS + text))

    assert failures(results) == {
        "first": {"IndexError"},
        "careless": {"AttributeError"},  # of an error in the place of a document
        "guarded": {"KeyError"},
    }
    assert results["careless"].crashes[0].titles == (
        "analyze_sentiment: a text of more than 5120 letters",
    )
    assert "TypeError: 'NoneType'" in results["without_features"].problem


def test_operation_without_stub_responses_reaches_no_service_and_is_reported(
    tmp_path: Path,
) -> None:
    text = """
def smiles(text: str):
    return texts.begin_analyze_healthcare_entities([text]), texts.analyze_sentiment([text])

def around(text: str):
    import urllib.request
    urllib.request.urlopen(PLACE)
    return texts.analyze_sentiment([text])

def phrases(text: str):
    return older_texts.key_phrases([text])
"""

    results = explored(written(tmp_path, CLIENTS + text))

    problems = {name: result.problem for name, result in results.items()}
    assert "azure POST /language/analyze-text/jobs, for which" in problems["smiles"]
    assert "a service of Azure, without its clients" in problems["around"]
    assert problems["phrases"] == "ciguard has no stub responses for azure key_phrases"


def test_clients_of_other_providers_in_the_same_file_are_intercepted_too(tmp_path: Path) -> None:
    text = """
import boto3
from google.cloud import vision as google_vision

comprehend = boto3.client("comprehend")
google = google_vision.ImageAnnotatorClient()

def mood(text: str):
    felt = texts.analyze_sentiment([text[:100]])[0]
    if felt.sentiment == "negative":
        return comprehend.detect_sentiment(Text=text[:100], LanguageCode="en")["Sentiment"]

def dogs(image: bytes):
    labels = google.label_detection(image=google_vision.Image(content=image))
    return [one for one in labels.label_annotations if one.description == "Dog"]
"""

    results = explored(written(tmp_path, CLIENTS + text))

    assert {name: result.problem for name, result in results.items()} == {"mood": "", "dogs": ""}
    assert not never(results)


TRIED = (
    CLIENTS
    + """
def mood(text: str):
    felt = texts.analyze_sentiment([text])[0]
    if felt.sentiment == "negative":
        return "sorry"

def thanks(text: str):
    if texts.analyze_sentiment([text])[0].confidence_scores.positive > 0.0001:
        return "great"

def people(text: str):
    for one in texts.recognize_entities([text])[0].entities:
        if one.category == "Person":
            return one.text

def fire(image: bytes):
    names = [one.name for one in vision.tag_image_in_stream(io.BytesIO(image)).tags]
    if "fire" in names:
        return True

def cars(image: bytes):
    for one in vision.detect_objects_in_stream(io.BytesIO(image)).objects:
        if one.object_property == "car":
            return True

def exits(image: bytes):
    answer = vision.read_in_stream(io.BytesIO(image), raw=True)
    result = vision.get_read_result(answer.headers["Operation-Location"].split("/")[-1])
    for line in result.analyze_result.read_results[0].lines:
        if line.text.lower() == "exit":
            return True
"""
)


@pytest.mark.slow
def test_functions_are_assessed_recorded_and_replayed(tmp_path: Path) -> None:
    app = written(tmp_path / "app", TRIED)
    habits = tmp_path / "habits.toml"
    habits.write_text("[labels]\nfire = { Fire = 0.3, Flame = 0.9 }\n")
    record = tmp_path / "recording.jsonl"

    results = assessed(app, confusion_matrix=habits, record=record)
    again = assessed(app, replay=record)

    judged = {name: [result.is_failure for result in got.verdicts] for name, got in results.items()}
    assert judged == {
        "mood": [False], "thanks": [True], "people": [False], "fire": [True], "cars": [False],
        "exits": [False],
    }  # fmt: skip
    assert results["exits"].verdicts[0].engine == "Tesseract"
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert {line["provider"] for line in lines} == {"azure"}
    for name, result in again.items():
        claims = [result.claim for result in results[name].verdicts]
        assert [verdict.claim for verdict in result.verdicts] == claims


@pytest.fixture
def server() -> Iterator[str]:
    """Speaks as both services do."""

    class Azure(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.sent()
            if self.path.startswith("/vision/"):
                name = "fire" if body.endswith(b"fire") else "lake"
                self.say({"tags": [{"name": name, "confidence": 0.9}]})
                return
            asked = json.loads(body)
            (document,) = asked["analysisInput"]["documents"]
            shares = {"positive": 0.1, "neutral": 0.1, "negative": 0.8}
            told = {"sentiment": "negative", "confidenceScores": shares, "sentences": []}
            documents = [{"id": document["id"], "warnings": [], **told}]
            results = {"documents": documents, "errors": [], "modelVersion": "1"}
            self.say({"kind": "SentimentAnalysisResults", "results": results})

        def sent(self) -> bytes:
            if "content-length" in self.headers:
                return self.rfile.read(int(self.headers["content-length"]))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size + 2)[:size]
            self.rfile.readline()
            return body

        def say(self, content: object) -> None:
            body = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", f"{len(body)}")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Azure) as http:
        thread = Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_real_service_is_called_by_the_client_of_the_application(
    tmp_path: Path, server: str
) -> None:
    text = TRIED.replace("https://here.cognitiveservices.azure.com", server)
    keeping = ("def mood", "def fire")
    parts = text.split("\ndef ")
    kept = [part for part in parts[1:] if f"def {part}".startswith(keeping)]
    text = "\ndef ".join([parts[0], *kept]).replace(
        'AzureKeyCredential("key")', 'AzureKeyCredential("key"), enforce_https=False'
    )
    images = tmp_path / "images"
    for name in ("fire", "lake"):
        (images / name).mkdir(parents=True)
        for at in range(12):
            content = b"\x89PNG\r\n\x1a\n" + f"{at}{name}".encode()
            (images / name / f"{at}.png").write_bytes(content)
    record = tmp_path / "recording.jsonl"

    app = written(tmp_path / "app", text)
    first = assessed(app, is_real=True, images=images, record=record)
    again = assessed(app, images=images, replay=record)

    (fire,) = first["fire"].verdicts
    assert fire.is_of_service
    assert fire.measured is not None
    assert fire.measured.correct == fire.measured.expected
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert {line["operation"] for line in lines} == {"tag_image_in_stream", "analyze_sentiment"}
    felt = next(line["answer"] for line in lines if line["operation"] == "analyze_sentiment")
    assert felt["confidence_scores"] == {"positive": 0.1, "neutral": 0.1, "negative": 0.8}
    for name, result in again.items():
        claims = [verdict.claim for verdict in first[name].verdicts]
        assert [verdict.claim for verdict in result.verdicts] == claims
