"""Emulated services of Azure: valid requests are answered, others refused as Azure does."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.emulation.emulator import Emulator
from ciguard.levels.app.providers.azure.in_target.messages import ReadOperations
from ciguard.levels.app.providers.codes import Code
from ciguard.levels.app.providers.request import Reply, ServiceRequest
from ciguard.levels.app.virtualization.composed import ImageAnalysisEngine
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.faults import Fault
from ciguard.levels.app.virtualization.faulty import with_faults
from ciguard.levels.app.virtualization.simulated import SimulationEngine
from ciguard.levels.app.virtualization.stop_words import StopWordEngine

IMAGE = b"\x89PNG\r\n\x1a\n"
SIMULATED = EngineChain((SimulationEngine(None, {}),))
ENGINES = (*SIMULATED.engines, ImageAnalysisEngine(SIMULATED), StopWordEngine())
EMULATOR = Emulator(EngineChain(ENGINES))
JSON_TYPE = "application/json; charset=utf-8"
STREAM = "application/octet-stream"
TEXTS = "/language/:analyze-text?api-version=2023-04-01"
SENTIMENT = "/text/analytics/v3.1/sentiment"
TAG = "/vision/v3.2/tag?language=en"
ANALYZE = "/computervision/imageanalysis:analyze?api-version=2023-10-01"
READ = "/vision/v3.2/read/analyze"
FACES = "/face/v1.0/detect?returnFaceId=false&returnFaceAttributes=age,smile"
PATHS = [
    TEXTS, SENTIMENT, "/text/analytics/v3.0/entities/recognition/general",
    "/text/analytics/v3.2-preview.1/keyPhrases", "/text/analytics/v3.1/languages", TAG, ANALYZE,
    READ, "/vision/v3.1/analyze?visualFeatures=Tags", "/vision/v3.2/describe", "/vision/v3.2/ocr",
    "/vision/v3.2/detect", "/vision/v3.2/read/analyzeResults/1", "/language/analyze-text/jobs",
    "/vision/", "/text/analytics/", FACES, "/face/v1.2/detect?returnFaceLandmarks=true",
    "/face/v1.2-preview.1/verify",
]  # fmt: skip


def reply_to(path: str, request: object, kind: str = "", emulator: Emulator = EMULATOR) -> Reply:
    is_stream = isinstance(request, bytes)
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    headers = {"content-type": kind or (STREAM if is_stream else JSON_TYPE)}
    return emulator.reply(ServiceRequest("POST", path, headers, body, "http://localhost:1"))


def reply_to_get(path: str) -> Reply:
    return EMULATOR.reply(ServiceRequest("GET", path, origin="http://localhost:1"))


def documents(*texts: object) -> dict[str, object]:
    return {"documents": [{"id": str(index), "text": item} for index, item in enumerate(texts)]}


def analysed(*texts: object, kind: object = "SentimentAnalysis") -> Reply:
    return reply_to(TEXTS, {"kind": kind, "analysisInput": documents(*texts)})


def is_refused(reply: Reply, status: int, message: str = "") -> bool:
    error = reply.content["error"]
    assert error["code"] == reply.code
    assert error["message"] == reply.message
    assert reply.headers["Content-Type"].startswith("application/json")
    return reply.status == status and message in reply.message


def test_both_versions_of_the_service_give_equal_answers() -> None:
    new, old = analysed("I love this."), reply_to(SENTIMENT, documents("I love this."))

    assert (new.status, new.operations) == (200, ("analyze_sentiment",))
    assert new.content["kind"] == "SentimentAnalysisResults"
    assert new.content["results"] == old.content
    assert old.content["documents"][0]["confidenceScores"].keys() >= {"positive", "negative"}


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("SentimentAnalysis", "sentences"),
        ("EntityRecognition", "entities"),
        ("KeyPhraseExtraction", "keyPhrases"),
        ("LanguageDetection", "detectedLanguage"),
    ],
)
def test_every_kind_of_text_request_is_answered(kind: str, field: str) -> None:
    reply = analysed("Ada was in Rome with the orchestra.", kind=kind)

    (document,) = reply.content["results"]["documents"]
    assert document[field]
    assert reply.content["kind"] == f"{kind}Results"


def test_document_empty_or_too_long_has_an_error_of_its_own() -> None:
    reply = analysed("Fine.", " ", "a" * 5121)

    results = reply.content["results"]
    assert [item["id"] for item in results["documents"]] == ["0"]
    assert [item["id"] for item in results["errors"]] == ["1", "2"]
    assert reply.code == "OK"
    assert reply.message.startswith("Document text is empty. A document within the request was too")


@pytest.mark.parametrize(
    ("path", "request_", "message"),
    [
        (SENTIMENT, documents(*["a"] * 11), "too many records. Max 10"),
        (SENTIMENT, documents(), "Missing input documents."),
        (SENTIMENT, documents(1), "'documents[0].text': is not a string"),
        (SENTIMENT, {"documents": {}}, "'documents': is not a list"),
        (SENTIMENT, {"documents": [1]}, "'documents[0]': is not an object"),
        (SENTIMENT, {"documents": [{"text": "a"}]}, "a unique id"),
        (SENTIMENT, {"documents": [{"id": "1", "text": "a"}] * 2}, "a unique id"),
        (SENTIMENT, {"documents": [{"id": 1, "text": "a"}]}, "'documents[0].id': is not a string"),
        (SENTIMENT, [], "'the request': is not an object"),
        (TEXTS, {"kind": [], "analysisInput": {}}, "'kind': is not a string"),
        (
            TEXTS,
            {"kind": "SentimentAnalysis", "analysisInput": 1},
            "'analysisInput': is not an object",
        ),
        (TEXTS, {"kind": "EntityRecognition", "analysisInput": documents(*["a"] * 6)}, "Max 5"),
        (TAG, {"url": 1}, "'url': is not a string"),
        (TAG, {"url": "https://example.com/a.png"}, "We can not access the URL"),
        (TAG, {}, "Input data is not a valid image."),
        (TAG, b"none", "Input data is not a valid image."),
        (ANALYZE, b"", "Input data is not a valid image."),
    ],
)
def test_invalid_request_reports_the_invalid_field(
    path: str, request_: object, message: str
) -> None:
    assert is_refused(reply_to(path, request_), 400, message)


@pytest.mark.parametrize("path", [TEXTS, SENTIMENT, TAG, ANALYZE, READ])
@pytest.mark.parametrize("body", [b"", b"\xff", b"{", b"[" * 100_000])
def test_request_without_json_is_refused(path: str, body: bytes) -> None:
    assert is_refused(reply_to(path, body, JSON_TYPE), 400, "cannot be parsed")


@pytest.mark.parametrize(("path", "kind"), [(TEXTS, STREAM), (TAG, "image/png"), (TAG, "x")])
def test_other_content_types_are_refused(path: str, kind: str) -> None:
    assert is_refused(reply_to(path, IMAGE, kind), 415, "Content-Type: has to be")


@pytest.mark.parametrize(
    "path",
    ["/language/analyze-text/jobs", "/language/:query-knowledgebases", "/vision/v3.2/models",
     "/vision/v3.2/read/analyzeResults/1", "/vision/v4.0/tag", "/vision/../tag", "/vision",
     "/text/analytics/v3.1/analyze", "/text/analytics/v3.1/entities/recognition/pii"],
)  # fmt: skip
def test_unknown_path_is_refused_with_the_supported_ones(path: str) -> None:
    assert is_refused(reply_to(path, {}), 501, "Not supported here. Supported are ")


def test_unknown_kind_and_wrong_method_are_refused() -> None:
    assert is_refused(analysed("Fine.", kind="PiiEntityRecognition"), 501, "Not supported here.")
    for path in (TEXTS, SENTIMENT, TAG, ANALYZE, READ, "/vision/v3.2/models"):
        assert is_refused(reply_to_get(path), 501, "Not supported here.")


def test_image_analysis_has_the_requested_features() -> None:
    plain = reply_to(ANALYZE, IMAGE).content
    both = reply_to(f"{ANALYZE}&features=tags,read", IMAGE).content
    old = reply_to("/vision/v3.2/analyze?visualFeatures=Objects,Description", IMAGE).content
    described = reply_to("/vision/v3.2/describe", IMAGE).content

    assert plain.keys() == {"metadata", "modelVersion"}
    assert both.keys() == {"metadata", "modelVersion", "tagsResult", "readResult"}
    assert old.keys() == {"metadata", "modelVersion", "objects", "description"}
    assert described.keys() == {"metadata", "modelVersion", "description"}
    assert old["objects"][0].keys() == {"object", "confidence", "rectangle"}
    assert both["tagsResult"]["values"] == reply_to(TAG, IMAGE).content["tags"]


def test_faces_have_the_requested_attributes() -> None:
    replies = [reply_to(FACES, IMAGE + bytes([index])) for index in range(12)]

    faces = [face for reply in replies for face in reply.content]
    assert {reply.status for reply in replies} == {200}
    assert {reply.operations for reply in replies} == {("detect_with_stream",)}
    assert all(face.keys() == {"faceRectangle", "faceAttributes"} for face in faces)
    assert all(face["faceAttributes"].keys() == {"age", "smile"} for face in faces)
    assert is_refused(reply_to(FACES, {"url": "https://example.com/a.png"}), 400, "access the URL")


def test_each_text_operation_returns_its_own_fields() -> None:
    printed = reply_to("/vision/v3.2/ocr", IMAGE).content
    number = reply_to(READ, IMAGE).headers["Operation-Location"].rpartition("/")[2]
    read = reply_to_get(f"/vision/v3.2/read/analyzeResults/{number}").content

    assert printed.keys() == {"language", "textAngle", "orientation", "regions"}
    assert read.keys() == {"status", "createdDateTime", "lastUpdatedDateTime", "analyzeResult"}


def test_read_result_is_at_the_operation_location() -> None:
    begun = reply_to(f"{READ}?language=en", IMAGE)
    place = begun.headers["Operation-Location"]
    host, _, number = place.partition("/vision/v3.2/read/analyzeResults/")

    result = reply_to_get(f"/vision/v3.2/read/analyzeResults/{number}")

    assert (begun.status, begun.content, host) == (202, {}, "http://localhost:1")
    assert str(uuid.UUID(number)) == number
    assert result.content["status"] == "succeeded"
    assert result.content["analyzeResult"]["readResults"]
    assert (begun.operations, result.operations) == ((), ("get_read_result",))


@pytest.mark.parametrize("number", ["0", "0a5c467b-aeea-434d-8d9d-5ddbbe5e7b7a", "-"])
def test_read_result_of_unknown_number_is_not_found(number: str) -> None:
    assert is_refused(
        reply_to_get(f"/vision/v3.2/read/analyzeResults/{number}"), 404, "No such operation"
    )


def test_oldest_read_operations_are_removed_by_count_and_size() -> None:
    read_operations = ReadOperations()
    small = [read_operations.start(b"a") for _ in range(101)]
    large = [read_operations.start(bytes(20 * 2**20)) for _ in range(13)]

    assert read_operations.image(small[0]) is None
    assert read_operations.image(small[-1]) is None
    assert read_operations.image(large[0]) is None
    assert len(read_operations.image(large[1]) or b"") == 20 * 2**20


@pytest.mark.parametrize("code", Code)
def test_fault_fails_the_whole_request_with_its_status(code: Code) -> None:
    faults = [Fault(error=code, message="No.")]
    emulator = Emulator(EngineChain(with_faults(ENGINES, faults, 0)))

    of_image = reply_to(TAG, IMAGE, emulator=emulator)
    of_text = reply_to(SENTIMENT, documents("Fine."), emulator=emulator)

    assert is_refused(of_image, of_image.status, "No.")
    assert of_image.status >= 400
    assert ("Retry-After" in of_image.headers) == (of_image.status in {429, 503})
    if of_image.status == 400:
        assert (of_text.code, of_text.message) == ("OK", "No.")
    else:
        assert is_refused(of_text, of_image.status, "No.")


NAMES = st.sampled_from(["kind", "analysisInput", "documents", "id", "text", "url", ""])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["SentimentAnalysis", "LanguageDetection", "0", "http://a", "\ud800"])
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)
)
SOMEWHERE = st.sampled_from(PATHS) | st.text().map(lambda path: f"/vision/{path}")


@given(
    SOMEWHERE, JSON | st.binary(), st.sampled_from([JSON_TYPE, STREAM, "é"]), st.sampled_from("PG")
)
def test_any_request_is_answered_or_refused(
    path: str, request: Any, kind: str, method: str
) -> None:
    reply = reply_to(path, request, kind) if method == "P" else reply_to_get(path)

    assert json.loads(json.dumps(reply.content)) == reply.content
    assert reply.status in {200, 202} or is_refused(reply, reply.status)
    assert reply.status != 500
