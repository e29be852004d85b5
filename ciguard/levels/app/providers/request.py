"""HTTP requests and their replies, for services of any provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.codes import ServiceError


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """One HTTP request, which is not trusted."""

    method: str
    target: str
    """Path with the query."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers by lower-case name."""
    body: bytes = b""
    origin: str = "http://127.0.0.1"
    """Scheme, host and port with which the client addressed the server."""

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
    """Error message of the request, or the joined error messages of single images and texts."""
    operations: tuple[str, ...] = ()
    """Names of the operations that engines were called for."""


class Services(Protocol):
    """The HTTP services of a provider."""

    provider: str
    """Name of the provider."""

    def accepts(self, request: ServiceRequest) -> bool:
        """Return whether a request is for the services of this provider.

        The provider that was registered first is asked last, and returns True for every request.
        """

    def title(self, request: ServiceRequest) -> str:
        """Return the title of a request in logs, without keys."""

    def reply(self, request: ServiceRequest, get_answer: Callable[[str, bytes], Json]) -> Reply:
        """Return the reply to a request.

        Args:
            request: request for which `accepts` returns True.
            get_answer: function that returns the answer to an operation about a content.

        Raises:
            ServiceError: if the request is refused or invalid.
            UnknownOperationError: if the operation is not supported.
        """

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return the reply that reports an error to the client."""
