"""Typical applications: handlers, environment variables, polling and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from running_applications import assessed, explored, failures, never, written

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION = """
import os
import time

import boto3
from azure.ai.textanalytics import TextAnalyticsClient
from azure.core.credentials import AzureKeyCredential

def critic():
    key = AzureKeyCredential(os.getenv("LANGUAGE_KEY"))
    return TextAnalyticsClient(os.environ["LANGUAGE_ENDPOINT"], key)

def heard(audio_path: str, job_name=None):
    job_name = job_name or "job"
    transcribe = boto3.client("transcribe", region_name="us-east-1")
    transcribe.start_transcription_job(
        TranscriptionJobName=job_name, Media={"MediaFileUri": "s3://b/k.wav"}, LanguageCode="en-US")
    job = transcribe.get_transcription_job(TranscriptionJobName=job_name)["TranscriptionJob"]
    if job["TranscriptionJobStatus"] == "COMPLETED":
        return "done"

def patient(text):
    reader, waited = boto3.client("comprehend", region_name="us-east-1"), 0
    while waited < 600:
        if reader.detect_sentiment(Text=text, LanguageCode="en")["Sentiment"] == "POSITIVE":
            return waited
        time.sleep(30)
        waited += 30

def places(text):
    reader = boto3.client("comprehend", region_name="us-east-1")
    found = reader.detect_entities(Text=text, LanguageCode="en")["Entities"]
    return [one["Text"] for one in found if one["Type"] in ("LOCATION", "PERSON")]

def liked(documents):
    return [d for d in critic().analyze_sentiment(documents) if d.sentiment == "positive"]

def handler(event, context):
    eyes = boto3.client("rekognition", region_name="us-east-1")
    for record in event["Records"]:
        bucket, key = record["s3"]["bucket"]["name"], record["s3"]["object"]["key"]
        image = {"S3Object": {"Bucket": bucket, "Name": key}}
        if any(one["Name"] == "Dog" for one in eyes.detect_labels(Image=image)["Labels"]):
            return {"statusCode": 200}
    return {"statusCode": 404}

def closed(text):
    if os.environ.get("IS_OPEN") != "yes":
        return None
    if critic().analyze_sentiment([text])[0].sentiment == "positive":
        return "open"

async def posted(upload: "UploadFile"):
    content = await upload.read()
    await upload.seek(0)
    found = boto3.client("rekognition").detect_labels(Image={"Bytes": content})["Labels"]
    if upload.filename.endswith(".png") and found:
        return upload.file.read() == content

def sent(photos: "list[UploadedFile]", max_labels, imageTag):
    for photo in photos:
        image = {"Bytes": b"".join(photo.chunks())}
        eyes = boto3.client("rekognition", region_name="us-east-1")
        found = eyes.detect_labels(Image=image, MaxLabels=max_labels)["Labels"]
        if any(one["Name"] == "Dog" for one in found):
            return imageTag

def twice(text):
    mood = critic().analyze_sentiment([text])[0].sentiment
    phrases = critic().extract_key_phrases([text])[0]
    if mood == "positive" and "rain" in phrases.key_phrases:
        return 1
"""


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LANGUAGE_KEY", "LANGUAGE_ENDPOINT", "IS_OPEN"):
        monkeypatch.delenv(name, raising=False)
    return written(tmp_path / "app", APPLICATION)


def test_functions_are_called_with_the_arguments_that_they_need(application: Path) -> None:
    results = explored(application)

    problems = {name: result.problem for name, result in results.items() if result.problem}
    assert problems.keys() == {"closed"}
    assert problems["closed"].startswith("never calls a service")
    open_outcomes = {(name, value) for name, _, value in never(results) if name != "closed"}
    assert open_outcomes <= {("heard", False)}
    # Each service refuses the same text as too long; the crash is reported once.
    assert [len(results[name].crashes) for name in ("liked", "twice")] == [1, 1]
    assert failures(results).keys() == {"liked", "twice"}
    assert not any(result.hangs for result in results.values())


def test_aims_distinguish_types_of_entities_from_their_names(application: Path) -> None:
    results = assessed(application, inputs=24)

    (verdict,) = results["places"].verdicts
    assert verdict.measured is not None
    assert verdict.measured.expected > 9
    assert verdict.measured.correct >= 0.9 * verdict.measured.expected


PROGRAM = """
import sys
import boto3

with open(sys.argv[1], "rb") as file:
    found = boto3.client("rekognition").detect_labels(Image={"Bytes": file.read()})["Labels"]
if __name__ == "__main__" and found[0]["Name"] == "Dog":
    print("a dog")
else:
    sys.exit(3)
"""
STARTING = """
import sys
import boto3

def main(path):
    with open(path, "rb") as file:
        return boto3.client("rekognition").detect_labels(Image={"Bytes": file.read()})["Labels"]

if __name__ == "__main__":
    if main(sys.argv[1]):
        print("something")
"""


def test_file_is_run_as_a_program(tmp_path: Path) -> None:
    folder = written(tmp_path / "app", PROGRAM)

    (explored_one,) = explored(folder).values()
    (tried,) = assessed(folder, inputs=12).values()

    assert explored_one.problem == ""
    assert never({"app": explored_one}) == set()
    assert failures({"app": explored_one}) == {"app": {"IndexError"}}
    (verdict,) = tried.verdicts
    assert verdict.measured is not None
    assert verdict.measured.expected == 6


def test_top_level_code_that_only_calls_functions_is_not_explored(tmp_path: Path) -> None:
    results = explored(written(tmp_path / "app", STARTING))

    assert results["main"].problem == ""
    assert results["<module>"].problem.startswith("its top-level code only calls")
