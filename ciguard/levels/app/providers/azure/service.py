"""Answers HTTP requests to Azure's text and image services, in the versions that clients send."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.azure.in_target.messages import (
    STREAM,
    AzureRequest,
    ReadOperations,
    answer_request,
    are_texts,
    refusal_reply,
)
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.reading import invalid, read_json
from ciguard.levels.app.providers.request import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.reading import RequestPart
    from ciguard.levels.app.providers.request import ServiceRequest

_PATHS = re.compile(r"/(?:vision|computervision|face|language|text/analytics)(?:/.*)?", re.DOTALL)
_JSON = frozenset({"application/json", "text/json"})
_UNSUPPORTED_TYPE_CODE = "415"
_SUPPORTED = (
    "/language/:analyze-text and /text/analytics/v3.x, for sentiment, entities, key phrases and "
    "languages; /computervision/imageanalysis:analyze; /vision/v3.x/tag, detect, describe, "
    "analyze, ocr and read; /face/v1.x/detect"
)


class AzureServices:
    """Azure's services Language, Computer Vision, Image Analysis and Face; keys are ignored."""

    provider = "azure"

    def __init__(self) -> None:
        self._read_operations = ReadOperations()

    def accepts(self, request: ServiceRequest) -> bool:
        """Return whether the path of a request is one of Azure's services."""
        return _PATHS.fullmatch(request.path) is not None

    def title(self, request: ServiceRequest) -> str:
        """Return the title of a request in logs: its path."""
        return request.path

    def reply(self, request: ServiceRequest, get_answer: Callable[[str, bytes], Json]) -> Reply:
        """Return the reply to a request; see `Services`."""
        url = request.origin + request.target
        parsed = AzureRequest(request.method, url, read_content(request))
        is_result = bool(parsed.read_number)
        if is_result != (request.method == "GET") or not parsed.operation:
            msg = f"Not supported here. Supported are {_SUPPORTED}."
            raise ServiceError(Code.UNIMPLEMENTED, msg)
        if is_result and self._read_operations.image(parsed.read_number or "") is None:
            msg = "No such operation, or its result has expired."
            raise ServiceError(Code.NOT_FOUND, msg)
        reply = _reply(*answer_request(parsed, get_answer, self._read_operations))
        has_documents = are_texts(parsed.path) and reply.code == "OK"
        return replace(reply, message=_document_errors(reply.content)) if has_documents else reply

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return the refusal of a request."""
        del request
        return _reply(*refusal_reply({"code": error.code, "message": error.message}))


def _reply(status: int, more_headers: Mapping[str, str], content: Json) -> Reply:
    """Return a reply whose code and message are those in its content."""
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "apim-request-id": str(uuid.uuid4()),
        **more_headers,
    }
    if "error" in content:
        code, message = content["error"]["code"], content["error"]["message"]
        return Reply(content=content, status=status, headers=headers, code=code, message=message)
    return Reply(content=content, status=status, headers=headers)


def _document_errors(content: Json) -> str:
    """Return the joined error messages of the documents in an answer; empty for none."""
    errors = content.get("results", content)["errors"]
    return " ".join(dict.fromkeys(item["error"]["innererror"]["message"] for item in errors))


def read_content(request: ServiceRequest) -> Json:
    """Return the body of a request: parsed JSON, or an image as bytes; None for a GET request.

    Raises:
        ServiceError: if the request is invalid.
    """
    if request.method == "GET":
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == STREAM and not are_texts(request.path):
        return request.body
    if kind not in _JSON:
        msg = f"Content-Type: has to be application/json, or {STREAM} for images."
        raise ServiceError(_UNSUPPORTED_TYPE_CODE, msg)
    content = read_json(request.body)
    if not are_texts(request.path):
        return {"url": content.text("url")}
    documents = _documents(content.part("analysisInput") if content.has("kind") else content)
    newer_format = {"kind": content.text("kind"), "analysisInput": {"documents": documents}}
    return {**newer_format, "documents": documents}  # older versions have `documents` at the top


def _documents(content: RequestPart) -> list[dict[str, str]]:
    """Return the `id` and `text` of each document in a request."""
    documents = [
        {name: document.text(name) for name in ("id", "text")}
        for document in content.parts("documents")
    ]
    numbers = [document["id"] for document in documents]
    if not all(numbers) or len(set(numbers)) < len(numbers):
        msg = "Each document has to have a unique id."
        raise invalid(msg)
    return documents
