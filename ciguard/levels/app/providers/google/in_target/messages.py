"""What requests to Google's services ask, and how their answers are put together, as plain JSON.

Requests and answers are JSON of the services' messages, keys as the messages write them.
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
_LATER = {"LongRunningRecognize": "long_running_recognize"}
"""Whose answer is an operation, at once a finished one."""
_OF_ONE_IMAGE = "INVALID_ARGUMENT"
"""Told with the answer for the image, and not as the failure of the whole request."""
_COUNTED = ("label_annotations", "localized_object_annotations", "face_annotations")
"""Of which a request says how many it wants."""


class RefusedError(Exception):
    """A service refuses a whole request."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.code = str(error["code"])
        self.message = str(error["message"])


def answered(method: str, asked: Json, answering: Answering) -> Json:
    """Return a service's answer to a request.

    Args:
        method: of gRPC, `/google.cloud.vision.v1.ImageAnnotator/BatchAnnotateImages`.
        asked: the request.
        answering: is asked for each thing that it wants to know.

    Raises:
        UnknownOperationError: if it asks what no answers are made for.
        RefusedError: if that is the answer.
    """
    service, _, name = method.strip("/").rpartition("/")
    if name == _IMAGES:
        return {"responses": [_of_image(one, answering) for one in asked.get("requests", [])]}
    if name in _METHODS:
        return _answer(_METHODS[name], asked, answering)
    if name not in _LATER:
        raise UnknownOperationError(name)
    kind = f"type.googleapis.com/{service.rpartition('.')[0]}.{name}Response"
    answer = {"@type": kind, **_answer(_LATER[name], asked, answering)}
    return {"name": "0", "done": True, "response": answer}


def _answer(operation: str, asked: Json, answering: Answering) -> Json:
    said = answering(operation, _about(asked))
    if "error" in said:
        raise RefusedError(said["error"])
    return said["answer"]


def _of_image(request: Json, answering: Answering) -> Json:
    found: Dict[str, Any] = {}
    for feature in request.get("features", []):
        kind = _kind(feature)
        if kind not in _FEATURES:
            raise UnknownOperationError(kind)
        said = answering(_FEATURES[kind], _about(request))
        if "error" not in said:
            found.update(_most(said["answer"], feature.get("max_results", 0)))
        elif said["error"]["code"] == _OF_ONE_IMAGE:
            found["error"] = {"code": 3, "message": said["error"]["message"]}
        else:
            raise RefusedError(said["error"])
    return found


def _kind(feature: Json) -> str:
    return str(feature.get("type") or feature.get("type_", ""))


def _most(answer: Json, wanted: int) -> Json:
    """Return an answer with as many results as are wanted; 0 for all."""
    return {
        key: value[:wanted] if wanted > 0 and key in _COUNTED else value
        for key, value in answer.items()
    }


def _about(asked: Json) -> bytes:
    """Return what a service is asked about: what it holds, or else where it lies."""
    if "document" in asked:
        document = asked["document"]
        text = document.get("content") or document.get("gcs_content_uri", "")
        return str(text).encode()
    held = asked.get("image") or asked.get("audio") or {}
    if "content" in held:
        return base64.b64decode(held["content"])
    source = held.get("source", held)
    places = (source.get(name, "") for name in ("image_uri", "gcs_image_uri", "uri"))
    return next(filter(None, places), "").encode()


def heard(method: str, asked: Json, answer: Json, hearing: Hearing) -> None:
    """Tell what a service has said to each thing that a request asks.

    Args:
        method: of gRPC.
        asked: the request.
        answer: `{"answer": …}` or `{"error": …}`, of the whole request.
        hearing: is told.
    """
    name = method.rpartition("/")[2]
    if name in _METHODS:
        hearing(_METHODS[name], _about(asked), answer)
    elif name == _IMAGES:
        for one, said in zip(asked.get("requests", []), _of_each(answer)):
            for feature in one.get("features", []):
                if _kind(feature) in _FEATURES:
                    hearing(_FEATURES[_kind(feature)], _about(one), said)


def _of_each(answer: Json) -> Iterator[Json]:
    """Yield what is said of one image after the other: what is missing is an empty answer."""
    several: List[Json] = answer.get("answer", {}).get("responses", [])
    for one in several:
        if "error" in one:
            yield {"error": {"code": _OF_ONE_IMAGE, "message": one["error"].get("message", "")}}
        else:
            yield {"answer": one}
    while True:
        yield answer if "error" in answer else {"answer": {}}
