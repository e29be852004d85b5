"""Parses requests to Google's services, and composes their answers, as plain JSON.

Requests and answers are the services' messages in JSON, with the messages' names of fields.
"""

from __future__ import annotations

import base64
from typing import Any, Dict, Iterator, List

from ciguard.levels.app.in_target.asking import (
    AnswerCallback,
    AnswerFunction,
    Json,
    UnknownOperationError,
)

_FEATURES = {
    "LABEL_DETECTION": "label_detection", "OBJECT_LOCALIZATION": "object_localization",
    "FACE_DETECTION": "face_detection", "TEXT_DETECTION": "text_detection",
    "DOCUMENT_TEXT_DETECTION": "document_text_detection",
    "LANDMARK_DETECTION": "landmark_detection", "LOGO_DETECTION": "logo_detection",
    "SAFE_SEARCH_DETECTION": "safe_search_detection", "WEB_DETECTION": "web_detection",
    "IMAGE_PROPERTIES": "image_properties", "CROP_HINTS": "crop_hints",
    "PRODUCT_SEARCH": "product_search",
}  # fmt: skip
_IMAGES = "BatchAnnotateImages"
_TEXT_FEATURES = {
    "extract_document_sentiment": "analyze_sentiment", "extract_entities": "analyze_entities",
    "extract_entity_sentiment": "analyze_entity_sentiment", "classify_text": "classify_text",
    "moderate_text": "moderate_text",
}  # fmt: skip
"""Feature that a request for several analyses of a text selects → operation. Entities with their
sentiments follow those without, which they replace."""
_TEXT = "AnnotateText"
_METHODS = {
    "AnalyzeSentiment": "analyze_sentiment", "AnalyzeEntities": "analyze_entities",
    "AnalyzeEntitySentiment": "analyze_entity_sentiment", "ClassifyText": "classify_text",
    "ModerateText": "moderate_text", "Recognize": "recognize",
}  # fmt: skip
_LONG_RUNNING = {"LongRunningRecognize": "long_running_recognize"}
"""Method that returns a long-running operation → operation; in ciguard, it is finished at once."""
_PER_IMAGE_CODE = "INVALID_ARGUMENT"
"""Code of errors that concern a single image; with others, the whole request fails."""
_LIMITED_LISTS = ("label_annotations", "localized_object_annotations", "face_annotations")
"""Lists of an answer whose length `max_results` limits."""


class RefusedError(Exception):
    """A service refuses a whole request."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.code = str(error["code"])
        self.message = str(error["message"])


def answer_request(method: str, request: Json, get_answer: AnswerFunction) -> Json:
    """Return the answer to a request.

    Args:
        method: path of the method in gRPC, such as
            `/google.cloud.vision.v1.ImageAnnotator/BatchAnnotateImages`.
        request: the request's message, as JSON.
        get_answer: function that returns the outcome of an operation on a content, such as an image
            or a text.

    Raises:
        UnknownOperationError: if the operation is not supported.
        RefusedError: if the service refuses the request.
    """
    service, _, name = method.strip("/").rpartition("/")
    if name == _IMAGES:
        return {
            "responses": [
                _image_answer(image_request, get_answer)
                for image_request in request.get("requests", [])
            ]
        }
    if name == _TEXT:
        answers = [_answer(one, request, get_answer) for one in _selected(request)]
        return {field: part for answer in answers for field, part in answer.items()}
    if name in _METHODS:
        return _answer(_METHODS[name], request, get_answer)
    if name not in _LONG_RUNNING:
        raise UnknownOperationError(name)
    kind = f"type.googleapis.com/{service.rpartition('.')[0]}.{name}Response"
    answer = {"@type": kind, **_answer(_LONG_RUNNING[name], request, get_answer)}
    return {"name": "0", "done": True, "response": answer}


def _answer(operation: str, request: Json, get_answer: AnswerFunction) -> Json:
    """Return the answer to a request about one text or sound."""
    outcome = get_answer(operation, _content_of(request))
    if "error" in outcome:
        raise RefusedError(outcome["error"])
    return outcome["answer"]


def _selected(request: Json) -> List[str]:
    """Return the operations that a request for several analyses of a text selects, in order.

    Raises:
        UnknownOperationError: if a selected one is not supported.
    """
    wanted = [name for name, value in request.get("features", {}).items() if value is True]
    for name in wanted:
        if name not in _TEXT_FEATURES:
            raise UnknownOperationError(name)
    return [operation for name, operation in _TEXT_FEATURES.items() if name in wanted]


def _image_answer(request: Json, get_answer: AnswerFunction) -> Json:
    """Return the answer to a request about one image, with all requested features."""
    answer: Dict[str, Any] = {}
    for feature in request.get("features", []):
        kind = _kind(feature)
        if kind not in _FEATURES:
            raise UnknownOperationError(kind)
        outcome = get_answer(_FEATURES[kind], _content_of(request))
        if "error" not in outcome:
            answer.update(_limit_lists(outcome["answer"], feature.get("max_results", 0)))
        elif outcome["error"]["code"] == _PER_IMAGE_CODE:
            answer["error"] = {"code": 3, "message": outcome["error"]["message"]}
        else:
            raise RefusedError(outcome["error"])
    return answer


def _kind(feature: Json) -> str:
    return str(feature.get("type") or feature.get("type_", ""))


def _limit_lists(answer: Json, limit: int) -> Json:
    """Return an answer whose lists have at most `limit` items; 0 for any number."""
    return {
        key: value[:limit] if limit > 0 and key in _LIMITED_LISTS else value
        for key, value in answer.items()
    }


def _content_of(request: Json) -> bytes:
    """Return the content of a request, or the address if the request has no content."""
    if "document" in request:
        document = request["document"]
        text = document.get("content") or document.get("gcs_content_uri", "")
        return str(text).encode()
    media = request.get("image") or request.get("audio") or {}
    if "content" in media:
        return base64.b64decode(media["content"])
    source = media.get("source", media)
    addresses = (source.get(name, "") for name in ("image_uri", "gcs_image_uri", "uri"))
    return next(filter(None, addresses), "").encode()


def report_answers(method: str, request: Json, answer: Json, on_answer: AnswerCallback) -> None:
    """Report the outcome of each content in a request to a callback.

    Args:
        method: path of the method in gRPC.
        request: the request's message, as JSON.
        answer: `{"answer": …}` or `{"error": …}` of the whole request.
        on_answer: callback, which gets the operation, the content and the outcome of each request.
    """
    name = method.rpartition("/")[2]
    if name in _METHODS:
        on_answer(_METHODS[name], _content_of(request), answer)
    elif name == _TEXT:
        for operation in _selected(request):
            on_answer(operation, _content_of(request), answer)
    elif name == _IMAGES:
        for image_request, outcome in zip(request.get("requests", []), _image_outcomes(answer)):
            for feature in image_request.get("features", []):
                if _kind(feature) in _FEATURES:
                    on_answer(_FEATURES[_kind(feature)], _content_of(image_request), outcome)


def _image_outcomes(answer: Json) -> Iterator[Json]:
    """Yield the outcome of each image in turn; after the last one, empty answers without end."""
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
