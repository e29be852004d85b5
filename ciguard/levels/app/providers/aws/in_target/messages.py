"""Parses requests to Rekognition and Comprehend, and composes their answers.

Requests and answers are in the format of boto3: names as the services write them, images as bytes.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple

from ciguard.levels.app.in_target.asking import (
    AnswerCallback,
    AnswerFunction,
    Json,
    UnknownOperationError,
)

IMAGE_OPERATIONS = {
    "DetectLabels": ("Labels",), "DetectFaces": ("FaceDetails",),
    "DetectText": ("TextDetections",), "DetectCustomLabels": ("CustomLabels",),
    "DetectModerationLabels": ("ModerationLabels", "ContentTypes"),
    "RecognizeCelebrities": ("CelebrityFaces", "UnrecognizedFaces"),
}  # fmt: skip
"""Operation of Rekognition → lists that its answers have even if they are empty."""
TEXT_OPERATIONS = {
    "DetectSentiment": (), "DetectEntities": ("Entities", "DocumentType", "Blocks", "Errors"),
    "DetectKeyPhrases": ("KeyPhrases",), "DetectDominantLanguage": ("Languages",),
    "DetectPiiEntities": ("Entities",),
    "ClassifyDocument": ("Classes", "Labels", "DocumentType", "Errors", "Warnings"),
    "BatchDetectSentiment": ("ResultList", "ErrorList"),
}  # fmt: skip
"""Operation of Comprehend → lists that its answers have even if they are empty."""
_MAX_LENGTH, _MAX_SENTIMENT_LENGTH = 100_000, 5_000
"""Maximum size of a text, and of a text for sentiment analysis, in bytes."""
_MAX_BATCH_SIZE = 25
"""Maximum number of texts in a batch."""
_MAX_IMAGE_BYTES = 5 * 2**20
_MIN_SCORES = {
    "DetectLabels": ("Labels", "MinConfidence", 55.0),
    "DetectModerationLabels": ("ModerationLabels", "MinConfidence", 50.0),
}
"""Operation → list of its answers, parameter for the minimum confidence, and its default."""
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
"""Code of gRPC → code of AWS; other codes are already those of AWS."""
_STATUSES = {
    "InternalServerError": 500, "InternalServerException": 500, "ServiceUnavailableException": 503,
}  # fmt: skip
"""Code of AWS → HTTP status; 400 for other codes."""
_PER_TEXT_CODES = {
    "InvalidRequestException", "TextSizeLimitExceededException", "UnsupportedLanguageException",
}  # fmt: skip
"""Codes of errors that concern a single text of a batch; with others, the whole request fails."""
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_S3 = b"s3://"

Reply = Tuple[int, Json]
"""Status and content of a response."""


def is_known(name: str) -> bool:
    """Return whether an operation, such as `DetectLabels`, is supported."""
    return name in IMAGE_OPERATIONS or name in TEXT_OPERATIONS


def method_of(name: str) -> str:
    """Return the method name of an operation, such as `detect_labels`."""
    return _CAPITALS.sub("_", name).lower()


def answer_request(name: str, parameters: Json, get_answer: AnswerFunction) -> Reply:
    """Return the reply to a request, which may be a refusal.

    Args:
        name: name of the operation, such as `DetectLabels`.
        parameters: parameters of the request.
        get_answer: function that returns the outcome of an operation about a content.

    Raises:
        UnknownOperationError: if the operation is not supported.
    """
    if not is_known(name):
        raise UnknownOperationError(method_of(name))
    outcome = (
        _batch(name, parameters, get_answer)
        if "TextList" in parameters
        else _single(name, parameters, get_answer)
    )
    if "error" in outcome:
        return refusal_reply(name, outcome["error"])
    lists = IMAGE_OPERATIONS.get(name) or TEXT_OPERATIONS.get(name, ())
    empty: Dict[str, Any] = {list_name: [] for list_name in lists}
    return 200, {**empty, **_requested_parts(name, parameters, outcome["answer"])}


def refusal_reply(name: str, error: Json) -> Reply:
    """Return the reply that refuses a request.

    Args:
        name: name of the operation, such as `DetectLabels`.
        error: dictionary with the `code`, of gRPC or AWS, and the `message`.
    """
    code = _aws_code(name, error["code"])
    return _STATUSES.get(code, 400), {"__type": code, "message": error["message"]}


def _aws_code(name: str, code: str) -> str:
    """Return the code of AWS for a code of gRPC, which may depend on the operation."""
    code = _CODES.get(code, code) if code.isascii() else _INTERNAL_CODE
    if code == _INVALID_CODE:
        return (
            "InvalidImageFormatException" if name in IMAGE_OPERATIONS else "InvalidRequestException"
        )
    if code == _INTERNAL_CODE:
        return "InternalServerException" if name in TEXT_OPERATIONS else "InternalServerError"
    return code


def _single(name: str, parameters: Json, get_answer: AnswerFunction) -> Json:
    """Return the outcome of a request about one content."""
    content = _content_of(parameters)
    problem = _too_large(name, content)
    if problem:
        return {"error": problem}
    outcome = get_answer(method_of(name), content)
    if content.startswith(_S3) and outcome.get("error", {}).get("code") == _INVALID_CODE:
        message = "Unable to get object metadata from S3. Check object key, region and/or access "
        return _error("InvalidS3ObjectException", f"{message}permissions.")
    return outcome


def _too_large(name: str, content: bytes) -> Json:
    """Return the error for a content that is too large; None for other contents."""
    if name in IMAGE_OPERATIONS and len(content) > _MAX_IMAGE_BYTES:
        message = (
            "1 validation error detected: Value at 'image.bytes' failed to satisfy constraint: "
            f"Member must have length less than or equal to {_MAX_IMAGE_BYTES}"
        )
        return {"code": "ValidationException", "message": message}
    max_bytes = _MAX_SENTIMENT_LENGTH if name.endswith("Sentiment") else _MAX_LENGTH
    if name in TEXT_OPERATIONS and len(content) > max_bytes:
        message = (
            "Input text size exceeds limit. Max length of request text allowed is "
            f"{max_bytes} bytes while in this request the text size is {len(content)} bytes"
        )
        return {"code": "TextSizeLimitExceededException", "message": message}
    return None


def _error(code: str, message: str) -> Json:
    return {"error": {"code": code, "message": message}}


def _content_of(parameters: Json) -> bytes:
    """Return the content of a request, or the address if the request has no content."""
    if "Text" in parameters:
        return str(parameters["Text"]).encode()
    image = parameters.get("Image", {})
    if "Bytes" in image:
        return bytes(image["Bytes"])
    location = image.get("S3Object", {})
    return (
        _S3 + f"{location.get('Bucket', '')}/{location.get('Name', '')}".encode()
        if location
        else b""
    )


def _batch(name: str, parameters: Json, get_answer: AnswerFunction) -> Json:
    """Return the outcome of a request about several texts."""
    texts = parameters["TextList"]
    if len(texts) > _MAX_BATCH_SIZE:
        message = f"Input list size exceeds limit. Max length allowed is {_MAX_BATCH_SIZE}"
        return _error("BatchSizeLimitExceededException", message)
    results: Dict[str, List[Json]] = {"ResultList": [], "ErrorList": []}
    for index, text in enumerate(texts):
        outcome = _single(name, {"Text": text}, get_answer)
        if "answer" in outcome:
            results["ResultList"].append({"Index": index, **outcome["answer"]})
            continue
        code = _aws_code(name, outcome["error"]["code"])
        if code not in _PER_TEXT_CODES:
            return outcome
        error_fields = {"ErrorCode": code, "ErrorMessage": outcome["error"]["message"]}
        results["ErrorList"].append({"Index": index, **error_fields})
    return {"answer": results}


def _requested_parts(name: str, parameters: Json, answer: Json) -> Json:
    """Return an answer without the parts that the request excludes."""
    if name in _MIN_SCORES:
        records, bound_name, default = _MIN_SCORES[name]
        bound = parameters.get(bound_name, default)
        confident = [
            result for result in answer.get(records, []) if result.get("Confidence", 100) >= bound
        ]
        return {**answer, records: confident[: parameters.get("MaxLabels", len(confident))]}
    if name == "DetectFaces":
        requested = {"DEFAULT", *(parameters.get("Attributes") or ())}
        faces = [_requested_attributes(face, requested) for face in answer.get("FaceDetails", [])]
        return {**answer, "FaceDetails": faces}
    return answer


def _requested_attributes(face: Json, requested: Any) -> Json:
    """Return a face without the attributes that the request does not name."""
    return {
        field: value
        for field, value in face.items()
        if field not in _ATTRIBUTES or _ATTRIBUTES[field] in requested or "ALL" in requested
    }


def report_answers(name: str, parameters: Json, outcome: Json, on_answer: AnswerCallback) -> None:
    """Report the outcome of each content in a request to a callback.

    Args:
        name: name of the operation.
        parameters: parameters of the request.
        outcome: `{"answer": …}` or `{"error": …}` of the whole request.
        on_answer: callback, which gets the operation, the content and the outcome of each request.
    """
    if "TextList" not in parameters:
        on_answer(method_of(name), _content_of(parameters), outcome)
        return
    for index, text in enumerate(parameters["TextList"]):
        text_outcome = (
            outcome if "error" in outcome else _outcome_in_batch(outcome["answer"], index)
        )
        if text_outcome is not None:
            on_answer(method_of(name), str(text).encode(), text_outcome)


def _outcome_in_batch(answer: Json, index: int) -> Optional[Json]:
    """Return the outcome of the text at an index of a batch; None if the answer has none."""
    for item in answer.get("ResultList", []):
        if item.get("Index") == index:
            return {"answer": {key: value for key, value in item.items() if key != "Index"}}
    for item in answer.get("ErrorList", []):
        if item.get("Index") == index:
            return _error(item.get("ErrorCode", ""), item["ErrorMessage"])
    return None
