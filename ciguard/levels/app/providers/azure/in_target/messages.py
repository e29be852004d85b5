"""What requests to Azure's services ask, and how their answers are put together, as plain JSON.

Engines and recordings name things as the clients do, `confidence_scores`; the services write
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
    faces_asked_for,
    operation_of,
)

STREAM = "application/octet-stream"
"""Type of a request that holds an image, and does not name its place."""
_OF_KINDS = {
    "SentimentAnalysis": "analyze_sentiment", "EntityRecognition": "recognize_entities",
    "KeyPhraseExtraction": "extract_key_phrases", "LanguageDetection": "detect_language",
}  # fmt: skip
_OF_PATHS = {
    "sentiment": "analyze_sentiment", "entities/recognition/general": "recognize_entities",
    "keyPhrases": "extract_key_phrases", "languages": "detect_language",
}  # fmt: skip
"""Of versions 3 of the service."""
_KINDS = {operation: kind for kind, operation in _OF_KINDS.items()}
_MAX_LENGTH = 5_120
"""Letters of a text."""
_MAX_DOCUMENTS = {"recognize_entities": 5, "detect_language": 1000}
_MAX_OTHERS = 10
_OF_IMAGES = {
    "tag": "tag_image", "detect": "detect_objects", "describe": "describe_image",
    "analyze": "analyze_image", "ocr": "recognize_printed_text",
}  # fmt: skip
_TEXTS = re.compile(r".*/text/analytics/v3[\w.-]*/(?P<of>[\w/]+)")
_ANY_TEXTS = "/:analyze-text"
_IMAGE = re.compile(r".*/imageanalysis:analyze")
_VISION = re.compile(r"/vision/v3\.\d/(?P<of>\w+)")
_READ = re.compile(r"/vision/v3\.\d/read/(?P<step>analyze|analyzeResults/(?P<number>[\w-]+))")
_RESULT = "get_read_result"
_FEATURES = {
    "adult", "brands", "categories", "color", "description", "faces", "image_type", "objects",
    "tags", "caption_result", "dense_captions_result", "objects_result", "people_result",
    "read_result", "smart_crops_result", "tags_result",
}  # fmt: skip
"""Parts of an answer that are told only if they are asked for."""
_OF_PRINT = {"language", "text_angle", "orientation", "regions"}
_OF_READ = {"status", "created_date_time", "last_updated_date_time", "analyze_result"}
"""Parts of what is written, by the one way to read it or the other."""
_STATUS = re.compile(r"[45]\d\d")
_STATUSES = {
    "INVALID_ARGUMENT": 400, "OUT_OF_RANGE": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403,
    "FAILED_PRECONDITION": 403, "NOT_FOUND": 404, "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNKNOWN": 500, "CANCELLED": 500, "ABORTED": 500,
    "DATA_LOSS": 500, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}  # fmt: skip
"""By codes of gRPC; a recording has the status itself. Others are of one document of several."""
_CODES = {
    400: "InvalidRequest", 401: "401", 403: "AccessDenied", 404: "NotFound", 409: "Conflict",
    415: "UnsupportedMediaType", 429: "429", 501: "NotSupported", 503: "ServiceUnavailable",
    504: "Timeout",
}  # fmt: skip
_FAILS = "InternalServerError"
_RETRY_AFTER_S = 1
"""What clients wait before they ask again, a few times; without that, it is minutes in all."""
_OBJECT = "object_property"
"""How the client calls what the service calls `object`."""
_WORDS = re.compile(r"_(\w)")
_CAPITALS = re.compile(r"(?<=[a-z0-9])([A-Z])")

Reply = Tuple[int, Dict[str, str], Json]
"""Status, headers and content of a response."""


@dataclass(frozen=True)
class AzureRequest:
    """A request."""

    method: str
    """Of HTTP."""
    url: str
    """Whole, with its query: where an image is read, the result will be as well."""
    content: Json
    """What JSON says; an image as it is; None where there is nothing."""

    @property
    def path(self) -> str:
        """What the service knows it by."""
        return urlsplit(self.url).path

    @property
    def documents(self) -> List[Json]:
        """Texts that it is about; none of what is about an image."""
        if self.path.endswith(_ANY_TEXTS):
            return list(self.content["analysisInput"]["documents"])
        return list(self.content["documents"]) if _TEXTS.fullmatch(self.path) else []

    @property
    def about(self) -> bytes:
        """An image, or where it lies."""
        if isinstance(self.content, bytes):
            return self.content
        return str((self.content or {}).get("url", "")).encode()

    @property
    def read(self) -> Optional[str]:
        """Number of the reading whose result it asks for; empty where it begins one."""
        found = _READ.fullmatch(self.path)
        return None if found is None else found["number"] or ""

    @property
    def operation(self) -> str:
        """What it asks, as the method of a client is called; empty of anything else."""
        if self.path.endswith(_ANY_TEXTS):
            return _OF_KINDS.get(self.content["kind"], "")
        texts = _TEXTS.fullmatch(self.path)
        if texts:
            return _OF_PATHS.get(texts["of"], "")
        if self.read is not None:
            return _RESULT
        is_stream = isinstance(self.content, bytes)
        if _IMAGE.fullmatch(self.path):
            return "analyze" if is_stream else "analyze_from_url"
        found = _VISION.fullmatch(self.path)
        name = _OF_IMAGES.get(found["of"], "") if found else ""
        if not name:
            return operation_of(self.path, is_stream=is_stream)
        return f"{name}_in_stream" if is_stream else name


def are_texts(path: str) -> bool:
    """Return whether requests to a path are about texts."""
    return path.endswith(_ANY_TEXTS) or _TEXTS.fullmatch(path) is not None


class Reads:
    """Images that are being read, of which somebody will ask for the result. Thread-safe."""

    _MAX_IMAGES = 100
    _MAX_BYTES = 256 * 2**20

    def __init__(self) -> None:
        self.under_way = UnderWay()
        self._about: Dict[str, bytes] = {}
        self._changing = threading.Lock()

    def begin(self, about: bytes) -> str:
        """Return a number for an image, of 36 letters as the service's is."""
        number = str(uuid.uuid4())
        self.keep(number, about)
        self.under_way.begin(number)
        return number

    def keep(self, number: str, about: bytes) -> None:
        """Note which image a number is of; the oldest ones are forgotten in time."""
        with self._changing:
            self._about[number] = about
            while (
                len(self._about) > self._MAX_IMAGES
                or sum(map(len, self._about.values())) > self._MAX_BYTES
            ):
                del self._about[next(iter(self._about))]

    def about(self, number: str) -> Optional[bytes]:
        """Return the image of a number; None if it is of none."""
        with self._changing:
            return self._about.get(number)


def answered(asked: AzureRequest, answering: Answering, reads: Reads) -> Reply:
    """Return a service's answer to a request, or its refusal.

    Args:
        asked: the request.
        answering: is asked for each thing that it wants to know.
        reads: that were begun before.

    Raises:
        UnknownOperationError: if it asks what no answers are made for.
    """
    operation = asked.operation
    if not operation:
        raise UnknownOperationError(f"azure {asked.method} {asked.path}")  # noqa: EM102, TRY003 - no text
    if are_texts(asked.path):
        return _of_documents(asked, answering)
    if asked.read == "":
        base = asked.url.partition("/read/")[0]
        number = reads.begin(asked.about)
        return 202, {"Operation-Location": f"{base}/read/analyzeResults/{number}"}, {}
    about = reads.about(asked.read) or b"" if asked.read else asked.about
    said = answering(operation, about)
    if said.get("under_way") and reads.under_way.is_met(asked.read or ""):
        return 200, {}, {"status": "running"}
    if "error" in said:
        return refused(said["error"])
    return 200, {}, _camel(_asked_for(asked, said["answer"]))


def refused(error: Json) -> Reply:
    """Return how a service refuses a request.

    Args:
        error: `code`, of gRPC or HTTP, and `message`.
    """
    status = _status(error["code"]) or 500
    headers = {"Retry-After": f"{_RETRY_AFTER_S}"} if status in {429, 503} else {}
    told = {"code": _CODES.get(status, _FAILS), "message": error["message"]}
    return status, headers, {"error": told}


def _status(code: str) -> Optional[int]:
    """Return the status of a code; None of one that only a single document is refused with."""
    return int(code) if _STATUS.fullmatch(code) else _STATUSES.get(code)


def _of_documents(asked: AzureRequest, answering: Answering) -> Reply:
    operation, documents = asked.operation, asked.documents
    most = _MAX_DOCUMENTS.get(operation, _MAX_OTHERS)
    if not 0 < len(documents) <= most:
        return _refused_batch(len(documents), most)
    found: Dict[str, Any] = {"documents": [], "errors": [], "modelVersion": "latest"}
    for one in documents:
        said = _of_document(operation, str(one["text"]), answering)
        if "answer" in said:
            found["documents"].append({"id": one["id"], "warnings": [], **_camel(said["answer"])})
        elif _status(said["error"]["code"]) not in {None, 400}:
            return refused(said["error"])
        else:
            found["errors"].append({"id": one["id"], "error": _error_of_one(said["error"])})
    if not asked.path.endswith(_ANY_TEXTS):
        return 200, {}, found
    return 200, {}, {"kind": f"{_KINDS[operation]}Results", "results": found}


def _refused_batch(count: int, most: int) -> Reply:
    message = f"Batch request contains too many records. Max {most} records are permitted."
    if not count:
        message = "Missing input documents."
    inner = {"code": "InvalidDocumentBatch", "message": message}
    error = {"code": "InvalidRequest", "message": message, "innererror": inner}
    return 400, {}, {"error": error}


def _of_document(operation: str, text: str, answering: Answering) -> Json:
    message = "" if text.strip() else "Document text is empty."
    if len(text) > _MAX_LENGTH:
        message = (
            "A document within the request was too large to be processed. Limit document size to: "
            f"{_MAX_LENGTH} text elements."
        )
    if message:
        return {"error": {"code": "InvalidDocument", "message": message}}
    return answering(operation, text.encode())


def _error_of_one(error: Json) -> Json:
    inner = {"code": "InvalidDocument", "message": error["message"]}
    told = {"code": "InvalidArgument", "message": "Invalid document in request."}
    return {**told, "innererror": inner}


def _asked_for(asked: AzureRequest, answer: Json) -> Json:
    """Leave out of an answer what a request does not ask for."""
    if asked.operation.startswith("recognize_printed_text"):
        return {key: one for key, one in answer.items() if key not in _OF_READ}
    if asked.operation == _RESULT:
        return {key: one for key, one in answer.items() if key not in _OF_PRINT}
    query = parse_qs(urlsplit(asked.url).query)
    if are_faces(asked.path):
        return faces_asked_for(answer or [], query)
    if _IMAGE.fullmatch(asked.path):
        wanted = {f"{_snake_name(one)}_result" for one in _several(query.get("features"))}
    elif asked.path.endswith("/describe"):
        wanted = {"description"}
    elif asked.path.endswith("/analyze"):
        named = _several(query.get("visualFeatures")) or ["Categories"]
        wanted = {_snake_name(one[:1].lower() + one[1:]) for one in named}
    else:
        return answer
    return {key: one for key, one in answer.items() if key not in _FEATURES or key in wanted}


def _several(values: Optional[List[str]]) -> List[str]:
    return [one for value in values or () for one in value.split(",")]


def _camel(content: Json) -> Json:
    """Return names as the services write them, `confidenceScores`."""
    return _renamed(content, _camel_name)


def _camel_name(name: str) -> str:
    return "object" if name == _OBJECT else _WORDS.sub(lambda found: found[1].upper(), name)


def _snake_name(name: str) -> str:
    return (
        _OBJECT if name == "object" else _CAPITALS.sub(lambda found: f"_{found[1].lower()}", name)
    )


def _renamed(content: Json, rename: Callable[[str], str]) -> Json:
    if isinstance(content, dict):
        return {rename(key): _renamed(one, rename) for key, one in content.items()}
    if isinstance(content, list):
        return [_renamed(one, rename) for one in content]
    return content


# --- what is heard -------------------------------------------------------------------------------


def heard(asked: AzureRequest, reply: Reply, reads: Reads, hearing: Hearing) -> None:
    """Tell what a service has said to each thing that a request asks.

    Args:
        asked: the request.
        reply: the response; its content is None if that is no JSON.
        reads: that were begun before.
        hearing: is told.
    """
    if asked.read == "":
        number = reply[1].get("Operation-Location", "").rpartition("/")[2]
        reads.keep(number, asked.about)
        return
    operation = asked.operation
    if not operation:
        return
    told = _told(reply)
    if are_texts(asked.path):
        for one in asked.documents:
            hearing(operation, str(one["text"]).encode(), _of_one(one["id"], told))
    elif not _is_under_way(told):
        about = reads.about(asked.read) or b"" if asked.read else asked.about
        hearing(operation, about, told)


def _is_under_way(told: Json) -> bool:
    answer = told.get("answer")
    return isinstance(answer, dict) and answer.get("status") in {"running", "notStarted"}


def _told(reply: Reply) -> Json:
    status, _, content = reply
    content = _renamed({} if content is None else content, _snake_name)
    if status >= 400:  # noqa: PLR2004 - as HTTP says
        message = content.get("error", {}).get("message", "")
        return {"error": {"code": f"{status}", "message": str(message)}}
    return {"answer": content}


def _of_one(number: str, told: Json) -> Json:
    """Return what is said of one document of several."""
    if "error" in told:
        return told
    results = told["answer"].get("results", told["answer"])
    for one in results.get("documents", []):
        if one["id"] == number:
            return {"answer": {key: value for key, value in one.items() if key != "id"}}
    errors = [one["error"] for one in results.get("errors", []) if one["id"] == number]
    error = errors[0] if errors else {}
    inner = error.get("innererror", error)
    return {
        "error": {"code": inner.get("code", "UNKNOWN"), "message": str(inner.get("message", ""))}
    }
