"""Answers requests in place of the services of several providers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.errors import CiguardError
from ciguard.levels.app.in_target.asking import UnknownOperationError
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.registered import PROVIDERS, answered_operations
from ciguard.levels.app.virtualization.engine_chain import NoEngineError
from ciguard.levels.app.virtualization.recording import NotRecordedError

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.request import Reply, ServiceRequest, Services
    from ciguard.levels.app.virtualization.engine_chain import EngineChain


class Emulator:
    """Dispatches requests to emulated services. It is thread-safe."""

    def __init__(self, engines: EngineChain) -> None:
        """Index the services and operations.

        Args:
            engines: the engines that generate, recognise or replay the answers.
        """
        self._engines = engines
        self._operations = {
            (operation.provider, operation.name): operation for operation in answered_operations()
        }
        fallback, *others = (provider.services() for provider in PROVIDERS.items().values())
        self._services: tuple[Services, ...] = (*others, fallback)

    def reply(self, request: ServiceRequest) -> Reply:
        """Return the reply to a request, which may be a refusal."""
        requested: list[str] = []
        services = self._services_for(request)

        def get_answer(operation: str, content: bytes) -> Json:
            requested.append(operation)
            return self._outcome(services.provider, operation, content)

        try:
            reply = services.reply(request, get_answer)
        except ServiceError as error:
            reply = services.refusal(request, error)
        except UnknownOperationError as error:
            unknown = ServiceError(Code.UNIMPLEMENTED, f"ciguard does not support {error}.")
            reply = services.refusal(request, unknown)
        return replace(reply, operations=tuple(requested))

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return the reply that reports an error of a request that could not be read."""
        return self._services_for(request).refusal(request, error)

    def title(self, request: ServiceRequest) -> str:
        """Return the title of a request in logs."""
        return self._services_for(request).title(request)

    def _services_for(self, request: ServiceRequest) -> Services:
        return next(services for services in self._services if services.accepts(request))

    def _outcome(self, provider: str, name: str, content: bytes) -> Json:
        """Return the engines' answer, or the error that the client receives."""
        operation = self._operations.get((provider, name))
        if operation is None:  # only `ciguard app explore` has stub responses for it
            raise UnknownOperationError(name)
        try:
            return {"answer": self._engines.answer(operation, content)}
        except ServiceError as error:
            return {"error": {"code": error.code, "message": error.message}}
        except NotRecordedError as error:
            # For this code, clients neither wait nor retry.
            return {"error": {"code": Code.FAILED_PRECONDITION, "message": str(error)}}
        except NoEngineError as error:
            return {"error": {"code": Code.UNIMPLEMENTED, "message": str(error)}}
        except CiguardError as error:  # such as a recording that cannot be written
            return {"error": {"code": Code.INTERNAL, "message": str(error)}}
