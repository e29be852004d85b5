"""Flask views and cloud functions, called with the parts of requests that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from running_applications import assessed, explored, failures, never, written

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION = """
import base64
from flask import Flask, jsonify, redirect, request
from google.cloud import language_v1, vision

app = Flask(__name__)
app.config["KINDS"] = {"png", "jpg"}

@app.route("/", methods=["GET", "POST"])
def index():
    if request.method == "POST":
        if "photo" not in request.files:
            return redirect("/")
        photo = request.files["photo"]
        if photo.filename.rsplit(".")[1] not in app.config["KINDS"]:
            return redirect(request.url)
        image = vision.Image(content=photo.read())
        found = vision.ImageAnnotatorClient().label_detection(image=image).label_annotations
        if found[0].description == "Dog":
            return jsonify(dog=request.form.get("owner"))

@app.route("/mood/<name>", methods=["POST"])
async def mood(name):
    said = request.get_json() or {}
    document = language_v1.Document(
        content=said["text"], type_=language_v1.Document.Type.PLAIN_TEXT, language=said.get("lang"))
    client = language_v1.LanguageServiceClient()
    felt = client.analyze_sentiment(request={"document": document}).document_sentiment
    return name if felt.score > 0.3 else ""

@app.route("/said/<text>")
def said(text):
    document = language_v1.Document(content=text, type_=language_v1.Document.Type.PLAIN_TEXT)
    client = language_v1.LanguageServiceClient()
    felt = client.analyze_sentiment(request={"document": document}).document_sentiment
    if felt.score < 0:
        return jsonify(felt="bad")
    return jsonify(felt="good")

def stops(request, context=None):
    content = base64.b64decode(request.get_json(silent=True)["image"].split(",")[1])
    image = vision.Image(content=content)
    found = vision.ImageAnnotatorClient().text_detection(image=image).text_annotations
    if found and found[0].description.strip() == "STOP":
        return "stop"

def raw():
    image = vision.Image(content=request.data)
    if vision.ImageAnnotatorClient().face_detection(image=image).face_annotations:
        return "somebody"
"""


EVENTS = """
import base64
import json
import os
import boto3

eyes = boto3.client("rekognition", region_name="us-east-1")
reader = boto3.client("comprehend", region_name="us-east-1")

def stored(event, context):
    place = event["Records"][0]["s3"]
    image = {"S3Object": {"Bucket": place["bucket"]["name"], "Name": place["object"]["key"]}}
    for label in eyes.detect_labels(Image=image, MaxLabels=event.get("maxLabels", 5))["Labels"]:
        if label["Name"] == "Dog":
            return {"statusCode": 200}

def posted(event: dict, context):
    if "Records" in event:
        raise ValueError("of the web only")
    content = base64.b64decode(json.loads(event["body"])["image"])
    if any(one["Name"] == "Dog" for one in eyes.detect_labels(Image={"Bytes": content})["Labels"]):
        return {"statusCode": 200}

def is_bad(text):
    return reader.detect_sentiment(Text=text, LanguageCode="en")["Sentiment"] == "NEGATIVE"

def queued(event, context):
    for record in event["Records"]:
        if is_bad(record["body"]):
            return "sad"

def kept(event, context):
    table = boto3.resource("dynamodb", region_name="us-east-1").Table(os.environ["TABLE_OF_NOBODY"])
    if is_bad(event["review"]):
        table.put_item(Item={"id": context.aws_request_id, "text": event["review"]})
        boto3.client("sns", region_name="us-east-1").publish(Message="sad", TopicArn="arn")
        return context.get_remaining_time_in_millis() > 0

def asked(event, _):
    if is_bad((event.get("queryStringParameters") or {}).get("text")):
        return event["httpMethod"]

def direct(event, _):
    if is_bad(event["review"]):
        return "sad"

def placed(bucket, photo):
    found = eyes.detect_labels(Image={"S3Object": {"Bucket": bucket, "Name": photo}})["Labels"]
    if "Cat" in [one["Name"] for one in found]:
        return "cat"

def copied(bucket_name, file_name):
    storage = boto3.client("s3")
    source = {"Bucket": bucket_name, "Key": file_name}
    storage.copy_object(Bucket="other", Key="seen/x", CopySource=source)
    (one,) = storage.list_objects_v2(Bucket="other", Prefix="seen/")["Contents"]
    content = storage.get_object(Bucket="other", Key=one["Key"])["Body"].read()
    if len(content) == one["Size"]:
        found = eyes.detect_labels(Image={"Bytes": content})["Labels"]
        if "Cat" in [one["Name"] for one in found]:
            return "cat"
"""


GUESSED = """
import sys
import boto3
from flask import Blueprint, current_app, request

part = Blueprint("part", __name__)
reader = boto3.client("comprehend", region_name="us-east-1")

def is_bad(text):
    return reader.detect_sentiment(Text=text, LanguageCode="en")["Sentiment"] == "NEGATIVE"

class Desk:
    def __init__(self, drawers, job_name):
        self.drawers, self.name = drawers, job_name

    def put(self, text):
        if is_bad(text):
            return self.drawers["bad"], self.name.first

@part.route("/")
def view():
    if is_bad(request.form["text"]):
        return current_app.config["BAD"], int(request.args["number"])

def who(event, context):
    if is_bad(event["text"]):
        return event["userIdentity"], event["user"]["id"]

def written(text):
    if is_bad(text):
        return sys.argv[2]
"""


@pytest.fixture
def application(tmp_path: Path) -> Path:
    return written(tmp_path / "app", APPLICATION)


def test_web_request_has_the_fields_that_the_function_reads(application: Path) -> None:
    results = explored(application)

    assert {name: result.problem for name, result in results.items() if result.problem} == {}
    assert never(results) == set()
    assert failures(results) == {"index": {"IndexError"}}


def test_event_has_the_fields_that_the_function_reads(tmp_path: Path) -> None:
    folder = written(tmp_path / "app", EVENTS)

    results = explored(folder)
    tried = assessed(folder, inputs=24)

    assert {name: result.problem for name, result in results.items() if result.problem} == {}
    assert never(results) == set()
    assert failures(results) == {}
    assert [name for name, result in tried.items() if not result.verdicts] == []


def test_exception_caused_by_a_guessed_argument_is_not_judged(tmp_path: Path) -> None:
    results = explored(written(tmp_path / "app", GUESSED))

    assert {name: result.problem for name, result in results.items() if result.problem} == {}
    assert failures(results) == {}
    assert {
        name: len(result.unjudged_crashes) for name, result in results.items() if name != "is_bad"
    } == {
        "Desk.put": 1,
        "view": 1,
        "who": 1,
        "written": 1,
    }


def test_synthesised_inputs_arrive_in_requests(application: Path) -> None:
    results = assessed(application, inputs=24)

    measured = {
        name: (verdict.measured.correct, verdict.measured.expected)
        for name, result in results.items()
        for verdict in result.verdicts
        if verdict.measured is not None
    }
    assert measured.keys() >= {"index", "stops"}
    assert all(right > expected / 2 for right, expected in measured.values())
