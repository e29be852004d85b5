"""Azure's services for texts and images, in the versions that their clients speak."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.azure.in_target.messages import (
    STREAM,
    AzureRequest,
    Reads,
    answered,
    are_texts,
    refused,
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
_OTHER_TYPE = "415"
_KNOWN = (
    "/language/:analyze-text and /text/analytics/v3.x, of sentiment, entities, key phrases and "
    "languages; /computervision/imageanalysis:analyze; /vision/v3.x/tag, detect, describe, "
    "analyze, ocr and read; /face/v1.x/detect"
)


class AzureServices:
    """Language, Computer Vision, Image Analysis and Face. Keys are not looked at."""

    provider = "azure"

    def __init__(self) -> None:
        self._reads = Reads()

    def are_asked(self, request: ServiceRequest) -> bool:
        """Return whether a request is for them, by its path."""
        return _PATHS.fullmatch(request.path) is not None

    def title(self, request: ServiceRequest) -> str:
        """Return how a log calls a request: by its path."""
        return request.path

    def reply(self, request: ServiceRequest, answering: Callable[[str, bytes], Json]) -> Reply:
        """Answer a request; see `Services`."""
        url = request.origin + request.target
        asked = AzureRequest(request.method, url, read_content(request))
        is_result = bool(asked.read)
        if is_result != (request.method == "GET") or not asked.operation:
            msg = f"Not answered here. Known are {_KNOWN}."
            raise ServiceError(Code.UNIMPLEMENTED, msg)
        if is_result and self._reads.about(asked.read or "") is None:
            msg = "There is no such operation, or it was too long ago."
            raise ServiceError(Code.NOT_FOUND, msg)
        reply = _reply(*answered(asked, answering, self._reads))
        is_of_texts = are_texts(asked.path) and reply.code == "OK"
        return replace(reply, message=_of_single_texts(reply.content)) if is_of_texts else reply

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return how they refuse a request."""
        del request
        return _reply(*refused({"code": error.code, "message": error.message}))


def _reply(status: int, more: Mapping[str, str], content: Json) -> Reply:
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "apim-request-id": str(uuid.uuid4()),
        **more,
    }
    if "error" in content:
        code, message = content["error"]["code"], content["error"]["message"]
        return Reply(content=content, status=status, headers=headers, code=code, message=message)
    return Reply(content=content, status=status, headers=headers)


def _of_single_texts(content: Json) -> str:
    """Return the messages of errors that are told in the places of texts."""
    errors = content.get("results", content)["errors"]
    return " ".join(dict.fromkeys(one["error"]["innererror"]["message"] for one in errors))


def read_content(request: ServiceRequest) -> Json:
    """Return what a request says, as `answered` takes it: JSON, or an image; or None.

    Raises:
        ServiceError: if it is no such request.
    """
    if request.method == "GET":
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == STREAM and not are_texts(request.path):
        return request.body
    if kind not in _JSON:
        msg = f"The Content-Type is to be application/json, or {STREAM} for images."
        raise ServiceError(_OTHER_TYPE, msg)
    content = read_json(request.body)
    if not are_texts(request.path):
        return {"url": content.text("url")}
    documents = _documents(content.part("analysisInput") if content.has("kind") else content)
    of_kind = {"kind": content.text("kind"), "analysisInput": {"documents": documents}}
    return {**of_kind, "documents": documents}  # as either version of the service has it


def _documents(content: RequestPart) -> list[dict[str, str]]:
    documents = [
        {name: one.text(name) for name in ("id", "text")} for one in content.parts("documents")
    ]
    numbers = [one["id"] for one in documents]
    if not all(numbers) or len(set(numbers)) < len(numbers):
        msg = "Each document is to have an id of its own."
        raise invalid(msg)
    return documents
