"""Parses requests to Google's services, and composes their answers, as plain JSON.

Requests and answers are the JSON of the services' messages, with the field names of the messages.
"""

from __future__ import annotations

import base64
from typing import Any, Dict, Iterator, List

from ciguard.levels.app.in_target.asking import (
    Answering,
    Hearing,
    Json,
    UnknownOperationError,
)

_FEATURES = {
    "LABEL_DETECTION": "label_detection", "OBJECT_LOCALIZATION": "object_localization",
    "FACE_DETECTION": "face_detection", "TEXT_DETECTION": "text_detection",
    "DOCUMENT_TEXT_DETECTION": "document_text_detection",
    "LANDMARK_DETECTION": "landmark_detection", "LOGO_DETECTION": "logo_detection",
}  # fmt: skip
_IMAGES = "BatchAnnotateImages"
_METHODS = {
    "AnalyzeSentiment": "analyze_sentiment", "AnalyzeEntities": "analyze_entities",
    "AnalyzeEntitySentiment": "analyze_entity_sentiment", "ClassifyText": "classify_text",
    "Recognize": "recognize",
}  # fmt: skip
_LONG_RUNNING = {"LongRunningRecognize": "long_running_recognize"}
"""Methods that return a long-running operation, here always a finished one."""
_PER_IMAGE_CODE = "INVALID_ARGUMENT"
"""Code that is reported for one image, not as a failure of the whole request."""
_LIMITED_LISTS = ("label_annotations", "localized_object_annotations", "face_annotations")
"""Lists whose length a request limits."""


class RefusedError(Exception):
    """A service refuses a whole request."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.code = str(error["code"])
        self.message = str(error["message"])


def answer_request(method: str, request: Json, answering: Answering) -> Json:
    """Return the answer to a request.

    Args:
        method: method of gRPC, such as
            `/google.cloud.vision.v1.ImageAnnotator/BatchAnnotateImages`.
        request: the request.
        answering: function that answers an operation about a content.

    Raises:
        UnknownOperationError: if the operation is not supported.
        RefusedError: if the service refuses the request.
    """
    service, _, name = method.strip("/").rpartition("/")
    if name == _IMAGES:
        return {
            "responses": [
                _image_answer(image_request, answering)
                for image_request in request.get("requests", [])
            ]
        }
    if name in _METHODS:
        return _answer(_METHODS[name], request, answering)
    if name not in _LONG_RUNNING:
        raise UnknownOperationError(name)
    kind = f"type.googleapis.com/{service.rpartition('.')[0]}.{name}Response"
    answer = {"@type": kind, **_answer(_LONG_RUNNING[name], request, answering)}
    return {"name": "0", "done": True, "response": answer}


def _answer(operation: str, request: Json, answering: Answering) -> Json:
    outcome = answering(operation, _content_of(request))
    if "error" in outcome:
        raise RefusedError(outcome["error"])
    return outcome["answer"]


def _image_answer(request: Json, answering: Answering) -> Json:
    answer: Dict[str, Any] = {}
    for feature in request.get("features", []):
        kind = _kind(feature)
        if kind not in _FEATURES:
            raise UnknownOperationError(kind)
        outcome = answering(_FEATURES[kind], _content_of(request))
        if "error" not in outcome:
            answer.update(_limited(outcome["answer"], feature.get("max_results", 0)))
        elif outcome["error"]["code"] == _PER_IMAGE_CODE:
            answer["error"] = {"code": 3, "message": outcome["error"]["message"]}
        else:
            raise RefusedError(outcome["error"])
    return answer


def _kind(feature: Json) -> str:
    return str(feature.get("type") or feature.get("type_", ""))


def _limited(answer: Json, limit: int) -> Json:
    """Return an answer with limited lists; 0 for no limit."""
    return {
        key: value[:limit] if limit > 0 and key in _LIMITED_LISTS else value
        for key, value in answer.items()
    }


def _content_of(request: Json) -> bytes:
    """Return the content of a request, or else its address."""
    if "document" in request:
        document = request["document"]
        text = document.get("content") or document.get("gcs_content_uri", "")
        return str(text).encode()
    held = request.get("image") or request.get("audio") or {}
    if "content" in held:
        return base64.b64decode(held["content"])
    source = held.get("source", held)
    places = (source.get(name, "") for name in ("image_uri", "gcs_image_uri", "uri"))
    return next(filter(None, places), "").encode()


def report_answers(method: str, request: Json, answer: Json, hearing: Hearing) -> None:
    """Report the answer of a service to each content of a request.

    Args:
        method: method of gRPC.
        request: the request.
        answer: `{"answer": …}` or `{"error": …}` of the whole request.
        hearing: callback for each operation, content and answer.
    """
    name = method.rpartition("/")[2]
    if name in _METHODS:
        hearing(_METHODS[name], _content_of(request), answer)
    elif name == _IMAGES:
        for image_request, outcome in zip(request.get("requests", []), _image_outcomes(answer)):
            for feature in image_request.get("features", []):
                if _kind(feature) in _FEATURES:
                    hearing(_FEATURES[_kind(feature)], _content_of(image_request), outcome)


def _image_outcomes(answer: Json) -> Iterator[Json]:
    """Yield the answer to each image in turn; empty answers for missing ones."""
    responses: List[Json] = answer.get("answer", {}).get("responses", [])
    for response in responses:
        if "error" in response:
            yield {
                "error": {"code": _PER_IMAGE_CODE, "message": response["error"].get("message", "")}
            }
        else:
            yield {"answer": response}
    while True:
        yield answer if "error" in answer else {"answer": {}}
