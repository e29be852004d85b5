"""Requests to a service in the place of Google's, whatever brings them: answered or refused."""

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
from ciguard.levels.app.providers.codes import Code
from ciguard.levels.app.providers.google.routes import ROUTES, VERSIONS
from ciguard.levels.app.providers.google.service import _DOCUMENTS, _FEATURES
from ciguard.levels.app.providers.request import Reply, ServiceRequest
from ciguard.levels.app.virtualization.chosen import Chosen
from ciguard.levels.app.virtualization.simulated import Simulated

IMAGE = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
DOCUMENT = {"type": "PLAIN_TEXT", "content": "Ada was in Rome."}
EMULATOR = Emulator(Chosen((Simulated(None, {}),)))
PATHS = [f"/{version}/{route.verb}" for route in ROUTES for version in VERSIONS[route.service]]
METHODS = [route.method(version) for route in ROUTES for version in VERSIONS[route.service]]


def asked(path: str, request: object) -> Reply:
    return EMULATOR.reply(ServiceRequest("POST", path, body=json.dumps(request).encode()))


def images(*requests: object) -> Reply:
    return asked("/v1/images:annotate", {"requests": list(requests)})


def labels(**feature: object) -> dict[str, object]:
    return {"image": {"content": IMAGE}, "features": [{"type": "LABEL_DETECTION", **feature}]}


def refused(reply: Reply, code: Code = Code.INVALID_ARGUMENT) -> str:
    assert reply.code == code
    assert reply.status == code.http_status == reply.content["error"]["code"]
    assert reply.content["error"]["status"] == code
    return reply.message


@pytest.mark.parametrize("code", Code)
def test_codes_are_those_of_grpc_and_http(code: Code) -> None:
    assert grpc.StatusCode[code].value[0] == code.number
    known = exceptions.from_grpc_status(grpc.StatusCode[code], "")  # type: ignore[no-untyped-call]
    assert known.code in {None, code.http_status}


def test_features_and_documents_have_googles_numbers() -> None:
    features = {name: number for number, name in enumerate(_FEATURES) if name}
    documents = {name: number for number, name in enumerate(_DOCUMENTS)}

    assert dict(vision.Feature.Type.__members__) == features
    assert dict(language_v1.Document.Type.__members__) == documents


@pytest.mark.parametrize("path", [*PATHS, *METHODS])
def test_every_path_of_every_version_answers_as_the_messages_have_it(path: str) -> None:
    request: dict[str, object] = {
        "requests": [labels()],
        "document": {**DOCUMENT, "content": "Ada was in Rome. " * 9},
        "audio": {"content": base64.b64encode(b"RIFF").decode()},
    }

    reply = asked(f"{path}?key=secret", request)

    assert reply.code == "OK"
    assert reply.asked
    assert not any("_" in key for key in keys_of(reply.content))


def keys_of(content: Any) -> set[str]:
    if isinstance(content, dict):
        return {*content, *(key for one in content.values() for key in keys_of(one))}
    if isinstance(content, list):
        return {key for one in content for key in keys_of(one)}
    return set()


def test_an_answer_of_rest_is_a_message_of_the_client() -> None:
    content = images(labels(maxResults=2), labels(max_results=1)).content

    message = vision.BatchAnnotateImagesResponse.pb()()
    json_format.ParseDict(content, message)

    assert [len(one.label_annotations) for one in message.responses] == [2, 1]
    assert all(one.label_annotations[0].topicality > 0 for one in message.responses)


def test_keys_in_either_spelling_and_members_by_number_are_read() -> None:
    plain = images(labels())
    document = {"document": {"type": 1, "content": "Fine."}}

    assert images(labels(type=int(vision.Feature.Type.LABEL_DETECTION))).content == plain.content
    assert asked("/v1/documents:analyzeSentiment", document).code == "OK"
    assert images(
        {"image": {"source": {"gcsImageUri": "gs://a/b"}}, "features": [{"type": 4}]}
    ).message.startswith("We can not access the URL")


def test_content_in_the_alphabet_of_addresses_is_the_same_content() -> None:
    text = base64.b64encode(b"\x89PNG\r\n\x1a\n\xff\xfe\xfb\xef\xbe").decode()
    feature = [{"type": "LABEL_DETECTION"}]
    other = text.replace("+", "-").replace("/", "_").rstrip("=")

    assert text != other
    assert (
        images({"image": {"content": text}, "features": feature}).content
        == images({"image": {"content": other}, "features": feature}).content
    )


def test_a_bad_image_among_others_is_told_with_its_answer() -> None:
    bad = {**labels(), "image": {"content": base64.b64encode(b"none").decode()}}

    reply = images(labels(), bad, {**labels(), "image": {}})

    assert reply.code == "OK"
    good, worse, none = reply.content["responses"]
    assert good["labelAnnotations"]
    assert worse == {"error": {"code": 3, "message": "Bad image data."}}
    assert none["error"]["code"] == Code.INVALID_ARGUMENT.number
    assert reply.message.startswith("Bad image data. ")


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ([], "Invalid value at 'the request': is no object."),
        ({"requests": {}}, "Invalid value at 'requests': is no list."),
        ({"requests": [1]}, "Invalid value at 'requests[0]': is no object."),
        ({"requests": [{"image": 1}]}, "Invalid value at 'requests[0].image': is no object."),
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
            "Invalid value at 'requests[0].image.source.imageUri': is no text.",
        ),
        (
            {"requests": [{"features": [{"type": "LABELS"}]}]},
            "Invalid value at 'requests[0].features[0].type': is none of FACE_DETECTION, ",
        ),
        (
            {"requests": [{"features": [{"maxResults": -1}]}]},
            "Invalid value at 'requests[0].features[0].maxResults': is no count.",
        ),
        ({"requests": [{}] * 17}, "Too many images per request: 17, 16 at most."),
    ],
)
def test_what_is_wrong_with_a_request_is_said_with_its_place(request_: object, said: str) -> None:
    assert refused(asked("/v1/images:annotate", request_)).startswith(said)


def test_a_document_needs_a_type_and_a_whole_text() -> None:
    path = "/v1/documents:analyzeSentiment"

    assert "not specified" in refused(asked(path, {"document": {"content": "Fine."}}))
    half = {"document": {**DOCUMENT, "content": "\ud800"}}
    assert "is no text" in refused(asked(path, half))
    assert "must be set" in refused(asked(path, {"document": {"type": "HTML"}}))


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"{", b"[" * 100_000, b'{"a": ' + b"9" * 9999 + b"}"]
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    assert "cannot be parsed" in refused(
        EMULATOR.reply(ServiceRequest("POST", "/v1/images:annotate", body=body))
    )


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/v1/images:annotat", "Not answered here. Known are images:annotate, "),
        ("/v9/images:annotate", "in this version. Known are v1, v1p1beta1"),
        ("/google.cloud.vision.v1.ImageAnnotator/BatchAnnotateFiles", "Not answered here"),
        ("", "Not answered here"),
    ],
)
def test_other_paths_are_not_answered(path: str, said: str) -> None:
    assert said in refused(
        EMULATOR.reply(ServiceRequest("POST", path, body=b"{}")), Code.UNIMPLEMENTED
    )


def test_other_features_are_not_answered() -> None:
    assert "LOGO_DETECTION" in refused(images(labels(type="LOGO_DETECTION")), Code.UNIMPLEMENTED)


def test_a_project_in_the_path_is_let_be() -> None:
    request = {"requests": [labels()]}

    for parent in ("projects/mine", "projects/mine/locations/eu"):
        assert asked(f"/v1/{parent}/images:annotate", request).code == "OK"


def test_what_no_engine_answers_is_said() -> None:
    body = json.dumps({"document": DOCUMENT}).encode()
    request = ServiceRequest("POST", "/v1/documents:analyzeSentiment", body=body)

    reply = Emulator(Chosen(())).reply(request)

    assert "no engine answers that" in refused(reply, Code.UNIMPLEMENTED)


def test_a_recognition_that_runs_long_is_finished_at_once() -> None:
    sound = {"audio": {"content": base64.b64encode(b"RIFF").decode()}}

    content = asked("/v1p1beta1/speech:longrunningrecognize", sound).content

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
