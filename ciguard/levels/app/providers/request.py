"""What comes by HTTP and what is answered, whosever services it is for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.codes import ServiceError


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """One request. Anybody may have sent it."""

    method: str
    target: str
    """Path and query."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By their names in small letters."""
    body: bytes = b""
    origin: str = "http://127.0.0.1"
    """Where its client has found the service."""

    @property
    def path(self) -> str:
        """What is asked, without what may be a key."""
        return self.target.partition("?")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is answered to one request."""

    content: Json
    status: int = 200
    headers: Mapping[str, str]
    code: str = "OK"
    """Of the error with which it is refused, as the provider calls it."""
    message: str = ""
    """Of the error, or of those of single images and texts."""
    asked: tuple[str, ...] = ()
    """Operations that it has asked, as far as it came."""


class Services(Protocol):
    """A provider's services, as HTTP has them."""

    provider: str

    def are_asked(self, request: ServiceRequest) -> bool:
        """Return whether a request is for them.

        The first provider that is registered is asked last, and refuses what is nobody's.
        """

    def title(self, request: ServiceRequest) -> str:
        """Return how a log calls a request that is for them: what it asks, without a key."""

    def reply(self, request: ServiceRequest, answering: Callable[[str, bytes], Json]) -> Reply:
        """Answer a request, or refuse it.

        Args:
            request: that is for them.
            answering: takes an operation and what it is asked about.

        Raises:
            ServiceError: if it is refused: by them, or because it is no request.
            UnknownOperationError: if nobody answers that.
        """

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return how they refuse a request."""
