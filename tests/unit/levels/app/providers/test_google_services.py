"""Emulated services of Google: valid requests are answered, others refused."""

from __future__ import annotations

import base64
import json
from http import HTTPStatus
from typing import Any

import grpc
import pytest
from google.api_core import exceptions
from google.cloud import language_v1, vision
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.emulation.emulator import Emulator
from ciguard.levels.app.in_target.asking import UnknownOperationError
from ciguard.levels.app.providers.codes import Code
from ciguard.levels.app.providers.google.in_target.messages import _FEATURES as ANSWERED_FEATURES
from ciguard.levels.app.providers.google.in_target.messages import (
    _TEXT_FEATURES,
    answer_request,
    report_answers,
)
from ciguard.levels.app.providers.google.messages import HARMFUL_TOPICS, listed_answer
from ciguard.levels.app.providers.google.routes import ROUTES, VERSIONS
from ciguard.levels.app.providers.google.service import _DOCUMENTS, _FEATURES
from ciguard.levels.app.providers.registered import PROVIDERS, empty_answer
from ciguard.levels.app.providers.request import Reply, ServiceRequest
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.simulated import SimulationEngine

IMAGE = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
DOCUMENT = {"type": "PLAIN_TEXT", "content": "Ada was in Rome."}
EMULATOR = Emulator(EngineChain((SimulationEngine(None, {}),)))
PATHS = [f"/{version}/{route.verb}" for route in ROUTES for version in VERSIONS[route.service]]
METHODS = [route.method(version) for route in ROUTES for version in VERSIONS[route.service]]


def reply_to(path: str, request: object) -> Reply:
    return EMULATOR.reply(ServiceRequest("POST", path, body=json.dumps(request).encode()))


def images(*requests: object) -> Reply:
    return reply_to("/v1/images:annotate", {"requests": list(requests)})


def labels(**feature: object) -> dict[str, object]:
    return {"image": {"content": IMAGE}, "features": [{"type": "LABEL_DETECTION", **feature}]}


def refusal_message(reply: Reply, code: Code = Code.INVALID_ARGUMENT) -> str:
    assert reply.code == code
    assert reply.status == code.http_status == reply.content["error"]["code"]
    assert reply.content["error"]["status"] == code
    return reply.message


@pytest.mark.parametrize("code", Code)
def test_codes_are_those_of_grpc_and_http(code: Code) -> None:
    assert grpc.StatusCode[code].value[0] == code.number
    known = exceptions.from_grpc_status(grpc.StatusCode[code], "")  # type: ignore[no-untyped-call]
    assert known.code in {None, code.http_status}


def described_features(name: str) -> dict[str, str]:
    (client,) = (c for c in PROVIDERS.get("google").description.clients if c.name == name)
    operations = [operation for operation in client.operations.values() if operation.feature]
    return {operation.feature: operation.name for operation in operations}


def test_described_features_are_those_that_requests_may_select() -> None:
    described = described_features("vision")

    assert described == ANSWERED_FEATURES
    assert described.keys() == set(_FEATURES).difference({"", "TYPE_UNSPECIFIED"})


def test_described_features_of_texts_are_those_of_the_client() -> None:
    fields = language_v1.AnnotateTextRequest.Features.pb().DESCRIPTOR.fields
    known = {field.name for field in fields if field.type == field.TYPE_BOOL}

    assert described_features("language") == _TEXT_FEATURES
    assert known - _TEXT_FEATURES.keys() == {"extract_syntax"}
    assert known >= _TEXT_FEATURES.keys()


def test_every_topic_is_moderated_with_its_confidence() -> None:
    (operation,) = PROVIDERS.get("google").description.operations("moderate_text")

    content = listed_answer(operation, [("Insult", 0.9), ("No topic", 0.8)])

    message = language_v1.ModerateTextResponse.pb()()
    json_format.ParseDict(content, message)
    confidences = {one.name: one.confidence for one in message.moderation_categories}
    assert list(confidences) == list(HARMFUL_TOPICS)
    assert {n for n, confidence in confidences.items() if confidence > 0.1} == {"Insult"}


@pytest.mark.parametrize(
    ("features", "fields"),
    [
        ({"extract_entities": True, "classify_text": False}, {"entities", "language"}),
        ({"moderate_text": True}, {"moderation_categories"}),
        (
            {"extract_entity_sentiment": True, "extract_entities": True},
            {"entities", "language"},
        ),
        ({"classification_model_options": {"v2_model": {}}}, set()),
        ({}, set()),
    ],
)
def test_annotated_text_has_the_selected_parts(
    features: dict[str, object], fields: set[str]
) -> None:
    method = "/google.cloud.language.v1.LanguageService/AnnotateText"
    asked: list[str] = []

    def get_answer(name: str, content: bytes) -> dict[str, Any]:
        assert content == DOCUMENT["content"].encode()
        asked.append(name)
        (operation,) = PROVIDERS.get("google").description.operations(name)
        return {"answer": empty_answer(operation)}

    answer = answer_request(method, {"document": DOCUMENT, "features": features}, get_answer)
    reported: list[str] = []
    report_answers(
        method,
        {"document": DOCUMENT, "features": features},
        {"answer": answer},
        lambda name, *_: reported.append(name),
    )

    assert answer.keys() == fields
    assert reported == asked


def test_syntax_of_texts_is_refused_by_its_name() -> None:
    method = "/google.cloud.language.v1.LanguageService/AnnotateText"

    with pytest.raises(UnknownOperationError, match="extract_syntax"):
        answer_request(method, {"features": {"extract_syntax": True}}, lambda *_: {})


def test_features_and_document_types_have_the_numbers_of_google() -> None:
    features = {name: number for number, name in enumerate(_FEATURES) if name}
    documents = {name: number for number, name in enumerate(_DOCUMENTS)}

    assert dict(vision.Feature.Type.__members__) == features
    assert dict(language_v1.Document.Type.__members__) == documents


@pytest.mark.parametrize("path", [*PATHS, *METHODS])
def test_every_path_of_every_version_answers_in_the_message_format(path: str) -> None:
    request: dict[str, object] = {
        "requests": [labels()],
        "document": {**DOCUMENT, "content": "Ada was in Rome. " * 9},
        "audio": {"content": base64.b64encode(b"RIFF").decode()},
    }

    reply = reply_to(f"{path}?key=secret", request)

    assert reply.code == "OK"
    assert reply.operations
    assert not any("_" in key for key in keys_of(reply.content))


def keys_of(content: Any) -> set[str]:
    if isinstance(content, dict):
        return {*content, *(key for response in content.values() for key in keys_of(response))}
    if isinstance(content, list):
        return {key for response in content for key in keys_of(response)}
    return set()


def test_rest_answer_is_a_valid_client_message() -> None:
    content = images(labels(maxResults=2), labels(max_results=1)).content

    message = vision.BatchAnnotateImagesResponse.pb()()
    json_format.ParseDict(content, message)

    assert [len(response.label_annotations) for response in message.responses] == [2, 1]
    assert all(response.label_annotations[0].topicality > 0 for response in message.responses)


def test_keys_in_either_spelling_and_members_by_number_are_read() -> None:
    plain = images(labels())
    document = {"document": {"type": 1, "content": "Fine."}}

    assert images(labels(type=int(vision.Feature.Type.LABEL_DETECTION))).content == plain.content
    assert reply_to("/v1/documents:analyzeSentiment", document).code == "OK"
    assert images(
        {"image": {"source": {"gcsImageUri": "gs://a/b"}}, "features": [{"type": 4}]}
    ).message.startswith("We can not access the URL")


def test_content_in_url_safe_base64_is_decoded() -> None:
    text = base64.b64encode(b"\x89PNG\r\n\x1a\n\xff\xfe\xfb\xef\xbe").decode()
    feature = [{"type": "LABEL_DETECTION"}]
    other = text.replace("+", "-").replace("/", "_").rstrip("=")

    assert text != other
    assert (
        images({"image": {"content": text}, "features": feature}).content
        == images({"image": {"content": other}, "features": feature}).content
    )


def test_bad_image_in_a_batch_has_an_error_of_its_own() -> None:
    bad = {**labels(), "image": {"content": base64.b64encode(b"none").decode()}}

    reply = images(labels(), bad, {**labels(), "image": {}})

    assert reply.code == "OK"
    good, worse, none = reply.content["responses"]
    assert good["labelAnnotations"]
    assert worse == {"error": {"code": 3, "message": "Bad image data."}}
    assert none["error"]["code"] == Code.INVALID_ARGUMENT.number
    assert reply.message.startswith("Bad image data. ")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ([], "Invalid value at 'the request': is not an object."),
        ({"requests": {}}, "Invalid value at 'requests': is not a list."),
        ({"requests": [1]}, "Invalid value at 'requests[0]': is not an object."),
        ({"requests": [{"image": 1}]}, "Invalid value at 'requests[0].image': is not an object."),
        (
            {"requests": [{"image": {"content": "%"}}]},
            "Invalid value at 'requests[0].image.content': Base64 decoding failed.",
        ),
        (
            {"requests": [{"image": {"content": "é"}}]},
            "Invalid value at 'requests[0].image.content': Base64 decoding failed.",
        ),
        (
            {"requests": [{"image": {"source": {"image_uri": 1}}}]},
            "Invalid value at 'requests[0].image.source.imageUri': is not a string.",
        ),
        (
            {"requests": [{"features": [{"type": "LABELS"}]}]},
            "Invalid value at 'requests[0].features[0].type': is not one of FACE_DETECTION, ",
        ),
        (
            {"requests": [{"features": [{"maxResults": -1}]}]},
            "Invalid value at 'requests[0].features[0].maxResults': is not a count.",
        ),
        ({"requests": [{}] * 17}, "17 images in a request are too many. The limit is 16."),
    ],
)
def test_invalid_request_reports_the_invalid_field(request_: object, message: str) -> None:
    assert refusal_message(reply_to("/v1/images:annotate", request_)).startswith(message)


def test_document_without_type_or_with_lone_surrogate_is_refused() -> None:
    path = "/v1/documents:analyzeSentiment"

    assert "not specified" in refusal_message(reply_to(path, {"document": {"content": "Fine."}}))
    half = {"document": {**DOCUMENT, "content": "\ud800"}}
    assert "is not a string" in refusal_message(reply_to(path, half))
    assert "must be set" in refusal_message(reply_to(path, {"document": {"type": "HTML"}}))


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"{", b"[" * 100_000, b'{"a": ' + b"9" * 9999 + b"}"]
)
def test_request_without_json_is_refused(body: bytes) -> None:
    assert "cannot be parsed" in refusal_message(
        EMULATOR.reply(ServiceRequest("POST", "/v1/images:annotate", body=body))
    )


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v1/images:annotat", "Not supported here. Supported are images:annotate, "),
        ("/v9/images:annotate", "This version is not supported. Supported are v1, v1p1beta1"),
        ("/google.cloud.vision.v1.ImageAnnotator/BatchAnnotateFiles", "Not supported here"),
        ("", "Not supported here"),
    ],
)
def test_unknown_path_is_refused(path: str, message: str) -> None:
    assert message in refusal_message(
        EMULATOR.reply(ServiceRequest("POST", path, body=b"{}")), Code.UNIMPLEMENTED
    )


def test_unknown_feature_is_refused() -> None:
    assert "LOGO_DETECTION" in refusal_message(
        images(labels(type="LOGO_DETECTION")), Code.UNIMPLEMENTED
    )


def test_project_in_the_path_is_ignored() -> None:
    request = {"requests": [labels()]}

    for parent in ("projects/mine", "projects/mine/locations/eu"):
        assert reply_to(f"/v1/{parent}/images:annotate", request).code == "OK"


def test_operation_without_engine_is_refused_with_a_reason() -> None:
    body = json.dumps({"document": DOCUMENT}).encode()
    request = ServiceRequest("POST", "/v1/documents:analyzeSentiment", body=body)

    reply = Emulator(EngineChain(())).reply(request)

    assert "no engine answers this operation" in refusal_message(reply, Code.UNIMPLEMENTED)


def test_long_running_recognition_is_finished_at_once() -> None:
    sound = {"audio": {"content": base64.b64encode(b"RIFF").decode()}}

    content = reply_to("/v1p1beta1/speech:longrunningrecognize", sound).content

    assert content["done"] is True
    kind = "google.cloud.speech.v1p1beta1.LongRunningRecognizeResponse"
    assert content["response"]["@type"] == f"type.googleapis.com/{kind}"


NAMES = st.sampled_from(
    ["requests", "image", "content", "source", "imageUri", "image_uri", "features", "type",
     "maxResults", "document", "audio", "uri", "gcsContentUri", "x", ""]
)  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([IMAGE, "LABEL_DETECTION", "PLAIN_TEXT", "\ud800"])
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)
)


@given(st.sampled_from([*PATHS, *METHODS]) | st.text(), JSON | st.binary())
def test_any_request_is_answered_or_refused(path: str, request: Any) -> None:
    body = request if isinstance(request, bytes) else json.dumps(request).encode()

    reply = EMULATOR.reply(ServiceRequest("POST", path, body=body))

    assert json.loads(json.dumps(reply.content)) == reply.content
    assert reply.status == HTTPStatus.OK or Code(reply.code)
    assert reply.code != Code.INTERNAL
