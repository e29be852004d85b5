"""Applications of the real clients of AWS: exploration and accuracy."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from running_applications import assessed, explored, failures, never, written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLIENTS = """
import boto3
from botocore.exceptions import ClientError

rekognition = boto3.client("rekognition")
comprehend = boto3.Session().client("comprehend")
"""


@pytest.fixture(autouse=True)
def nothing_is_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))


EVERYTHING = (
    CLIENTS
    + """
def can(path):
    with open(path, "rb") as file:
        labels = rekognition.detect_labels(Image={"Bytes": file.read()})["Labels"]
    for one in labels:
        if one["Name"].lower() == "food" and one["Confidence"] > 80:
            return "organic"
        if one["Name"] in ("Paper", "Wood"):
            return "recyclable"
        if len(one["Instances"]) > 0 and one["Parents"]:
            return "thing"

def door(image: bytes):
    found = rekognition.detect_faces(Image={"Bytes": image}, Attributes=["ALL"])
    for face in found["FaceDetails"]:
        if face["Smile"]["Value"] and face["AgeRange"]["Low"] < 18:
            return "a child that smiles"
        for emotion in face["Emotions"]:
            if emotion["Type"] == "FEAR" and emotion["Confidence"] > 50:
                return "fear"
        if not face["EyesOpen"]["Value"] or face["Gender"]["Value"] == "Female":
            return "other"

def sign(image: bytes):
    for one in rekognition.detect_text(Image={"Bytes": image})["TextDetections"]:
        if one["Type"] == "WORD" and one["DetectedText"] == "Exit" and "ParentId" in one:
            return True

def unfit(image: bytes):
    found = rekognition.detect_moderation_labels(Image={"Bytes": image})["ModerationLabels"]
    if any(one["Name"] == "Violence" or one["ParentName"] == "Violence" for one in found):
        return True
    stars = rekognition.recognize_celebrities(Image={"Bytes": image})["CelebrityFaces"]
    return [one for one in stars if one["Name"] == "Grace Hopper"]

def mood(text: str):
    felt = comprehend.detect_sentiment(Text=text, LanguageCode="en")
    if felt["Sentiment"] == "NEGATIVE" or felt["Sentiment"] == "MIXED":
        return "sorry"
    if felt["SentimentScore"]["Positive"] > 0.8:
        return "great"
    return "ok"

def moods(texts: list[str]):
    found = comprehend.batch_detect_sentiment(TextList=texts, LanguageCode="en")
    return [one for one in found["ResultList"] if one["Sentiment"] == "POSITIVE"]

def buys(text: str):
    found = comprehend.detect_entities(Text=text, LanguageCode="en")["Entities"]
    if any(one["Type"] == "COMMERCIAL_ITEM" or one["Type"] == "QUANTITY" for one in found):
        return True

def greeting(text: str):
    language = comprehend.detect_dominant_language(Text=text)["Languages"][0]["LanguageCode"]
    if language == "de":
        return "Hallo"
    phrases = comprehend.detect_key_phrases(Text=text, LanguageCode="en")["KeyPhrases"]
    if any(one["Text"] == "the rain" for one in phrases):
        return "umbrella"
"""
)


def test_exploration_reaches_every_outcome_of_boto3_answers(tmp_path: Path) -> None:
    results = explored(written(tmp_path, EVERYTHING))

    assert len(results) == 8
    assert {name: result.problem for name, result in results.items() if result.problem} == {}
    # Words of an answer always say which line they are of.
    assert never(results) == {("sign", "'ParentId' in one", False)}
    assert not failures(results)


def test_crash_is_reported_with_its_answer(tmp_path: Path) -> None:
    text = """
def first(image: bytes):
    labels = rekognition.detect_labels(Image={"Bytes": image})["Labels"]
    return labels[0]["Name"]

def smiles(image: bytes):
    faces = rekognition.detect_faces(Image={"Bytes": image})["FaceDetails"]
    return [face for face in faces if face["Smile"]["Value"]]

def unsure(image: bytes):
    for one in rekognition.detect_labels(Image={"Bytes": image})["Labels"]:
        if one["Confidence"] < 50:
            return True
    found = rekognition.detect_labels(Image={"Bytes": image}, MinConfidence=10, MaxLabels=2)
    if len(found["Labels"]) > 2:
        return False
"""

    results = explored(written(tmp_path, CLIENTS + text))

    assert failures(results) == {"first": {"IndexError"}, "smiles": {"KeyError"}}
    # What is less sure is left out unless it is asked for, and so is what is too much.
    assert all(values.keys() == {False} for values in results["unsure"].answers_by_outcome.values())


def test_refusals_are_exceptions_of_the_client(tmp_path: Path) -> None:
    text = """
def guarded(image: bytes):
    try:
        return rekognition.detect_labels(Image={"Bytes": image})["Labels"]
    except rekognition.exceptions.InvalidImageFormatException as error:
        return error.response["Error"]["Message"][0]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ThrottlingException":
            return {}["no second try"]

def careless(text: str):
    return comprehend.detect_sentiment(Text=text, LanguageCode="en")["Sentiment"]

def careful(text: str):
    if len(text.encode()) > 5000:
        return None
    return comprehend.detect_sentiment(Text=text, LanguageCode="en")["Sentiment"]

def in_parts(text: str):
    parts = [text[at : at + 5000] for at in range(0, len(text), 5000)]
    found = comprehend.batch_detect_sentiment(TextList=parts, LanguageCode="en")
    return [found["ResultList"][at]["Sentiment"] for at in range(len(parts))]
"""

    results = explored(written(tmp_path, CLIENTS + text))

    assert [crash.titles for crash in results["guarded"].crashes] == [
        ("detect_labels: Rate exceeded",)
    ]
    assert not results["guarded"].uncaught_refusals
    (unguarded,) = results["careless"].uncaught_refusals.values()
    assert unguarded.titles == ("detect_sentiment: a text of more than 5000 bytes",)
    assert unguarded.error.startswith("TextSizeLimitExceededException: ")
    assert not results["careful"].uncaught_refusals
    assert not results["in_parts"].uncaught_refusals
    assert not results["in_parts"].crashes


def test_operation_without_stub_responses_reaches_no_service_and_is_reported(
    tmp_path: Path,
) -> None:
    text = """
import urllib.request

def stored(bucket, key):
    boto3.client("s3").list_buckets()
    image = {"S3Object": {"Bucket": bucket, "Name": key}}
    return rekognition.detect_labels(Image=image)["Labels"]

def around(image: bytes):
    urllib.request.urlopen("https://rekognition.us-east-1.amazonaws.com/")
    return rekognition.detect_labels(Image={"Bytes": image})["Labels"]

def said(name: str):
    transcribe = boto3.client("transcribe")
    transcribe.list_transcription_jobs()
    return transcribe.get_transcription_job(TranscriptionJobName=name)

def compared(image: bytes):
    images = {"SourceImage": {"Bytes": image}, "TargetImage": {"Bytes": image}}
    return rekognition.compare_faces(**images)["FaceMatches"]

def wrong(text: str):
    return comprehend.detect_sentiment(Text=text)["Sentiment"]
"""

    results = explored(written(tmp_path, CLIENTS + text))

    problems = {name: result.problem for name, result in results.items()}
    assert "s3 ListBuckets, for which" in problems["stored"]
    assert "a service of AWS, without boto3" in problems["around"]
    assert "transcribe ListTranscriptionJobs, for which" in problems["said"]
    assert problems["compared"] == "ciguard has no stub responses for aws compare_faces"
    # The client checks what it is given, as always.
    assert "ParamValidationError" in problems["wrong"]


TRIED = (
    CLIENTS
    + """
def alarm(image: bytes) -> bool:
    labels = rekognition.detect_labels(Image={"Bytes": image})["Labels"]
    names = [one["Name"].lower() for one in labels]
    if "fire" in names:
        return True
    return False

def thanks(text: str):
    felt = comprehend.detect_sentiment(Text=text, LanguageCode="en")
    if felt["SentimentScore"]["Positive"] > 0.001:
        return "thank you"
    if felt["Sentiment"] != "MIXED":
        return "fine"

def sorry(text: str):
    (felt,) = comprehend.batch_detect_sentiment(TextList=[text], LanguageCode="en")["ResultList"]
    return "sorry" if felt["Sentiment"] == "NEGATIVE" else "fine"

def happy(image: bytes):
    for face in rekognition.detect_faces(Image={"Bytes": image}, Attributes=["ALL"])["FaceDetails"]:
        if face["Emotions"][0]["Type"] == "HAPPY":
            return True

def sign(image: bytes):
    for one in rekognition.detect_text(Image={"Bytes": image})["TextDetections"]:
        if one["DetectedText"].lower() == "exit":
            return True

def people(text: str):
    for one in comprehend.detect_entities(Text=text, LanguageCode="en")["Entities"]:
        if one["Type"] == "TITLE":
            return one["Text"]
"""
)


@pytest.mark.slow
def test_functions_are_assessed_recorded_and_replayed(tmp_path: Path) -> None:
    app = tmp_path / "app"
    habits = tmp_path / "habits.toml"
    habits.write_text("[labels]\nfire = { Fire = 0.3, Flame = 0.9 }\n")
    record = tmp_path / "recording.jsonl"

    results = assessed(written(app, TRIED), confusion_matrix=habits, record=record)
    again = assessed(app, replay=record)

    # Neither a mixed feeling nor none is what tells positive texts from negative ones.
    judged = {name: [result.is_failure for result in got.verdicts] for name, got in results.items()}
    assert judged == {
        "alarm": [True], "thanks": [True], "sorry": [False], "happy": [False], "sign": [False],
        "people": [False],
    }  # fmt: skip
    (alarm,), (thanks,) = results["alarm"].verdicts, results["thanks"].verdicts
    assert alarm.suggestion is not None
    assert '"fire" in names or "flame" in names' in alarm.suggestion.patch.replace("'", '"')
    assert thanks.suggestion is not None
    assert "checked Positive > 0." in thanks.suggestion.sentence
    assert results["sign"].verdicts[0].engine == "Tesseract"
    providers = {json.loads(line)["provider"] for line in record.read_text().splitlines()}
    assert providers == {"aws"}
    for name, result in again.items():
        assert [verdict.claim for verdict in result.verdicts] == [
            result.claim for result in results[name].verdicts
        ]


NO_IMAGE: dict[str, Any] = {"__type": "InvalidImageFormatException", "message": "no image"}


@pytest.fixture
def server() -> Iterator[str]:
    """Speaks as Rekognition does: of every third image it says that it is none."""
    asked: list[bytes] = []

    class Rekognition(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["content-length"])))
            assert self.headers["x-amz-target"] == "RekognitionService.DetectLabels"
            status, reply = 400, NO_IMAGE
            if len(asked) % 3:
                status, reply = 200, {"Labels": [{"Name": "Fire", "Confidence": 91.5}]}
            body = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-length", f"{len(body)}")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Rekognition) as http:
        thread = Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_real_service_is_called_by_the_client_of_the_application(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    app = tmp_path / "app"
    text = f"""
import boto3

rekognition = boto3.client("rekognition", region_name="eu-west-1", endpoint_url="{server}")

def alarm(image: bytes) -> bool:
    try:
        labels = rekognition.detect_labels(Image={{"Bytes": image}})["Labels"]
    except rekognition.exceptions.InvalidImageFormatException:
        return False
    return is_fire([one["Name"] for one in labels])

def is_fire(names):
    if "Fire" in names:
        return True
    return False
"""
    images = tmp_path / "images"
    for name in ("fire", "lake"):
        (images / name).mkdir(parents=True)
        for at in range(12):
            (images / name / f"{at}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + f"{name}{at}".encode())
    record = tmp_path / "recording.jsonl"

    first = assessed(written(app, text), is_real=True, images=images, record=record)
    again = assessed(app, images=images, replay=record)

    (verdict,) = first["alarm"].verdicts
    assert verdict.is_of_service
    assert verdict.measured is not None
    assert 0 < verdict.measured.correct < verdict.measured.expected
    assert [verdict.claim for verdict in again["alarm"].verdicts] == [verdict.claim]
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    codes = {line["error"]["code"] for line in lines if "error" in line}
    assert codes == {"InvalidImageFormatException"}
    assert {json.dumps(line["answer"]) for line in lines if "answer" in line} == {
        '{"Labels": [{"Name": "Fire", "Confidence": 91.5}]}'
    }


VOICE = """
import json
import time
import urllib.request
import boto3

storage = boto3.client("s3")
transcribe = boto3.client("transcribe")

def begun(path, **where):
    storage.upload_file(path, "sounds", "in.wav")
    transcribe.start_transcription_job(
        TranscriptionJobName="job", LanguageCode="en-US", MediaFormat="wav",
        Media={"MediaFileUri": "s3://sounds/in.wav"}, **where)
    while True:
        job = transcribe.get_transcription_job(TranscriptionJobName="job")["TranscriptionJob"]
        if job["TranscriptionJobStatus"] in ("COMPLETED", "FAILED"):
            return job
        time.sleep(5)

def command(path):
    job = begun(path)
    if job["TranscriptionJobStatus"] == "FAILED":
        return job["FailureReason"]
    with urllib.request.urlopen(job["Transcript"]["TranscriptFileUri"]) as file:
        said = json.load(file)["results"]["transcripts"][0]["transcript"]
    if said.lower() == "stop." or "halt" in said.lower():
        return "stop"
    return said.split()[0]

def kept(path):
    begun(path, OutputBucketName="texts")
    text = storage.get_object(Bucket="texts", Key="job.json")["Body"].read()
    return json.loads(text)["results"]["transcripts"][0]["transcript"]

def seen(path):
    boto3.resource("s3").Bucket("images").upload_file(path, "in.png")
    image = {"S3Object": {"Bucket": "images", "Name": "in.png"}}
    found = boto3.client("rekognition").detect_text(Image=image)["TextDetections"]
    if any(one["DetectedText"] == "Exit" for one in found):
        return True

def lost():
    try:
        storage.get_object(Bucket="texts", Key="nothing")
    except storage.exceptions.NoSuchKey:
        return transcribe.get_transcription_job(TranscriptionJobName="other")
"""


def test_transcripts_and_stored_objects_are_served_at_their_addresses(
    tmp_path: Path,
) -> None:
    results = explored(written(tmp_path, VOICE))

    assert {name: result.problem for name, result in results.items() if result.problem} == {}
    assert failures(results) == {"command": {"IndexError"}}
    assert never(results) == set()


@pytest.mark.slow
def test_speech_and_text_of_uploaded_files_are_judged(tmp_path: Path) -> None:
    done = assessed(written(tmp_path, VOICE), inputs=12)

    verdicts = {
        verdict.goal.text: verdict for result in done.values() for verdict in result.verdicts
    }
    # No input is synthesised for the state of a job, which no one speaks.
    assert verdicts.keys() == {
        "said.lower() == 'stop.'",
        "any((one['DetectedText'] == 'Exit' for one in found))",
    }
    assert {verdict.engine for verdict in verdicts.values()} == {"PocketSphinx", "Tesseract"}
    assert not any(verdict.is_failure for verdict in verdicts.values())
