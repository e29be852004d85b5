"""Answers requests as the services of several providers do, by the engines that there are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.errors import CiguardError
from ciguard.levels.app.in_target.asking import UnknownOperationError
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.registered import PROVIDERS, answered_operations
from ciguard.levels.app.virtualization.chosen import NoEngineError
from ciguard.levels.app.virtualization.recording import NotRecordedError

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.request import Reply, ServiceRequest, Services
    from ciguard.levels.app.virtualization.chosen import Chosen


class Emulator:
    """Stands in for services. Several threads may ask it."""

    def __init__(self, engines: Chosen) -> None:
        """Prepare it.

        Args:
            engines: answer.
        """
        self._engines = engines
        self._operations = {(one.provider, one.name): one for one in answered_operations()}
        fallback, *others = (one.services() for one in PROVIDERS.items().values())
        self._services: tuple[Services, ...] = (*others, fallback)

    def reply(self, request: ServiceRequest) -> Reply:
        """Answer a request, or refuse it."""
        asked: list[str] = []
        services = self._asked_by(request)

        def answering(operation: str, about: bytes) -> Json:
            asked.append(operation)
            return self._said(services.provider, operation, about)

        try:
            reply = services.reply(request, answering)
        except ServiceError as error:
            reply = services.refusal(request, error)
        except UnknownOperationError as error:
            unknown = ServiceError(Code.UNIMPLEMENTED, f"{error}: not answered here.")
            reply = services.refusal(request, unknown)
        return replace(reply, asked=tuple(asked))

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return how a request is refused that did not come as far as to be answered."""
        return self._asked_by(request).refusal(request, error)

    def title(self, request: ServiceRequest) -> str:
        """Return how a log calls a request."""
        return self._asked_by(request).title(request)

    def _asked_by(self, request: ServiceRequest) -> Services:
        return next(one for one in self._services if one.are_asked(request))

    def _said(self, provider: str, name: str, about: bytes) -> Json:
        operation = self._operations.get((provider, name))
        if operation is None:  # it is explored, and no engine recognises it
            raise UnknownOperationError(name)
        try:
            return {"answer": self._engines.answer(operation, about)}
        except ServiceError as error:
            return {"error": {"code": error.code, "message": error.message}}
        except NotRecordedError as error:
            # Of a code that clients do not wait and try again for.
            return {"error": {"code": Code.FAILED_PRECONDITION, "message": str(error)}}
        except NoEngineError as error:
            return {"error": {"code": Code.UNIMPLEMENTED, "message": str(error)}}
        except CiguardError as error:  # such as a recording that cannot be written
            return {"error": {"code": Code.INTERNAL, "message": str(error)}}
