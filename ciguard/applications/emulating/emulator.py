"""Answers requests as Google's services do, by the engines that there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.applications.answering.choosing import NoEngineError
from ciguard.applications.answering.codes import Code
from ciguard.applications.answering.engine import ServiceError
from ciguard.applications.answering.operations import operations
from ciguard.applications.answering.recording import NotRecordedError
from ciguard.applications.emulating.requests import camel_case, read_request
from ciguard.applications.emulating.routes import routed
from ciguard.applications.in_target.asking import UnknownOperationError
from ciguard.applications.in_target.google_messages import RefusedError, answered
from ciguard.errors import CiguardError

if TYPE_CHECKING:
    from ciguard.applications.answering.choosing import Chosen
    from ciguard.domain import Json


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered to one request."""

    content: Json
    """JSON as REST writes it."""
    asked: tuple[str, ...] = ()
    """Operations that it has asked, as far as it came."""
    error: ServiceError | None = None
    """With which the whole request is refused."""

    @property
    def code(self) -> str:
        """Of gRPC."""
        return "OK" if self.error is None else self.error.code

    @property
    def message(self) -> str:
        """Of the error, or of those of single images."""
        if self.error is not None:
            return self.error.message
        refused = (one["error"] for one in self.content.get("responses", []) if "error" in one)
        return " ".join(dict.fromkeys(one["message"] for one in refused))

    @property
    def http_status(self) -> int:
        """Of REST."""
        return 200 if self.error is None else Code(self.error.code).http_status


def refusal(error: ServiceError, asked: tuple[str, ...] = ()) -> Reply:
    """Return how a request is refused."""
    code = Code(error.code)
    told = {"code": code.http_status, "message": error.message, "status": str(code)}
    return Reply({"error": told}, asked, error)


class Emulator:
    """Stands in for the service. Several threads may ask it."""

    def __init__(self, engines: Chosen) -> None:
        """Prepare it.

        Args:
            engines: answer.
        """
        self._engines = engines
        self._operations = {one.name: one for one in operations()}

    def reply(self, path: str, body: bytes) -> Reply:
        """Answer a request, or refuse it.

        Args:
            path: of REST or gRPC.
            body: JSON of the message.
        """
        asked: list[str] = []

        def answering(operation: str, about: bytes) -> Json:
            asked.append(operation)
            return self._said(operation, about)

        try:
            route, method = routed(path)
            answer = answered(method, read_request(route.service, body), answering)
        except ServiceError as error:
            return refusal(error, tuple(asked))
        except RefusedError as error:
            return refusal(ServiceError(error.code, error.message), tuple(asked))
        except UnknownOperationError as error:
            unknown = ServiceError(Code.UNIMPLEMENTED, f"{error}: not answered here.")
            return refusal(unknown, tuple(asked))
        return Reply(_in_camel_case(answer), tuple(asked))

    def _said(self, name: str, about: bytes) -> Json:
        if name not in self._operations:  # it is explored, and no engine recognises it
            raise UnknownOperationError(name.upper())
        try:
            return {"answer": self._engines.answer(self._operations[name], about)}
        except ServiceError as error:
            return {"error": {"code": error.code, "message": error.message}}
        except NotRecordedError as error:
            # Of a code that clients do not wait and try again for.
            return {"error": {"code": Code.FAILED_PRECONDITION, "message": str(error)}}
        except NoEngineError as error:
            return {"error": {"code": Code.UNIMPLEMENTED, "message": str(error)}}
        except CiguardError as error:  # such as a recording that cannot be written
            return {"error": {"code": Code.INTERNAL, "message": str(error)}}


def _in_camel_case(content: Json) -> Json:
    """Return a message as REST writes it: its keys, that is."""
    if isinstance(content, dict):
        return {camel_case(key): _in_camel_case(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_in_camel_case(one) for one in content]
    return content
