"""Parses requests to Azure's services, and composes their answers, as plain JSON.

Engines and recordings use the field names of clients, `confidence_scores`; the services write
`confidenceScores`.
"""

from __future__ import annotations

import re
import threading
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple
from urllib.parse import parse_qs, urlsplit

from ciguard.levels.app.in_target.asking import Answering, Hearing, Json, UnknownOperationError
from ciguard.levels.app.in_target.under_way import UnderWay
from ciguard.levels.app.providers.azure.in_target.faces import (
    are_faces,
    operation_of,
    requested_faces,
)

STREAM = "application/octet-stream"
"""Content type of a request that contains the image, and not its address."""
_KIND_OPERATIONS = {
    "SentimentAnalysis": "analyze_sentiment", "EntityRecognition": "recognize_entities",
    "KeyPhraseExtraction": "extract_key_phrases", "LanguageDetection": "detect_language",
}  # fmt: skip
_PATH_OPERATIONS = {
    "sentiment": "analyze_sentiment", "entities/recognition/general": "recognize_entities",
    "keyPhrases": "extract_key_phrases", "languages": "detect_language",
}  # fmt: skip
"""Operations by the paths of versions 3 of the service."""
_KINDS = {operation: kind for kind, operation in _KIND_OPERATIONS.items()}
_MAX_LENGTH = 5_120
"""Maximum length of a text, in characters."""
_MAX_DOCUMENTS = {"recognize_entities": 5, "detect_language": 1000}
_MAX_OTHERS = 10
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
"""Parts of an answer that are returned only on request."""
_PRINTED_TEXT_FIELDS = {"language", "text_angle", "orientation", "regions"}
_READ_FIELDS = {"status", "created_date_time", "last_updated_date_time", "analyze_result"}
"""Parts of a text answer that only one of the two text operations returns."""
_STATUS = re.compile(r"[45]\d\d")
_STATUSES = {
    "INVALID_ARGUMENT": 400, "OUT_OF_RANGE": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403,
    "FAILED_PRECONDITION": 403, "NOT_FOUND": 404, "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNKNOWN": 500, "CANCELLED": 500, "ABORTED": 500,
    "DATA_LOSS": 500, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}  # fmt: skip
"""Statuses of HTTP by codes of gRPC; recordings have the status itself. Other codes are of one
document.
"""
_CODES = {
    400: "InvalidRequest", 401: "401", 403: "AccessDenied", 404: "NotFound", 409: "Conflict",
    415: "UnsupportedMediaType", 429: "429", 501: "NotSupported", 503: "ServiceUnavailable",
    504: "Timeout",
}  # fmt: skip
_INTERNAL_CODE = "InternalServerError"
_RETRY_AFTER_S = 1
"""Delay before each retry of a client in seconds; the default delays sum to minutes."""
_OBJECT = "object_property"
"""Name in the client of the field that the service calls `object`."""
_WORDS = re.compile(r"_(\w)")
_CAPITALS = re.compile(r"(?<=[a-z0-9])([A-Z])")

Reply = Tuple[int, Dict[str, str], Json]
"""Status, headers and content of a response."""


@dataclass(frozen=True)
class AzureRequest:
    """A request to a service of Azure."""

    method: str
    """Method of HTTP."""
    url: str
    """Complete URL with its query; the address of a result is derived from it."""
    content: Json
    """Parsed JSON, or an image as bytes; None for an empty body."""

    @property
    def path(self) -> str:
        """Path of the URL."""
        return urlsplit(self.url).path

    @property
    def documents(self) -> List[Json]:
        """Texts of the request; none for images."""
        if self.path.endswith(_ANY_TEXTS):
            return list(self.content["analysisInput"]["documents"])
        return list(self.content["documents"]) if _TEXTS.fullmatch(self.path) else []

    @property
    def about(self) -> bytes:
        """Content of an image, or its address."""
        if isinstance(self.content, bytes):
            return self.content
        return str((self.content or {}).get("url", "")).encode()

    @property
    def read(self) -> Optional[str]:
        """Number of the text recognition whose result is requested; empty for a new one."""
        match = _READ.fullmatch(self.path)
        return None if match is None else match["number"] or ""

    @property
    def operation(self) -> str:
        """Method name of the operation; empty if it is unknown."""
        if self.path.endswith(_ANY_TEXTS):
            return _KIND_OPERATIONS.get(self.content["kind"], "")
        texts = _TEXTS.fullmatch(self.path)
        if texts:
            return _PATH_OPERATIONS.get(texts["name"], "")
        if self.read is not None:
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


class Reads:
    """Images whose text recognition was started. Thread-safe."""

    _MAX_IMAGES = 100
    _MAX_BYTES = 256 * 2**20

    def __init__(self) -> None:
        self.under_way = UnderWay()
        self._about: Dict[str, bytes] = {}
        self._lock = threading.Lock()

    def begin(self, about: bytes) -> str:
        """Start a text recognition, and return its number: 36 characters, as in the service."""
        number = str(uuid.uuid4())
        self.keep(number, about)
        self.under_way.begin(number)
        return number

    def keep(self, number: str, about: bytes) -> None:
        """Store the image of a number; the oldest ones are removed eventually."""
        with self._lock:
            self._about[number] = about
            while (
                len(self._about) > self._MAX_IMAGES
                or sum(map(len, self._about.values())) > self._MAX_BYTES
            ):
                del self._about[next(iter(self._about))]

    def about(self, number: str) -> Optional[bytes]:
        """Return the image of a number; None if the number is unknown."""
        with self._lock:
            return self._about.get(number)


def answer_request(request: AzureRequest, answering: Answering, reads: Reads) -> Reply:
    """Return the reply to a request, which may be a refusal.

    Args:
        request: the request.
        answering: function that answers an operation about a content.
        reads: text recognitions that were started before.

    Raises:
        UnknownOperationError: if the operation is not supported.
    """
    operation = request.operation
    if not operation:
        raise UnknownOperationError(f"azure {request.method} {request.path}")  # noqa: EM102, TRY003 - short
    if are_texts(request.path):
        return _documents_reply(request, answering)
    if request.read == "":
        base = request.url.partition("/read/")[0]
        number = reads.begin(request.about)
        return 202, {"Operation-Location": f"{base}/read/analyzeResults/{number}"}, {}
    about = reads.about(request.read) or b"" if request.read else request.about
    outcome = answering(operation, about)
    if outcome.get("under_way") and reads.under_way.is_met(request.read or ""):
        return 200, {}, {"status": "running"}
    if "error" in outcome:
        return refusal_reply(outcome["error"])
    return 200, {}, _camel(_filtered(request, outcome["answer"]))


def refusal_reply(error: Json) -> Reply:
    """Return the refusal of a request.

    Args:
        error: `code` of gRPC or HTTP, and `message`.
    """
    status = _status(error["code"]) or 500
    headers = {"Retry-After": f"{_RETRY_AFTER_S}"} if status in {429, 503} else {}
    error_fields = {"code": _CODES.get(status, _INTERNAL_CODE), "message": error["message"]}
    return status, headers, {"error": error_fields}


def _status(code: str) -> Optional[int]:
    """Return the HTTP status of a code; None for a code of a single document."""
    return int(code) if _STATUS.fullmatch(code) else _STATUSES.get(code)


def _documents_reply(request: AzureRequest, answering: Answering) -> Reply:
    operation, documents = request.operation, request.documents
    max_documents = _MAX_DOCUMENTS.get(operation, _MAX_OTHERS)
    if not 0 < len(documents) <= max_documents:
        return _refused_batch(len(documents), max_documents)
    results: Dict[str, Any] = {"documents": [], "errors": [], "modelVersion": "latest"}
    for document in documents:
        outcome = _document_outcome(operation, str(document["text"]), answering)
        if "answer" in outcome:
            results["documents"].append(
                {"id": document["id"], "warnings": [], **_camel(outcome["answer"])}
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
    message = f"Batch request contains too many records. Max {max_documents} records are permitted."
    if not count:
        message = "Missing input documents."
    inner = {"code": "InvalidDocumentBatch", "message": message}
    error = {"code": "InvalidRequest", "message": message, "innererror": inner}
    return 400, {}, {"error": error}


def _document_outcome(operation: str, text: str, answering: Answering) -> Json:
    message = "" if text.strip() else "Document text is empty."
    if len(text) > _MAX_LENGTH:
        message = (
            "A document within the request was too large to be processed. Limit document size to: "
            f"{_MAX_LENGTH} text elements."
        )
    if message:
        return {"error": {"code": "InvalidDocument", "message": message}}
    return answering(operation, text.encode())


def _document_error(error: Json) -> Json:
    inner = {"code": "InvalidDocument", "message": error["message"]}
    error_fields = {"code": "InvalidArgument", "message": "Invalid document in request."}
    return {**error_fields, "innererror": inner}


def _filtered(request: AzureRequest, answer: Json) -> Json:
    """Remove the parts of an answer that a request excludes."""
    if request.operation.startswith("recognize_printed_text"):
        return {key: value for key, value in answer.items() if key not in _READ_FIELDS}
    if request.operation == _RESULT:
        return {key: value for key, value in answer.items() if key not in _PRINTED_TEXT_FIELDS}
    query = parse_qs(urlsplit(request.url).query)
    if are_faces(request.path):
        return requested_faces(answer or [], query)
    if _IMAGE.fullmatch(request.path):
        wanted = {f"{_snake_name(name)}_result" for name in _comma_separated(query.get("features"))}
    elif request.path.endswith("/describe"):
        wanted = {"description"}
    elif request.path.endswith("/analyze"):
        named = _comma_separated(query.get("visualFeatures")) or ["Categories"]
        wanted = {_snake_name(name[:1].lower() + name[1:]) for name in named}
    else:
        return answer
    return {key: value for key, value in answer.items() if key not in _FEATURES or key in wanted}


def _comma_separated(values: Optional[List[str]]) -> List[str]:
    return [part for value in values or () for part in value.split(",")]


def _camel(content: Json) -> Json:
    """Return a content with the names of the service, such as `confidenceScores`."""
    return _renamed(content, _camel_name)


def _camel_name(name: str) -> str:
    return "object" if name == _OBJECT else _WORDS.sub(lambda match: match[1].upper(), name)


def _snake_name(name: str) -> str:
    return (
        _OBJECT if name == "object" else _CAPITALS.sub(lambda match: f"_{match[1].lower()}", name)
    )


def _renamed(content: Json, rename: Callable[[str], str]) -> Json:
    if isinstance(content, dict):
        return {rename(key): _renamed(item, rename) for key, item in content.items()}
    if isinstance(content, list):
        return [_renamed(item, rename) for item in content]
    return content


# --- observed answers ----------------------------------------------------------------------------


def report_answers(request: AzureRequest, reply: Reply, reads: Reads, hearing: Hearing) -> None:
    """Report the answer of a service to each content of a request.

    Args:
        request: the request.
        reply: the response; its content is None if it is not JSON.
        reads: text recognitions that were started before.
        hearing: callback for each operation, content and answer.
    """
    if request.read == "":
        number = reply[1].get("Operation-Location", "").rpartition("/")[2]
        reads.keep(number, request.about)
        return
    operation = request.operation
    if not operation:
        return
    outcome = _outcome(reply)
    if are_texts(request.path):
        for document in request.documents:
            hearing(
                operation,
                str(document["text"]).encode(),
                _outcome_in_batch(document["id"], outcome),
            )
    elif not _is_under_way(outcome):
        about = reads.about(request.read) or b"" if request.read else request.about
        hearing(operation, about, outcome)


def _is_under_way(outcome: Json) -> bool:
    answer = outcome.get("answer")
    return isinstance(answer, dict) and answer.get("status") in {"running", "notStarted"}


def _outcome(reply: Reply) -> Json:
    status, _, content = reply
    content = _renamed({} if content is None else content, _snake_name)
    if status >= 400:  # noqa: PLR2004 - HTTP errors
        message = content.get("error", {}).get("message", "")
        return {"error": {"code": f"{status}", "message": str(message)}}
    return {"answer": content}


def _outcome_in_batch(number: str, outcome: Json) -> Json:
    """Return the answer to one document of a batch."""
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
