"""Parses requests to Rekognition and Comprehend, and composes their answers.

Requests and answers are in the format of boto3: names as the services write them, images as bytes.
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
"""Operations of Rekognition → lists in an answer that are present even if empty."""
OF_TEXTS = {
    "DetectSentiment": (), "DetectEntities": ("Entities", "DocumentType", "Blocks", "Errors"),
    "DetectKeyPhrases": ("KeyPhrases",), "DetectDominantLanguage": ("Languages",),
    "DetectPiiEntities": ("Entities",),
    "ClassifyDocument": ("Classes", "Labels", "DocumentType", "Errors", "Warnings"),
    "BatchDetectSentiment": ("ResultList", "ErrorList"),
}  # fmt: skip
"""Operations of Comprehend → lists in an answer that are present even if empty."""
_MAX_LENGTH, _MAX_SENTIMENT_LENGTH = 100_000, 5_000
"""Maximum size of a text, and of a text for sentiment analysis, in bytes."""
_MAX_IN_BATCH = 25
_MAX_IMAGE = 5 * 2**20
_MIN_SCORES = {
    "DetectLabels": ("Labels", "MinConfidence", 55.0),
    "DetectModerationLabels": ("ModerationLabels", "MinConfidence", 50.0),
}
"""List of an answer, parameter of its minimum confidence, and the default of that, by operation."""
_ATTRIBUTES = {
    "AgeRange": "AGE_RANGE", "Beard": "BEARD", "Emotions": "EMOTIONS",
    "EyeDirection": "EYE_DIRECTION", "Eyeglasses": "EYEGLASSES", "EyesOpen": "EYES_OPEN",
    "FaceOccluded": "FACE_OCCLUDED", "Gender": "GENDER", "MouthOpen": "MOUTH_OPEN",
    "Mustache": "MUSTACHE", "Smile": "SMILE", "Sunglasses": "SUNGLASSES",
}  # fmt: skip
"""Attributes of a face that are returned only on request."""
_INVALID_CODE = "INVALID_ARGUMENT"
_INTERNAL_CODE = "INTERNAL"
_CODES = {
    "RESOURCE_EXHAUSTED": "ThrottlingException", "UNAVAILABLE": "ServiceUnavailableException",
    "PERMISSION_DENIED": "AccessDeniedException", "FAILED_PRECONDITION": "AccessDeniedException",
    "UNAUTHENTICATED": "UnrecognizedClientException", "NOT_FOUND": "ResourceNotFoundException",
    "UNIMPLEMENTED": "UnknownOperationException", "ALREADY_EXISTS": "ResourceInUseException",
    "OUT_OF_RANGE": _INVALID_CODE, "INTERNAL": _INTERNAL_CODE, "UNKNOWN": _INTERNAL_CODE,
    "DEADLINE_EXCEEDED": _INTERNAL_CODE,
    "CANCELLED": _INTERNAL_CODE, "ABORTED": _INTERNAL_CODE, "DATA_LOSS": _INTERNAL_CODE,
}  # fmt: skip
"""Codes of AWS by codes of gRPC; other codes are already those of AWS."""
_STATUSES = {
    "InternalServerError": 500, "InternalServerException": 500, "ServiceUnavailableException": 503,
}  # fmt: skip
"""Statuses of HTTP by code; all others are 400."""
_PER_TEXT_CODES = {
    "InvalidRequestException", "TextSizeLimitExceededException", "UnsupportedLanguageException",
}  # fmt: skip
"""Codes that are reported for one text of a batch, not as a failure of the whole request."""
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_S3 = b"s3://"

Reply = Tuple[int, Json]
"""Status and content of a response."""


def is_known(name: str) -> bool:
    """Return whether an operation, such as `DetectLabels`, is supported."""
    return name in OF_IMAGES or name in OF_TEXTS


def method_of(name: str) -> str:
    """Return the method name of an operation, such as `detect_labels`."""
    return _CAPITALS.sub("_", name).lower()


def answer_request(name: str, parameters: Json, answering: Answering) -> Reply:
    """Return the reply to a request, which may be a refusal.

    Args:
        name: name of the operation, such as `DetectLabels`.
        parameters: parameters of the request.
        answering: function that answers an operation about a content.

    Raises:
        UnknownOperationError: if the operation is not supported.
    """
    if not is_known(name):
        raise UnknownOperationError(method_of(name))
    outcome = (
        _batch(name, parameters, answering)
        if "TextList" in parameters
        else _single(name, parameters, answering)
    )
    if "error" in outcome:
        return refusal_reply(name, outcome["error"])
    lists = OF_IMAGES.get(name) or OF_TEXTS.get(name, ())
    empty: Dict[str, Any] = {list_name: [] for list_name in lists}
    return 200, {**empty, **_filtered(name, parameters, outcome["answer"])}


def refusal_reply(name: str, error: Json) -> Reply:
    """Return the refusal of a request.

    Args:
        name: name of the operation.
        error: `code` of gRPC or AWS, and `message`.
    """
    code = _own_code(name, error["code"])
    return _STATUSES.get(code, 400), {"__type": code, "message": error["message"]}


def _own_code(name: str, code: str) -> str:
    code = _CODES.get(code, code) if code.isascii() else _INTERNAL_CODE
    if code == _INVALID_CODE:
        return "InvalidImageFormatException" if name in OF_IMAGES else "InvalidRequestException"
    if code == _INTERNAL_CODE:
        return "InternalServerException" if name in OF_TEXTS else "InternalServerError"
    return code


def _single(name: str, parameters: Json, answering: Answering) -> Json:
    about = _content_of(parameters)
    problem = _too_large(name, about)
    if problem:
        return {"error": problem}
    outcome = answering(method_of(name), about)
    if about.startswith(_S3) and outcome.get("error", {}).get("code") == _INVALID_CODE:
        message = "Unable to get object metadata from S3. Check object key, region and/or access "
        return _error("InvalidS3ObjectException", f"{message}permissions.")
    return outcome


def _too_large(name: str, about: bytes) -> Json:
    """Return the error of a content that is too large; None for other contents."""
    if name in OF_IMAGES and len(about) > _MAX_IMAGE:
        message = (
            "1 validation error detected: Value at 'image.bytes' failed to satisfy constraint: "
            f"Member must have length less than or equal to {_MAX_IMAGE}"
        )
        return {"code": "ValidationException", "message": message}
    max_bytes = _MAX_SENTIMENT_LENGTH if name.endswith("Sentiment") else _MAX_LENGTH
    if name in OF_TEXTS and len(about) > max_bytes:
        message = (
            "Input text size exceeds limit. Max length of request text allowed is "
            f"{max_bytes} bytes while in this request the text size is {len(about)} bytes"
        )
        return {"code": "TextSizeLimitExceededException", "message": message}
    return None


def _error(code: str, message: str) -> Json:
    return {"error": {"code": code, "message": message}}


def _content_of(parameters: Json) -> bytes:
    """Return the content of a request, or else its address."""
    if "Text" in parameters:
        return str(parameters["Text"]).encode()
    image = parameters.get("Image", {})
    if "Bytes" in image:
        return bytes(image["Bytes"])
    place = image.get("S3Object", {})
    return _S3 + f"{place.get('Bucket', '')}/{place.get('Name', '')}".encode() if place else b""


def _batch(name: str, parameters: Json, answering: Answering) -> Json:
    texts = parameters["TextList"]
    if len(texts) > _MAX_IN_BATCH:
        message = f"Input list size exceeds limit. Max length allowed is {_MAX_IN_BATCH}"
        return _error("BatchSizeLimitExceededException", message)
    results: Dict[str, List[Json]] = {"ResultList": [], "ErrorList": []}
    for index, text in enumerate(texts):
        outcome = _single(name, {"Text": text}, answering)
        if "answer" in outcome:
            results["ResultList"].append({"Index": index, **outcome["answer"]})
            continue
        code = _own_code(name, outcome["error"]["code"])
        if code not in _PER_TEXT_CODES:
            return outcome
        error_fields = {"ErrorCode": code, "ErrorMessage": outcome["error"]["message"]}
        results["ErrorList"].append({"Index": index, **error_fields})
    return {"answer": results}


def _filtered(name: str, parameters: Json, answer: Json) -> Json:
    """Remove the parts of an answer that a request excludes."""
    if name in _MIN_SCORES:
        records, bound_name, default = _MIN_SCORES[name]
        bound = parameters.get(bound_name, default)
        kept = [
            result for result in answer.get(records, []) if result.get("Confidence", 100) >= bound
        ]
        return {**answer, records: kept[: parameters.get("MaxLabels", len(kept))]}
    if name == "DetectFaces":
        wanted = {"DEFAULT", *(parameters.get("Attributes") or ())}
        faces = [_requested_attributes(face, wanted) for face in answer.get("FaceDetails", [])]
        return {**answer, "FaceDetails": faces}
    return answer


def _requested_attributes(face: Json, wanted: Any) -> Json:
    return {
        field: value
        for field, value in face.items()
        if field not in _ATTRIBUTES or _ATTRIBUTES[field] in wanted or "ALL" in wanted
    }


def report_answers(name: str, parameters: Json, outcome: Json, hearing: Hearing) -> None:
    """Report the answer of a service to each content of a request.

    Args:
        name: name of the operation.
        parameters: parameters of the request.
        outcome: `{"answer": …}` or `{"error": …}` of the whole request.
        hearing: callback for each operation, content and answer.
    """
    if "TextList" not in parameters:
        hearing(method_of(name), _content_of(parameters), outcome)
        return
    for index, text in enumerate(parameters["TextList"]):
        text_outcome = (
            outcome if "error" in outcome else _outcome_in_batch(outcome["answer"], index)
        )
        if text_outcome is not None:
            hearing(method_of(name), str(text).encode(), text_outcome)


def _outcome_in_batch(answer: Json, index: int) -> Optional[Json]:
    """Return the answer of a batch to one of its texts."""
    for item in answer.get("ResultList", []):
        if item.get("Index") == index:
            return {"answer": {key: value for key, value in item.items() if key != "Index"}}
    for item in answer.get("ErrorList", []):
        if item.get("Index") == index:
            return _error(item.get("ErrorCode", ""), item["ErrorMessage"])
    return None
