"""Requests by HTTP and their replies, for services of any provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.codes import ServiceError


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """One untrusted request."""

    method: str
    target: str
    """Path with the query."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers by lower-case name."""
    body: bytes = b""
    origin: str = "http://127.0.0.1"
    """Base address that the client has used."""

    @property
    def path(self) -> str:
        """Path without the query, which may contain a key."""
        return self.target.partition("?")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply to one request."""

    content: Json
    status: int = 200
    headers: Mapping[str, str]
    code: str = "OK"
    """Error code of the provider; `OK` if the request was answered."""
    message: str = ""
    """Message of the error, or of the errors of single images and texts."""
    asked: tuple[str, ...] = ()
    """Operations that the engines were called for."""


class Services(Protocol):
    """The services of a provider by HTTP."""

    provider: str

    def are_asked(self, request: ServiceRequest) -> bool:
        """Return whether a request is for these services.

        The first registered provider is checked last, and refuses unknown requests.
        """

    def title(self, request: ServiceRequest) -> str:
        """Return the title of a request in logs, without keys."""

    def reply(self, request: ServiceRequest, answering: Callable[[str, bytes], Json]) -> Reply:
        """Return the reply to a request.

        Args:
            request: request for these services.
            answering: function from an operation and a content to the answer.

        Raises:
            ServiceError: if the request is refused or invalid.
            UnknownOperationError: if the operation is not supported.
        """

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return the refusal of a request."""
