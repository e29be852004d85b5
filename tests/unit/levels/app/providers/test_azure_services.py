"""Requests to Azure on this machine, whatever they hold: answered or refused as Azure does."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.emulation.emulator import Emulator
from ciguard.levels.app.providers.azure.in_target.messages import Reads
from ciguard.levels.app.providers.codes import Code
from ciguard.levels.app.providers.request import Reply, ServiceRequest
from ciguard.levels.app.virtualization.chosen import Chosen
from ciguard.levels.app.virtualization.composed import Composed
from ciguard.levels.app.virtualization.faults import Fault
from ciguard.levels.app.virtualization.faulty import with_faults
from ciguard.levels.app.virtualization.little_words import LittleWords
from ciguard.levels.app.virtualization.simulated import Simulated

IMAGE = b"\x89PNG\r\n\x1a\n"
SIMULATED = Chosen((Simulated(None, {}),))
ENGINES = (*SIMULATED.engines, Composed(SIMULATED), LittleWords())
EMULATOR = Emulator(Chosen(ENGINES))
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


def asked(path: str, request: object, kind: str = "", emulator: Emulator = EMULATOR) -> Reply:
    is_stream = isinstance(request, bytes)
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    headers = {"content-type": kind or (STREAM if is_stream else JSON_TYPE)}
    return emulator.reply(ServiceRequest("POST", path, headers, body, "http://localhost:1"))


def got(path: str) -> Reply:
    return EMULATOR.reply(ServiceRequest("GET", path, origin="http://localhost:1"))


def documents(*texts: object) -> dict[str, object]:
    return {"documents": [{"id": str(at), "text": one} for at, one in enumerate(texts)]}


def analysed(*texts: object, kind: object = "SentimentAnalysis") -> Reply:
    return asked(TEXTS, {"kind": kind, "analysisInput": documents(*texts)})


def is_refused(reply: Reply, status: int, said: str = "") -> bool:
    error = reply.content["error"]
    assert error["code"] == reply.code
    assert error["message"] == reply.message
    assert reply.headers["Content-Type"].startswith("application/json")
    return reply.status == status and said in reply.message


def test_both_versions_of_the_service_answer_alike() -> None:
    new, old = analysed("I love this."), asked(SENTIMENT, documents("I love this."))

    assert (new.status, new.asked) == (200, ("analyze_sentiment",))
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
def test_every_kind_of_question_about_texts_is_answered(kind: str, field: str) -> None:
    reply = analysed("Ada was in Rome with the orchestra.", kind=kind)

    (document,) = reply.content["results"]["documents"]
    assert document[field]
    assert reply.content["kind"] == f"{kind}Results"


def test_a_document_that_is_empty_or_too_long_has_an_error_in_its_place() -> None:
    reply = analysed("Fine.", " ", "a" * 5121)

    results = reply.content["results"]
    assert [one["id"] for one in results["documents"]] == ["0"]
    assert [one["id"] for one in results["errors"]] == ["1", "2"]
    assert reply.code == "OK"
    assert reply.message.startswith("Document text is empty. A document within the request was too")


@pytest.mark.parametrize(
    ("path", "request_", "said"),
    [
        (SENTIMENT, documents(*["a"] * 11), "too many records. Max 10"),
        (SENTIMENT, documents(), "Missing input documents."),
        (SENTIMENT, documents(1), "'documents[0].text': is no text"),
        (SENTIMENT, {"documents": {}}, "'documents': is no list"),
        (SENTIMENT, {"documents": [1]}, "'documents[0]': is no object"),
        (SENTIMENT, {"documents": [{"text": "a"}]}, "an id of its own"),
        (SENTIMENT, {"documents": [{"id": "1", "text": "a"}] * 2}, "an id of its own"),
        (SENTIMENT, {"documents": [{"id": 1, "text": "a"}]}, "'documents[0].id': is no text"),
        (SENTIMENT, [], "'the request': is no object"),
        (TEXTS, {"kind": [], "analysisInput": {}}, "'kind': is no text"),
        (TEXTS, {"kind": "SentimentAnalysis", "analysisInput": 1}, "'analysisInput': is no object"),
        (TEXTS, {"kind": "EntityRecognition", "analysisInput": documents(*["a"] * 6)}, "Max 5"),
        (TAG, {"url": 1}, "'url': is no text"),
        (TAG, {"url": "https://example.com/a.png"}, "We can not access the URL"),
        (TAG, {}, "Input data is not a valid image."),
        (TAG, b"none", "Input data is not a valid image."),
        (ANALYZE, b"", "Input data is not a valid image."),
    ],
)
def test_what_is_wrong_with_a_request_is_said(path: str, request_: object, said: str) -> None:
    assert is_refused(asked(path, request_), 400, said)


@pytest.mark.parametrize("path", [TEXTS, SENTIMENT, TAG, ANALYZE, READ])
@pytest.mark.parametrize("body", [b"", b"\xff", b"{", b"[" * 100_000])
def test_what_is_no_json_is_refused(path: str, body: bytes) -> None:
    assert is_refused(asked(path, body, JSON_TYPE), 400, "cannot be parsed")


@pytest.mark.parametrize(("path", "kind"), [(TEXTS, STREAM), (TAG, "image/png"), (TAG, "x")])
def test_other_types_are_refused(path: str, kind: str) -> None:
    assert is_refused(asked(path, IMAGE, kind), 415, "The Content-Type is to be")


@pytest.mark.parametrize(
    "path",
    ["/language/analyze-text/jobs", "/language/:query-knowledgebases", "/vision/v3.2/models",
     "/vision/v3.2/read/analyzeResults/1", "/vision/v4.0/tag", "/vision/../tag", "/vision",
     "/text/analytics/v3.1/analyze", "/text/analytics/v3.1/entities/recognition/pii"],
)  # fmt: skip
def test_what_nobody_answers_is_said(path: str) -> None:
    assert is_refused(asked(path, {}), 501, "Not answered here. Known are ")


def test_other_kinds_and_getting_what_is_asked_by_posting_are_not_answered() -> None:
    assert is_refused(analysed("Fine.", kind="PiiEntityRecognition"), 501, "Not answered here.")
    for path in (TEXTS, SENTIMENT, TAG, ANALYZE, READ, "/vision/v3.2/models"):
        assert is_refused(got(path), 501, "Not answered here.")


def test_an_image_is_analysed_as_far_as_is_asked() -> None:
    plain = asked(ANALYZE, IMAGE).content
    both = asked(f"{ANALYZE}&features=tags,read", IMAGE).content
    old = asked("/vision/v3.2/analyze?visualFeatures=Objects,Description", IMAGE).content
    described = asked("/vision/v3.2/describe", IMAGE).content

    assert plain.keys() == {"metadata", "modelVersion"}
    assert both.keys() == {"metadata", "modelVersion", "tagsResult", "readResult"}
    assert old.keys() == {"metadata", "modelVersion", "objects", "description"}
    assert described.keys() == {"metadata", "modelVersion", "description"}
    assert old["objects"][0].keys() == {"object", "confidence", "rectangle"}
    assert both["tagsResult"]["values"] == asked(TAG, IMAGE).content["tags"]


def test_faces_are_told_as_far_as_is_asked() -> None:
    replies = [asked(FACES, IMAGE + bytes([at])) for at in range(12)]

    faces = [face for reply in replies for face in reply.content]
    assert {reply.status for reply in replies} == {200}
    assert {reply.asked for reply in replies} == {("detect_with_stream",)}
    assert all(face.keys() == {"faceRectangle", "faceAttributes"} for face in faces)
    assert all(face["faceAttributes"].keys() == {"age", "smile"} for face in faces)
    assert is_refused(asked(FACES, {"url": "https://example.com/a.png"}), 400, "access the URL")


def test_each_way_to_read_tells_what_is_its_own() -> None:
    printed = asked("/vision/v3.2/ocr", IMAGE).content
    number = asked(READ, IMAGE).headers["Operation-Location"].rpartition("/")[2]
    read = got(f"/vision/v3.2/read/analyzeResults/{number}").content

    assert printed.keys() == {"language", "textAngle", "orientation", "regions"}
    assert read.keys() == {"status", "createdDateTime", "lastUpdatedDateTime", "analyzeResult"}


def test_what_is_written_is_asked_for_where_the_service_says() -> None:
    begun = asked(f"{READ}?language=en", IMAGE)
    place = begun.headers["Operation-Location"]
    host, _, number = place.partition("/vision/v3.2/read/analyzeResults/")

    result = got(f"/vision/v3.2/read/analyzeResults/{number}")

    assert (begun.status, begun.content, host) == (202, {}, "http://localhost:1")
    assert str(uuid.UUID(number)) == number
    assert result.content["status"] == "succeeded"
    assert result.content["analyzeResult"]["readResults"]
    assert (begun.asked, result.asked) == ((), ("get_read_result",))


@pytest.mark.parametrize("number", ["0", "0a5c467b-aeea-434d-8d9d-5ddbbe5e7b7a", "-"])
def test_a_reading_that_nobody_has_begun_is_not_found(number: str) -> None:
    assert is_refused(got(f"/vision/v3.2/read/analyzeResults/{number}"), 404, "no such operation")


def test_the_oldest_readings_are_forgotten_by_number_and_by_size() -> None:
    reads = Reads()
    small = [reads.begin(b"a") for _ in range(101)]
    large = [reads.begin(bytes(20 * 2**20)) for _ in range(13)]

    assert reads.about(small[0]) is None
    assert reads.about(small[-1]) is None
    assert reads.about(large[0]) is None
    assert len(reads.about(large[1]) or b"") == 20 * 2**20


@pytest.mark.parametrize("code", Code)
def test_every_fault_is_of_the_whole_request_and_has_a_status_of_its_own(code: Code) -> None:
    faults = [Fault(error=code, message="No.")]
    emulator = Emulator(Chosen(with_faults(ENGINES, faults, 0)))

    of_image = asked(TAG, IMAGE, emulator=emulator)
    of_text = asked(SENTIMENT, documents("Fine."), emulator=emulator)

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
    reply = asked(path, request, kind) if method == "P" else got(path)

    assert json.loads(json.dumps(reply.content)) == reply.content
    assert reply.status in {200, 202} or is_refused(reply, reply.status)
    assert reply.status != 500
