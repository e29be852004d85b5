"""What requests to Rekognition and Comprehend ask, and how their answers are put together.

Requests and answers are as boto3 has them: names as the services write them, images as bytes.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple

from ciguard.levels.app.in_target.asking import Answering, Hearing, Json, UnknownOperationError

OF_IMAGES = {
    "DetectLabels": ("Labels",), "DetectFaces": ("FaceDetails",),
    "DetectText": ("TextDetections",), "DetectCustomLabels": ("CustomLabels",),
    "DetectModerationLabels": ("ModerationLabels", "ContentTypes"),
    "RecognizeCelebrities": ("CelebrityFaces", "UnrecognizedFaces"),
}  # fmt: skip
"""Operations of Rekognition → the lists of an answer, which are told though they are empty."""
OF_TEXTS = {
    "DetectSentiment": (), "DetectEntities": ("Entities", "DocumentType", "Blocks", "Errors"),
    "DetectKeyPhrases": ("KeyPhrases",), "DetectDominantLanguage": ("Languages",),
    "DetectPiiEntities": ("Entities",),
    "ClassifyDocument": ("Classes", "Labels", "DocumentType", "Errors", "Warnings"),
    "BatchDetectSentiment": ("ResultList", "ErrorList"),
}  # fmt: skip
"""Operations of Comprehend, likewise."""
_MAX_LENGTH, _MAX_FELT_LENGTH = 100_000, 5_000
"""Bytes that a text may have, and one whose feeling is asked for."""
_MAX_IN_BATCH = 25
_MAX_IMAGE = 5 * 2**20
_MIN_SCORES = {
    "DetectLabels": ("Labels", "MinConfidence", 55.0),
    "DetectModerationLabels": ("ModerationLabels", "MinConfidence", 50.0),
}
"""What is left out of an answer, and below which confidence where the request does not say."""
_ATTRIBUTES = {
    "AgeRange": "AGE_RANGE", "Beard": "BEARD", "Emotions": "EMOTIONS",
    "EyeDirection": "EYE_DIRECTION", "Eyeglasses": "EYEGLASSES", "EyesOpen": "EYES_OPEN",
    "FaceOccluded": "FACE_OCCLUDED", "Gender": "GENDER", "MouthOpen": "MOUTH_OPEN",
    "Mustache": "MUSTACHE", "Smile": "SMILE", "Sunglasses": "SUNGLASSES",
}  # fmt: skip
"""Of a face, those that are told only if they are asked for."""
_REFUSES = "INVALID_ARGUMENT"
_FAILS = "INTERNAL"
_CODES = {
    "RESOURCE_EXHAUSTED": "ThrottlingException", "UNAVAILABLE": "ServiceUnavailableException",
    "PERMISSION_DENIED": "AccessDeniedException", "FAILED_PRECONDITION": "AccessDeniedException",
    "UNAUTHENTICATED": "UnrecognizedClientException", "NOT_FOUND": "ResourceNotFoundException",
    "UNIMPLEMENTED": "UnknownOperationException", "ALREADY_EXISTS": "ResourceInUseException",
    "OUT_OF_RANGE": _REFUSES, "INTERNAL": _FAILS, "UNKNOWN": _FAILS, "DEADLINE_EXCEEDED": _FAILS,
    "CANCELLED": _FAILS, "ABORTED": _FAILS, "DATA_LOSS": _FAILS,
}  # fmt: skip
"""Codes of gRPC; others are AWS's own."""
_STATUSES = {
    "InternalServerError": 500, "InternalServerException": 500, "ServiceUnavailableException": 503,
}  # fmt: skip
"""Of HTTP; all others are 400."""
_OF_ONE_TEXT = {
    "InvalidRequestException", "TextSizeLimitExceededException", "UnsupportedLanguageException",
}  # fmt: skip
"""Told in the place of one text of several, and not as the failure of the whole request."""
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_S3 = b"s3://"

Reply = Tuple[int, Json]
"""Status and content of a response."""


def is_known(name: str) -> bool:
    """Return whether answers are put together for an operation, `DetectLabels`."""
    return name in OF_IMAGES or name in OF_TEXTS


def method_of(name: str) -> str:
    """Return an operation as its method is called, `detect_labels`."""
    return _CAPITALS.sub("_", name).lower()


def answered(name: str, asked: Json, answering: Answering) -> Reply:
    """Return a service's answer to a request, or its refusal.

    Args:
        name: of the operation, `DetectLabels`.
        asked: the request.
        answering: is asked for each thing that it wants to know.

    Raises:
        UnknownOperationError: if it asks what no answers are made for.
    """
    if not is_known(name):
        raise UnknownOperationError(method_of(name))
    said = _batch(name, asked, answering) if "TextList" in asked else _one(name, asked, answering)
    if "error" in said:
        return refused(name, said["error"])
    lists = OF_IMAGES.get(name) or OF_TEXTS.get(name, ())
    empty: Dict[str, Any] = {one: [] for one in lists}
    return 200, {**empty, **_asked_for(name, asked, said["answer"])}


def refused(name: str, error: Json) -> Reply:
    """Return how a service refuses a request.

    Args:
        name: of the operation.
        error: `code`, of gRPC or its own, and `message`.
    """
    code = _own_code(name, error["code"])
    return _STATUSES.get(code, 400), {"__type": code, "message": error["message"]}


def _own_code(name: str, code: str) -> str:
    code = _CODES.get(code, code) if code.isascii() else _FAILS
    if code == _REFUSES:
        return "InvalidImageFormatException" if name in OF_IMAGES else "InvalidRequestException"
    if code == _FAILS:
        return "InternalServerException" if name in OF_TEXTS else "InternalServerError"
    return code


def _one(name: str, asked: Json, answering: Answering) -> Json:
    about = _about(asked)
    problem = _too_large(name, about)
    if problem:
        return {"error": problem}
    said = answering(method_of(name), about)
    if about.startswith(_S3) and said.get("error", {}).get("code") == _REFUSES:
        message = "Unable to get object metadata from S3. Check object key, region and/or access "
        return _error("InvalidS3ObjectException", f"{message}permissions.")
    return said


def _too_large(name: str, about: bytes) -> Json:
    """Return the error of what is too large to be looked at; None of other contents."""
    if name in OF_IMAGES and len(about) > _MAX_IMAGE:
        message = (
            "1 validation error detected: Value at 'image.bytes' failed to satisfy constraint: "
            f"Member must have length less than or equal to {_MAX_IMAGE}"
        )
        return {"code": "ValidationException", "message": message}
    most = _MAX_FELT_LENGTH if name.endswith("Sentiment") else _MAX_LENGTH
    if name in OF_TEXTS and len(about) > most:
        message = (
            "Input text size exceeds limit. Max length of request text allowed is "
            f"{most} bytes while in this request the text size is {len(about)} bytes"
        )
        return {"code": "TextSizeLimitExceededException", "message": message}
    return None


def _error(code: str, message: str) -> Json:
    return {"error": {"code": code, "message": message}}


def _about(asked: Json) -> bytes:
    """Return what a service is asked about: what it holds, or else where it lies."""
    if "Text" in asked:
        return str(asked["Text"]).encode()
    image = asked.get("Image", {})
    if "Bytes" in image:
        return bytes(image["Bytes"])
    place = image.get("S3Object", {})
    return _S3 + f"{place.get('Bucket', '')}/{place.get('Name', '')}".encode() if place else b""


def _batch(name: str, asked: Json, answering: Answering) -> Json:
    texts = asked["TextList"]
    if len(texts) > _MAX_IN_BATCH:
        message = f"Input list size exceeds limit. Max length allowed is {_MAX_IN_BATCH}"
        return _error("BatchSizeLimitExceededException", message)
    found: Dict[str, List[Json]] = {"ResultList": [], "ErrorList": []}
    for at, text in enumerate(texts):
        said = _one(name, {"Text": text}, answering)
        if "answer" in said:
            found["ResultList"].append({"Index": at, **said["answer"]})
            continue
        code = _own_code(name, said["error"]["code"])
        if code not in _OF_ONE_TEXT:
            return said
        told = {"ErrorCode": code, "ErrorMessage": said["error"]["message"]}
        found["ErrorList"].append({"Index": at, **told})
    return {"answer": found}


def _asked_for(name: str, asked: Json, answer: Json) -> Json:
    """Leave out of an answer what a request does not ask for."""
    if name in _MIN_SCORES:
        records, least, usual = _MIN_SCORES[name]
        bound = asked.get(least, usual)
        kept = [one for one in answer.get(records, []) if one.get("Confidence", 100) >= bound]
        return {**answer, records: kept[: asked.get("MaxLabels", len(kept))]}
    if name == "DetectFaces":
        wanted = {"DEFAULT", *(asked.get("Attributes") or ())}
        faces = [_told(face, wanted) for face in answer.get("FaceDetails", [])]
        return {**answer, "FaceDetails": faces}
    return answer


def _told(face: Json, wanted: Any) -> Json:
    return {
        field: value
        for field, value in face.items()
        if field not in _ATTRIBUTES or _ATTRIBUTES[field] in wanted or "ALL" in wanted
    }


def heard(name: str, asked: Json, said: Json, hearing: Hearing) -> None:
    """Tell what a service has said to each thing that a request asks.

    Args:
        name: of the operation.
        asked: the request.
        said: `{"answer": …}` or `{"error": …}`, of the whole request.
        hearing: is told.
    """
    if "TextList" not in asked:
        hearing(method_of(name), _about(asked), said)
        return
    for at, text in enumerate(asked["TextList"]):
        one = said if "error" in said else _of_batch(said["answer"], at)
        if one is not None:
            hearing(method_of(name), str(text).encode(), one)


def _of_batch(answer: Json, at: int) -> Optional[Json]:
    """Return what a batch says of one of its texts."""
    for one in answer.get("ResultList", []):
        if one.get("Index") == at:
            return {"answer": {key: value for key, value in one.items() if key != "Index"}}
    for one in answer.get("ErrorList", []):
        if one.get("Index") == at:
            return _error(one.get("ErrorCode", ""), one["ErrorMessage"])
    return None
