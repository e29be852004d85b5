"""Google's services, in REST; what comes by gRPC is handed on in the same form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.in_target.asking import UnknownOperationError
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.google.in_target.messages import RefusedError, answered
from ciguard.levels.app.providers.google.requests import read_request
from ciguard.levels.app.providers.google.routes import routed
from ciguard.levels.app.providers.reading import camel_case
from ciguard.levels.app.providers.request import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.request import ServiceRequest

_HEADERS = {"Content-Type": "application/json; charset=UTF-8"}


class GoogleServices:
    """Vision, Natural Language and Speech-to-Text; and whatever nobody else knows."""

    provider = "google"

    def are_asked(self, request: ServiceRequest) -> bool:
        """Return whether a request is for them: any is that comes so far."""
        del request
        return True

    def title(self, request: ServiceRequest) -> str:
        """Return how a log calls a request: by its path."""
        return request.path

    def reply(self, request: ServiceRequest, answering: Callable[[str, bytes], Json]) -> Reply:
        """Answer a request; see `Services`."""
        if request.method != "POST":
            msg = f"{request.method} is not answered here."
            raise ServiceError(Code.UNIMPLEMENTED, msg)
        route, method = routed(request.target)
        asked = read_request(route.service, request.body)
        try:
            answer = answered(method, asked, answering)
        except RefusedError as error:
            raise ServiceError(error.code, error.message) from error
        except UnknownOperationError as error:  # as requests name it
            raise UnknownOperationError(str(error).upper()) from error
        errors = (one["error"] for one in answer.get("responses", []) if "error" in one)
        message = " ".join(dict.fromkeys(one["message"] for one in errors))
        return Reply(content=_in_camel_case(answer), headers=_HEADERS, message=message)

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return how they refuse a request."""
        del request
        code = Code(error.code)
        told = {"code": code.http_status, "message": error.message, "status": str(code)}
        return Reply(
            content={"error": told},
            status=code.http_status,
            headers=_HEADERS,
            code=code,
            message=error.message,
        )


def _in_camel_case(content: Json) -> Json:
    """Return a message as REST writes it: its keys, that is."""
    if isinstance(content, dict):
        return {camel_case(key): _in_camel_case(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_in_camel_case(one) for one in content]
    return content
