"""Emulated services of AWS: valid requests are answered, others refused as AWS does."""

from __future__ import annotations

import base64
import json
from typing import Any

import botocore.session
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.emulation.emulator import Emulator
from ciguard.levels.app.providers.aws.in_target.messages import (
    IMAGE_OPERATIONS,
    TEXT_OPERATIONS,
    method_of,
)
from ciguard.levels.app.providers.codes import Code
from ciguard.levels.app.providers.request import Reply, ServiceRequest
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.faults import Fault
from ciguard.levels.app.virtualization.faulty import with_faults
from ciguard.levels.app.virtualization.simulated import SimulationEngine
from ciguard.levels.app.virtualization.stop_words import StopWordEngine

IMAGE = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
SIMULATED = EngineChain((SimulationEngine(None, {}),))
ENGINES = (*SIMULATED.engines, StopWordEngine())
EMULATOR = Emulator(EngineChain(ENGINES))
SERVICES = {"rekognition": "RekognitionService", "comprehend": "Comprehend_20171127"}
TARGETS = [
    *(f"RekognitionService.{name}" for name in IMAGE_OPERATIONS),
    *(f"Comprehend_20171127.{name}" for name in TEXT_OPERATIONS),
]
TEXT = {"Text": "Ada was in Rome.", "LanguageCode": "en"}


def reply_to(target: str, request: object, emulator: Emulator = EMULATOR) -> Reply:
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    return emulator.reply(ServiceRequest("POST", "/", {"x-amz-target": target}, body))


def labels(**request: object) -> Reply:
    return reply_to("RekognitionService.DetectLabels", {"Image": {"Bytes": IMAGE}, **request})


def of_text(name: str, **request: object) -> Reply:
    return reply_to(f"Comprehend_20171127.{name}", {**TEXT, **request})


def is_refused(reply: Reply, code: str, message: str = "", status: int = 400) -> bool:
    assert reply.content == {"__type": code, "message": reply.message}
    assert reply.headers["x-amzn-ErrorType"] == reply.code == code
    assert reply.headers["Content-Type"] == "application/x-amz-json-1.1"
    assert reply.headers["x-amzn-RequestId"]
    return reply.status == status and message in reply.message


@pytest.mark.parametrize("service", SERVICES)
def test_operations_and_their_lists_are_those_of_boto3(service: str) -> None:
    model = botocore.session.get_session().get_service_model(service)
    assert model.metadata["targetPrefix"] == SERVICES[service]
    known = IMAGE_OPERATIONS if service == "rekognition" else TEXT_OPERATIONS
    for name, lists in known.items():
        members = model.operation_model(name).output_shape.members.items()

        assert set(lists) == {member for member, shape in members if shape.type_name == "list"}
        assert method_of(name) == botocore.xform_name(name)


def test_request_about_image_or_text_is_answered() -> None:
    limited = labels(MaxLabels=2, MinConfidence=0)
    sentiment = of_text("DetectSentiment")

    assert (limited.status, limited.code, limited.operations) == (200, "OK", ("detect_labels",))
    assert len(limited.content["Labels"]) == 2
    assert sentiment.content["Sentiment"] in {"POSITIVE", "NEGATIVE", "NEUTRAL", "MIXED"}
    assert of_text("DetectDominantLanguage").content["Languages"][0]["LanguageCode"] == "en"
    assert of_text("DetectKeyPhrases").content["KeyPhrases"][1] == {
        "Text": "Rome", "Score": 0.95, "BeginOffset": 11, "EndOffset": 15,
    }  # fmt: skip


def test_batch_answers_each_text_at_its_index() -> None:
    target = "Comprehend_20171127.BatchDetectSentiment"
    request = {"TextList": ["Fine.", "", "b" * 5001], "LanguageCode": "en"}

    reply = reply_to(target, request)

    assert [item["Index"] for item in reply.content["ResultList"]] == [0]
    assert [(item["Index"], item["ErrorCode"]) for item in reply.content["ErrorList"]] == [
        (1, "InvalidRequestException"),
        (2, "TextSizeLimitExceededException"),
    ]
    assert "Input text size exceeds limit" in reply.message
    assert is_refused(
        reply_to(target, {**request, "TextList": ["a"] * 26}), "BatchSizeLimitExceededException"
    )


def test_image_invalid_too_large_or_in_s3_is_refused() -> None:
    none = base64.b64encode(b"none").decode()
    large = base64.b64encode(bytes(5 * 2**20 + 1)).decode()
    place = {"S3Object": {"Bucket": "mine", "Name": "a.png"}}

    assert is_refused(labels(Image={"Bytes": none}), "InvalidImageFormatException")
    assert is_refused(labels(Image={"Bytes": large}), "ValidationException", "5242880")
    assert is_refused(labels(Image=place), "InvalidS3ObjectException")
    assert is_refused(of_text("DetectSentiment", Text=""), "InvalidRequestException")
    assert is_refused(of_text("DetectSentiment", Text="b" * 5001), "TextSizeLimitExceededException")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ([], "'the request': is not an object"),
        ({"Image": []}, "'Image': is not an object"),
        ({"Image": {"Bytes": "%"}}, "'Image.Bytes': Base64 decoding failed"),
        ({"Image": {"Bytes": 1}}, "'Image.Bytes': is not a string"),
        ({"Image": {"S3Object": {"Bucket": {}}}}, "'Image.S3Object.bucket': is not a string"),
        ({"MinConfidence": "1"}, "'MinConfidence': is not a number"),
        ({"MinConfidence": float("nan")}, "'MinConfidence': is not a number"),
        ({"MinConfidence": 101}, "'MinConfidence': has to be from 0 to 100"),
        ({"MaxLabels": -1}, "'MaxLabels': is not a count"),
        ({"Attributes": [1]}, "'Attributes.0': is not a string"),
        ({"Attributes": {}}, "'Attributes': is not a list"),
    ],
)
def test_invalid_request_reports_the_invalid_field(request_: object, message: str) -> None:
    reply = reply_to("RekognitionService.DetectLabels", request_)

    assert is_refused(reply, "SerializationException", message.replace(".bucket", ".Bucket"))


@pytest.mark.parametrize("body", [b"", b"\xff", b"{", b"[" * 100_000, b'"\xed\xa0\x80"'])
def test_request_without_json_is_refused(body: bytes) -> None:
    assert is_refused(reply_to(TARGETS[0], body), "SerializationException")


@pytest.mark.parametrize(
    "target",
    ["", "x", "RekognitionService.", "RekognitionService.CompareFaces", "S3.GetObject",
     "RekognitionService.DetectSentiment", "RekognitionService.DetectLabels\n", "é.DetectLabels"],
)  # fmt: skip
def test_unknown_operation_is_refused(target: str) -> None:
    assert is_refused(reply_to(target, TEXT), "UnknownOperationException", "Not supported here.")


def test_operation_without_engine_and_other_method_are_refused() -> None:
    unfit = reply_to("RekognitionService.DetectModerationLabels", {"Image": {"Bytes": IMAGE}})
    request = ServiceRequest("GET", "/", {"x-amz-target": TARGETS[0]})

    assert is_refused(unfit, "UnknownOperationException", "ciguard does not support ")
    assert is_refused(EMULATOR.reply(request), "UnknownOperationException")


@pytest.mark.parametrize("code", Code)
@pytest.mark.parametrize("service", SERVICES)
def test_fault_has_a_code_of_aws(code: Code, service: str) -> None:
    faults = [Fault(error=code, message="No.")]
    emulator = Emulator(EngineChain(with_faults(ENGINES, faults, 0)))
    target = "DetectLabels" if service == "rekognition" else "DetectSentiment"

    reply = reply_to(f"{SERVICES[service]}.{target}", {**TEXT, "Image": {"Bytes": IMAGE}}, emulator)

    assert is_refused(reply, reply.code, "No.", reply.status)
    assert reply.code.endswith(("Exception", "Error"))
    assert (reply.status == 500) == reply.code.startswith("InternalServer")


def test_throttled_text_fails_the_whole_batch() -> None:
    faults = [Fault(error=Code.RESOURCE_EXHAUSTED)]
    emulator = Emulator(EngineChain(with_faults(SIMULATED.engines, faults, 0)))
    request = {"TextList": ["Fine."], "LanguageCode": "en"}

    reply = reply_to("Comprehend_20171127.BatchDetectSentiment", request, emulator)

    assert is_refused(reply, "ThrottlingException", "Quota exceeded.")


NAMES = st.sampled_from(
    ["Image", "Bytes", "S3Object", "Bucket", "Name", "Text", "TextList", "LanguageCode",
     "MinConfidence", "MaxLabels", "Attributes", "image", ""]
)  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([IMAGE, "en", "ALL", "\ud800"])
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5)
)


@given(st.sampled_from(TARGETS) | st.text(), JSON | st.binary())
def test_any_request_is_answered_or_refused(target: str, request: Any) -> None:
    reply = reply_to(target, request)

    assert json.loads(json.dumps(reply.content)) == reply.content
    assert reply.status == 200 or is_refused(reply, reply.code)
