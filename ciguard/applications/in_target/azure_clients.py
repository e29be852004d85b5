"""Azure's clients ask ciguard: what they send over HTTP is answered here, as the services would.

Clients of azure-core and of msrest send by requests, whose adapter is replaced. They write
requests, read responses and raise their exceptions as always; no credential is asked for.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from typing import Any, Callable, Dict, List, Tuple  # noqa: UP035 - Python 3.9 in the target
from urllib.parse import parse_qs, urlsplit

from ciguard.applications.in_target.asking import (
    Answering,
    Hearing,
    Json,
    UnknownOperationError,
    refuse_addresses,
)

_SERVICES = (".cognitiveservices.azure.com", ".cognitive.microsoft.com", ".services.ai.azure.com")
_OF_KINDS = {
    "SentimentAnalysis": "analyze_sentiment", "EntityRecognition": "recognize_entities",
    "KeyPhraseExtraction": "extract_key_phrases", "LanguageDetection": "detect_language",
}  # fmt: skip
_OF_PATHS = {
    "sentiment": "analyze_sentiment", "entities/recognition/general": "recognize_entities",
    "keyPhrases": "extract_key_phrases", "languages": "detect_language",
}  # fmt: skip
"""Of versions 3 of the service."""
_LONGEST = 5_120
"""Letters of a text."""
_OF_IMAGES = {
    "tag": "tag_image", "detect": "detect_objects", "describe": "describe_image",
    "analyze": "analyze_image", "ocr": "recognize_printed_text",
}  # fmt: skip
_VISION = re.compile(r"/vision/v3\.\d/(?P<of>\w+)")
_READ = re.compile(r"/vision/v3\.\d/read/(?P<step>analyze|analyzeResults/(?P<number>[\w-]+))")
_STREAM = "application/octet-stream"
_FEATURES = {
    "adult", "brands", "categories", "color", "description", "faces", "image_type", "objects",
    "tags", "caption_result", "dense_captions_result", "objects_result", "people_result",
    "read_result", "smart_crops_result", "tags_result",
}  # fmt: skip
"""Parts of an answer that are told only if they are asked for."""
_STATUSES = {"RESOURCE_EXHAUSTED": 429, "INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 403}
_OBJECT = "object_property"
"""How the client calls what the service calls `object`."""
_WORDS = re.compile(r"_(\w)")
_CAPITALS = re.compile(r"(?<=[a-z0-9])([A-Z])")

Reply = Tuple[int, Dict[str, str], Json]  # noqa: UP006
"""Status, headers and content of a response."""


def intercept(answering: Answering) -> None:
    """Have every client ask `answering`, whenever it was made."""
    about_reads: Dict[str, bytes] = {}  # noqa: UP006

    def send(_: Any, request: Any, **__: Any) -> Any:
        return _response(request, *_replied(request, answering, about_reads))

    _stand_between(send)
    _need_nothing()
    refuse_addresses(_SERVICES, "something of Azure, without its clients")


def observe(hearing: Hearing) -> None:
    """Have every client ask its service, and `hearing` told the answers."""
    about_reads: Dict[str, bytes] = {}  # noqa: UP006

    def send(inner: Any, request: Any, **named: Any) -> Any:
        body = _body(request)
        if not isinstance(request.body, (str, bytes, type(None))):  # it can be read once only
            is_sized = "Content-Length" in request.headers
            request.body = io.BytesIO(body) if is_sized else iter([body])
        response = inner.send(request, **named)
        _hear(request, body, response, about_reads, hearing)
        return response

    _stand_between(send)


def _stand_between(send: Callable[..., Any]) -> None:
    """Have clients of both kinds send by a function, which is given what else would."""
    clients = [_core(send), _msrest(send)]
    if not any(clients):
        msg = "neither azure.core nor msrest can be imported"
        raise ImportError(msg)


def _core(send: Callable[..., Any]) -> bool:
    try:
        from azure.core.pipeline.transport import RequestsTransport  # noqa: PLC0415 - likewise
    except ImportError:
        return False
    begin = RequestsTransport.open

    def begun(transport: Any) -> None:
        begin(transport)
        _mount(transport.session, send)

    setattr(RequestsTransport, "open", begun)  # noqa: B010 - its type is of one transport
    return True


def _need_nothing() -> None:
    """Have clients neither wait before they ask again, nor ask for a token."""
    with contextlib.suppress(ImportError):
        from azure.core.pipeline import policies  # noqa: PLC0415 - the application's
        from azure.core.pipeline.transport import RequestsTransport  # noqa: PLC0415 - likewise

        setattr(RequestsTransport, "sleep", lambda *_: None)  # noqa: B010 - as above
        setattr(policies.BearerTokenCredentialPolicy, "on_request", lambda *_: None)  # noqa: B010


def _msrest(send: Callable[..., Any]) -> bool:
    try:
        from msrest.universal_http.requests import RequestsHTTPSender  # noqa: PLC0415 - likewise
    except ImportError:
        return False
    begin = RequestsHTTPSender._init_session  # noqa: SLF001 - what each session goes through

    def begun(sender: Any, session: Any) -> None:
        begin(sender, session)
        _mount(session, send)

    setattr(RequestsHTTPSender, "_init_session", begun)  # noqa: B010 - likewise
    return True


def _mount(session: Any, send: Callable[..., Any]) -> None:
    from requests.adapters import BaseAdapter  # noqa: PLC0415 - the application's

    class Between(BaseAdapter):  # type: ignore[misc,unused-ignore]
        """Sends in the place of another adapter."""

        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def send(self, request: Any, *_: Any, **named: Any) -> Any:  # type: ignore[override,unused-ignore]
            return send(self.inner, request, **named)

        def close(self) -> None:
            self.inner.close()

    for protocol in ("https://", "http://"):
        inner = session.get_adapter(protocol)
        if type(inner).__name__ != Between.__name__:
            session.mount(protocol, Between(inner))


# --- what is asked -------------------------------------------------------------------------------


def _body(request: Any) -> bytes:
    body = request.body or b""
    if isinstance(body, str):
        return body.encode()
    if hasattr(body, "read"):
        return bytes(body.read())
    return bytes(body) if isinstance(body, (bytes, bytearray)) else b"".join(body)


def _texts(path: str, body: bytes) -> Tuple[str, List[Json]]:  # noqa: UP006
    """Return what is asked about texts, and the texts; nothing if it is about something else."""
    if path.endswith("/:analyze-text"):
        asked = json.loads(body)
        return _OF_KINDS.get(asked["kind"], ""), asked["analysisInput"]["documents"]
    if "/text/analytics/v3" in path:
        name = path.split("/text/analytics/v3")[1].partition("/")[2]
        return _OF_PATHS.get(name, ""), json.loads(body)["documents"]
    return "", []


def _of_image(path: str, request: Any) -> str:
    """Return what is asked about an image; nothing of a request about something else."""
    is_stream = _STREAM in request.headers.get("Content-Type", "")
    if path.endswith("/imageanalysis:analyze"):
        return "analyze" if is_stream else "analyze_from_url"
    found = _VISION.fullmatch(path)
    name = _OF_IMAGES.get(found["of"], "") if found else ""
    return f"{name}_in_stream" if name and is_stream else name


def _about(request: Any, body: bytes) -> bytes:
    """Return an image, or where it lies."""
    if _STREAM in request.headers.get("Content-Type", ""):
        return body
    return str(json.loads(body).get("url", "")).encode()


# --- what is answered ----------------------------------------------------------------------------


def _replied(request: Any, answering: Answering, reads: Dict[str, bytes]) -> Reply:  # noqa: UP006
    path, body = urlsplit(request.url).path, _body(request)
    operation, documents = _texts(path, body)
    if operation:
        return _of_documents(path, operation, documents, answering)
    read = _READ.fullmatch(path)
    if read and read["number"] is None:
        number = f"{len(reads)}"
        reads[number] = _about(request, body)
        base = request.url.partition("/read/")[0]
        return 202, {"Operation-Location": f"{base}/read/analyzeResults/{number}"}, {}
    operation = "get_read_result" if read else _of_image(path, request)
    if not operation:
        raise UnknownOperationError(f"azure {request.method} {path}")  # noqa: EM102, TRY003 - no text
    said = answering(operation, reads.get(read["number"], b"") if read else _about(request, body))
    if "error" in said:
        return _refused(said["error"])
    return 200, {}, _camel(_asked_for(request.url, said["answer"]))


def _of_documents(path: str, operation: str, documents: List[Json], answering: Answering) -> Reply:  # noqa: UP006
    answered: List[Json] = []  # noqa: UP006
    errors: List[Json] = []  # noqa: UP006
    for one in documents:
        said = _of_document(operation, str(one["text"]), answering)
        if "answer" in said:
            answered.append({"id": one["id"], "warnings": [], **_camel(said["answer"])})
        elif said["error"]["code"] == "RESOURCE_EXHAUSTED":
            return _refused(said["error"])
        else:
            inner = {"code": "InvalidDocument", "message": said["error"]["message"]}
            error = {"code": "InvalidArgument", "message": "Invalid document in request."}
            errors.append({"id": one["id"], "error": {**error, "innererror": inner}})
    results = {"documents": answered, "errors": errors, "modelVersion": "latest"}
    if "/text/analytics/" in path:
        return 200, {}, results
    kinds = {name: kind for kind, name in _OF_KINDS.items()}
    return 200, {}, {"kind": f"{kinds[operation]}Results", "results": results}


def _of_document(operation: str, text: str, answering: Answering) -> Json:
    message = "" if text.strip() else "Document text is empty."
    if len(text) > _LONGEST:
        message = (
            "A document within the request was too large to be processed. Limit document size to: "
            f"{_LONGEST} text elements."
        )
    if message:
        return {"error": {"code": "InvalidDocument", "message": message}}
    return answering(operation, text.encode())


def _asked_for(url: str, answer: Json) -> Json:
    """Leave out of an answer the features that a request does not ask for."""
    query = parse_qs(urlsplit(url).query)
    if "imageanalysis:analyze" in url:
        wanted = {f"{_snake_name(one)}_result" for one in _several(query.get("features"))}
    elif urlsplit(url).path.endswith("/analyze"):
        named = _several(query.get("visualFeatures")) or ["Categories"]
        wanted = {_snake_name(one[:1].lower() + one[1:]) for one in named}
    else:
        return answer
    return {key: one for key, one in answer.items() if key not in _FEATURES or key in wanted}


def _several(values: Any) -> List[str]:  # noqa: UP006
    return [one for value in values or () for one in value.split(",")]


def _refused(error: Json) -> Reply:
    status = _STATUSES.get(error["code"], 500)
    said = {"code": "InvalidRequest" if status < 500 else "InternalServerError"}  # noqa: PLR2004
    return status, {}, {"error": {**said, "message": error["message"]}}


def _response(request: Any, status: int, headers: Dict[str, str], content: Json) -> Any:  # noqa: UP006
    from requests.adapters import HTTPAdapter  # noqa: PLC0415 - the application's
    from urllib3 import HTTPResponse  # noqa: PLC0415 - likewise

    body = json.dumps(content).encode()
    told = {"Content-Type": "application/json", "Content-Length": f"{len(body)}", **headers}
    raw = HTTPResponse(io.BytesIO(body), told, status, preload_content=False)
    return HTTPAdapter().build_response(request, raw)


def _camel(content: Json) -> Json:
    """Return names as the services write them, `confidenceScores`."""
    return _renamed(content, _camel_name)


def _camel_name(name: str) -> str:
    return "object" if name == _OBJECT else _WORDS.sub(lambda found: found[1].upper(), name)


def _snake(content: Json) -> Json:
    """Return names as the clients write them, `confidence_scores`."""
    return _renamed(content, _snake_name)


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


def _hear(
    request: Any,
    body: bytes,
    response: Any,
    reads: Dict[str, bytes],  # noqa: UP006
    hearing: Hearing,
) -> None:
    path = urlsplit(request.url).path
    read = _READ.fullmatch(path)
    if read and read["number"] is None:
        place = response.headers.get("Operation-Location", "")
        reads[place.rpartition("/")[2]] = _about(request, body)
        return
    operation, documents = _texts(path, body)
    operation = operation or ("get_read_result" if read else _of_image(path, request))
    if not operation:
        return
    told = _told(response)
    if documents:
        for one in documents:
            hearing(operation, str(one["text"]).encode(), _of_one(one["id"], told))
    elif told.get("answer", {}).get("status") not in {"running", "notStarted"}:
        about = reads.get(read["number"], b"") if read else _about(request, body)
        hearing(operation, about, told)


def _told(response: Any) -> Json:
    try:
        content = _snake(response.json())
    except ValueError:
        content = {}
    if response.status_code >= 400:  # noqa: PLR2004 - as HTTP says
        message = content.get("error", {}).get("message", "")
        return {"error": {"code": f"{response.status_code}", "message": str(message)}}
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
