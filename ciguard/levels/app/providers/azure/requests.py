"""Requests to Azure's services: what they ask is taken out, or they are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.azure.in_target.messages import STREAM, are_texts
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.reading import invalid, read_json

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.reading import RequestPart
    from ciguard.levels.app.providers.request import ServiceRequest

_JSON = frozenset({"application/json", "text/json"})
_OTHER_TYPE = "415"


def read_content(request: ServiceRequest) -> Json:
    """Return what a request says, as `azure_messages` takes it: JSON, or an image; or None.

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
