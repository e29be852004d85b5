"""Parses requests to Azure's services, and composes their answers, as plain JSON.

Engines and recordings use the field names of clients, such as `confidence_scores`; the services
write `confidenceScores`.
"""

from __future__ import annotations

import re
import threading
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple
from urllib.parse import parse_qs, urlsplit

from ciguard.levels.app.in_target.asking import (
    AnswerCallback,
    AnswerFunction,
    Json,
    UnknownOperationError,
)
from ciguard.levels.app.in_target.running_jobs import RunningJobs
from ciguard.levels.app.providers.azure.in_target.faces import (
    are_faces,
    operation_of,
    requested_faces,
)

STREAM = "application/octet-stream"
"""Content type of a request that contains an image instead of its address."""
_KIND_OPERATIONS = {
    "SentimentAnalysis": "analyze_sentiment", "EntityRecognition": "recognize_entities",
    "KeyPhraseExtraction": "extract_key_phrases", "LanguageDetection": "detect_language",
}  # fmt: skip
_PATH_OPERATIONS = {
    "sentiment": "analyze_sentiment", "entities/recognition/general": "recognize_entities",
    "keyPhrases": "extract_key_phrases", "languages": "detect_language",
}  # fmt: skip
"""Last part of the path in version 3 of the service → operation."""
_KINDS = {operation: kind for kind, operation in _KIND_OPERATIONS.items()}
_MAX_LENGTH = 5_120
"""Maximum length of a text, in characters."""
_MAX_DOCUMENTS = {"recognize_entities": 5, "detect_language": 1000}
"""Operation → maximum number of documents in a request."""
_DEFAULT_MAX_DOCUMENTS = 10
_IMAGE_OPERATIONS = {
    "tag": "tag_image", "detect": "detect_objects", "describe": "describe_image",
    "analyze": "analyze_image", "ocr": "recognize_printed_text",
}  # fmt: skip
_TEXTS = re.compile(r".*/text/analytics/v3[\w.-]*/(?P<name>[\w/]+)")
_ANY_TEXTS = "/:analyze-text"
_IMAGE = re.compile(r".*/imageanalysis:analyze")
_VISION = re.compile(r"/vision/v3\.\d/(?P<name>\w+)")
_READ = re.compile(r"/vision/v3\.\d/read/(?P<step>analyze|analyzeResults/(?P<number>[\w-]+))")
_RESULT = "get_read_result"
_FEATURES = {
    "adult", "brands", "categories", "color", "description", "faces", "image_type", "objects",
    "tags", "caption_result", "dense_captions_result", "objects_result", "people_result",
    "read_result", "smart_crops_result", "tags_result",
}  # fmt: skip
"""Parts of an image analysis that are returned only on request."""
_PRINTED_TEXT_FIELDS = {"language", "text_angle", "orientation", "regions"}
"""Fields that only `recognize_printed_text` returns."""
_READ_FIELDS = {"status", "created_date_time", "last_updated_date_time", "analyze_result"}
"""Fields that only `get_read_result` returns."""
_STATUS = re.compile(r"[45]\d\d")
_STATUSES = {
    "INVALID_ARGUMENT": 400, "OUT_OF_RANGE": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403,
    "FAILED_PRECONDITION": 403, "NOT_FOUND": 404, "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNKNOWN": 500, "CANCELLED": 500, "ABORTED": 500,
    "DATA_LOSS": 500, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}  # fmt: skip
"""Code of gRPC → HTTP status. Recordings have the status itself.

Other codes concern a single document.
"""
_CODES = {
    400: "InvalidRequest", 401: "401", 403: "AccessDenied", 404: "NotFound", 409: "Conflict",
    415: "UnsupportedMediaType", 429: "429", 501: "NotSupported", 503: "ServiceUnavailable",
    504: "Timeout",
}  # fmt: skip
_INTERNAL_CODE = "InternalServerError"
_RETRY_AFTER_S = 1
"""Delay before each retry of a client, in seconds; delays that clients choose sum to minutes."""
_SERVICE_NAMES = {"object_property": "object", "is_bw_img": "isBWImg"}
"""Client's name of a field → name in the service, where these differ in more than the case."""
_CLIENT_NAMES = {name: own for own, name in _SERVICE_NAMES.items()}
_WORDS = re.compile(r"_(\w)")
_CAPITALS = re.compile(r"(?<=[a-z0-9])([A-Z])")

Reply = Tuple[int, Dict[str, str], Json]
"""HTTP status, headers and content of a response."""


@dataclass(frozen=True)
class AzureRequest:
    """A request to a service of Azure."""

    method: str
    """HTTP method, such as `POST`."""
    url: str
    """Complete URL with its query."""
    content: Json
    """Parsed JSON, or an image as bytes; None for an empty body."""

    @property
    def path(self) -> str:
        """Path of the URL."""
        return urlsplit(self.url).path

    @property
    def documents(self) -> List[Json]:
        """Texts of the request, each with `id` and `text`; empty for a request about an image."""
        if self.path.endswith(_ANY_TEXTS):
            return list(self.content["analysisInput"]["documents"])
        return list(self.content["documents"]) if _TEXTS.fullmatch(self.path) else []

    @property
    def image(self) -> bytes:
        """Content of the image, or its address."""
        if isinstance(self.content, bytes):
            return self.content
        return str((self.content or {}).get("url", "")).encode()

    @property
    def read_number(self) -> Optional[str]:
        """Number of the text recognition whose result is requested.

        It is empty if the request starts a text recognition, and None for other requests.
        """
        match = _READ.fullmatch(self.path)
        return None if match is None else match["number"] or ""

    @property
    def operation(self) -> str:
        """Name of the client's method for the operation; empty if the operation is unknown."""
        if self.path.endswith(_ANY_TEXTS):
            return _KIND_OPERATIONS.get(self.content["kind"], "")
        texts = _TEXTS.fullmatch(self.path)
        if texts:
            return _PATH_OPERATIONS.get(texts["name"], "")
        if self.read_number is not None:
            return _RESULT
        is_stream = isinstance(self.content, bytes)
        if _IMAGE.fullmatch(self.path):
            return "analyze" if is_stream else "analyze_from_url"
        match = _VISION.fullmatch(self.path)
        name = _IMAGE_OPERATIONS.get(match["name"], "") if match else ""
        if not name:
            return operation_of(self.path, is_stream=is_stream)
        return f"{name}_in_stream" if is_stream else name


def are_texts(path: str) -> bool:
    """Return whether requests to a path contain texts."""
    return path.endswith(_ANY_TEXTS) or _TEXTS.fullmatch(path) is not None


class ReadOperations:
    """Images whose text recognition was started. The class is thread-safe."""

    _MAX_IMAGES = 100
    _MAX_BYTES = 256 * 2**20

    def __init__(self) -> None:
        self.running_jobs = RunningJobs()
        self._images: Dict[str, bytes] = {}
        self._lock = threading.Lock()

    def start(self, image: bytes) -> str:
        """Start a text recognition, and return its number: a UUID of 36 characters."""
        number = str(uuid.uuid4())
        self.store(number, image)
        self.running_jobs.start(number)
        return number

    def store(self, number: str, image: bytes) -> None:
        """Store the image of a text recognition, and remove the oldest images beyond the limits."""
        with self._lock:
            self._images[number] = image
            while (
                len(self._images) > self._MAX_IMAGES
                or sum(map(len, self._images.values())) > self._MAX_BYTES
            ):
                del self._images[next(iter(self._images))]

    def image(self, number: str) -> Optional[bytes]:
        """Return the image of a text recognition; None if its number is unknown or too old."""
        with self._lock:
            return self._images.get(number)


def answer_request(
    request: AzureRequest, get_answer: AnswerFunction, read_operations: ReadOperations
) -> Reply:
    """Return the reply to a request, which may be a refusal.

    Args:
        request: the request.
        get_answer: function that returns the outcome of an operation about a content.
        read_operations: text recognitions of earlier requests.

    Raises:
        UnknownOperationError: if the operation is not supported.
    """
    operation = request.operation
    if not operation:
        raise UnknownOperationError(f"azure {request.method} {request.path}")  # noqa: EM102, TRY003 - a name, not a sentence
    if are_texts(request.path):
        return _documents_reply(request, get_answer)
    if request.read_number == "":
        base = request.url.partition("/read/")[0]
        number = read_operations.start(request.image)
        return 202, {"Operation-Location": f"{base}/read/analyzeResults/{number}"}, {}
    image = (
        read_operations.image(request.read_number) or b"" if request.read_number else request.image
    )
    outcome = get_answer(operation, image)
    if outcome.get("under_way") and read_operations.running_jobs.is_running(
        request.read_number or ""
    ):
        return 200, {}, {"status": "running"}
    if "error" in outcome:
        return refusal_reply(outcome["error"])
    return 200, {}, _with_service_names(_requested_parts(request, outcome["answer"]))


def refusal_reply(error: Json) -> Reply:
    """Return the reply that refuses a request.

    Args:
        error: dictionary with the `code`, of gRPC or an HTTP status, and the `message`.
    """
    status = _status(error["code"]) or 500
    headers = {"Retry-After": f"{_RETRY_AFTER_S}"} if status in {429, 503} else {}
    error_fields = {"code": _CODES.get(status, _INTERNAL_CODE), "message": error["message"]}
    return status, headers, {"error": error_fields}


def _status(code: str) -> Optional[int]:
    """Return the HTTP status of an error code; None if the error concerns a single document."""
    return int(code) if _STATUS.fullmatch(code) else _STATUSES.get(code)


def _documents_reply(request: AzureRequest, get_answer: AnswerFunction) -> Reply:
    """Return the reply to a request about texts, with the outcome of each text."""
    operation, documents = request.operation, request.documents
    max_documents = _MAX_DOCUMENTS.get(operation, _DEFAULT_MAX_DOCUMENTS)
    if not 0 < len(documents) <= max_documents:
        return _refused_batch(len(documents), max_documents)
    results: Dict[str, Any] = {"documents": [], "errors": [], "modelVersion": "latest"}
    for document in documents:
        outcome = _document_outcome(operation, str(document["text"]), get_answer)
        if "answer" in outcome:
            results["documents"].append(
                {"id": document["id"], "warnings": [], **_with_service_names(outcome["answer"])}
            )
        elif _status(outcome["error"]["code"]) not in {None, 400}:
            return refusal_reply(outcome["error"])
        else:
            results["errors"].append(
                {"id": document["id"], "error": _document_error(outcome["error"])}
            )
    if not request.path.endswith(_ANY_TEXTS):
        return 200, {}, results
    return 200, {}, {"kind": f"{_KINDS[operation]}Results", "results": results}


def _refused_batch(count: int, max_documents: int) -> Reply:
    """Return the reply that refuses a request with no text or too many texts."""
    message = f"Batch request contains too many records. Max {max_documents} records are permitted."
    if not count:
        message = "Missing input documents."
    inner = {"code": "InvalidDocumentBatch", "message": message}
    error = {"code": "InvalidRequest", "message": message, "innererror": inner}
    return 400, {}, {"error": error}


def _document_outcome(operation: str, text: str, get_answer: AnswerFunction) -> Json:
    """Return the outcome of one text, which is an error if it is empty or too long."""
    message = "" if text.strip() else "Document text is empty."
    if len(text) > _MAX_LENGTH:
        message = (
            "A document within the request was too large to be processed. Limit document size to: "
            f"{_MAX_LENGTH} text elements."
        )
    if message:
        return {"error": {"code": "InvalidDocument", "message": message}}
    return get_answer(operation, text.encode())


def _document_error(error: Json) -> Json:
    """Return the error of one text in the format of the service."""
    inner = {"code": "InvalidDocument", "message": error["message"]}
    error_fields = {"code": "InvalidArgument", "message": "Invalid document in request."}
    return {**error_fields, "innererror": inner}


def _requested_parts(request: AzureRequest, answer: Json) -> Json:
    """Return an answer without the parts that the request excludes."""
    if request.operation.startswith("recognize_printed_text"):
        return {key: value for key, value in answer.items() if key not in _READ_FIELDS}
    if request.operation == _RESULT:
        return {key: value for key, value in answer.items() if key not in _PRINTED_TEXT_FIELDS}
    query = parse_qs(urlsplit(request.url).query)
    if are_faces(request.path):
        return requested_faces(answer or [], query)
    if _IMAGE.fullmatch(request.path):
        requested = {
            f"{_snake_name(name)}_result" for name in _comma_separated(query.get("features"))
        }
    elif request.path.endswith("/describe"):
        requested = {"description"}
    elif request.path.endswith("/analyze"):
        features = _comma_separated(query.get("visualFeatures")) or ["Categories"]
        requested = {_snake_name(name[:1].lower() + name[1:]) for name in features}
    else:
        return answer
    return {key: value for key, value in answer.items() if key not in _FEATURES or key in requested}


def _comma_separated(values: Optional[List[str]]) -> List[str]:
    return [part for value in values or () for part in value.split(",")]


def _with_service_names(content: Json) -> Json:
    """Return a content with the service's names of fields, such as `confidenceScores`."""
    return _rename_fields(content, _camel_name)


def _camel_name(name: str) -> str:
    return _SERVICE_NAMES.get(name) or _WORDS.sub(lambda match: match[1].upper(), name)


def _snake_name(name: str) -> str:
    return _CLIENT_NAMES.get(name) or _CAPITALS.sub(lambda match: f"_{match[1].lower()}", name)


def _rename_fields(content: Json, rename: Callable[[str], str]) -> Json:
    """Return JSON in which a function has renamed all keys."""
    if isinstance(content, dict):
        return {rename(key): _rename_fields(item, rename) for key, item in content.items()}
    if isinstance(content, list):
        return [_rename_fields(item, rename) for item in content]
    return content


# --- observed answers ----------------------------------------------------------------------------


def report_answers(
    request: AzureRequest, reply: Reply, read_operations: ReadOperations, on_answer: AnswerCallback
) -> None:
    """Report the outcome of each content in a request to a callback.

    Args:
        request: the request.
        reply: the response; its content is None if it is not JSON.
        read_operations: text recognitions of earlier requests.
        on_answer: callback, which gets the operation, the content and the outcome of each request.
    """
    if request.read_number == "":
        number = reply[1].get("Operation-Location", "").rpartition("/")[2]
        read_operations.store(number, request.image)
        return
    operation = request.operation
    if not operation:
        return
    outcome = _outcome(reply)
    if are_texts(request.path):
        for document in request.documents:
            on_answer(
                operation,
                str(document["text"]).encode(),
                _outcome_in_batch(document["id"], outcome),
            )
    elif not _is_running(outcome):
        image = (
            read_operations.image(request.read_number) or b""
            if request.read_number
            else request.image
        )
        on_answer(operation, image, outcome)


def _is_running(outcome: Json) -> bool:
    """Return whether the outcome is the status of an unfinished text recognition."""
    answer = outcome.get("answer")
    return isinstance(answer, dict) and answer.get("status") in {"running", "notStarted"}


def _outcome(reply: Reply) -> Json:
    """Return a response of the service as `{"answer": …}` or `{"error": …}`."""
    status, _, content = reply
    content = _rename_fields({} if content is None else content, _snake_name)
    if status >= 400:  # noqa: PLR2004 - HTTP statuses of errors start at 400
        message = content.get("error", {}).get("message", "")
        return {"error": {"code": f"{status}", "message": str(message)}}
    return {"answer": content}


def _outcome_in_batch(number: str, outcome: Json) -> Json:
    """Return the outcome of the document with a number in a batch."""
    if "error" in outcome:
        return outcome
    results = outcome["answer"].get("results", outcome["answer"])
    for document in results.get("documents", []):
        if document["id"] == number:
            return {"answer": {key: value for key, value in document.items() if key != "id"}}
    errors = [
        document["error"] for document in results.get("errors", []) if document["id"] == number
    ]
    error = errors[0] if errors else {}
    inner = error.get("innererror", error)
    return {
        "error": {"code": inner.get("code", "UNKNOWN"), "message": str(inner.get("message", ""))}
    }
