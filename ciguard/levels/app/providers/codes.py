"""Error codes of services: the codes of gRPC, and the HTTP status of each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """Error codes of gRPC, except `OK`."""

    CANCELLED = "CANCELLED"
    UNKNOWN = "UNKNOWN"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    """The request is invalid; a retry does not help."""
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    """The request timed out; a retry may help."""
    NOT_FOUND = "NOT_FOUND"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    """The account has no permission, or its project has not enabled the service."""
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    """The quota is exhausted; a retry may help later."""
    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    ABORTED = "ABORTED"
    OUT_OF_RANGE = "OUT_OF_RANGE"
    UNIMPLEMENTED = "UNIMPLEMENTED"
    INTERNAL = "INTERNAL"
    """Internal error of the service."""
    UNAVAILABLE = "UNAVAILABLE"
    """The service is unreachable; a retry may help."""
    DATA_LOSS = "DATA_LOSS"
    UNAUTHENTICATED = "UNAUTHENTICATED"

    @property
    def number(self) -> int:
        """Number of the code in gRPC, from 1 on: 0 is `OK`."""
        return list(Code).index(self) + 1

    @property
    def http_status(self) -> int:
        """HTTP status of the code."""
        return _HTTP[self]


_HTTP = {
    Code.CANCELLED: 499, Code.UNKNOWN: 500, Code.INVALID_ARGUMENT: 400, Code.DEADLINE_EXCEEDED: 504,
    Code.NOT_FOUND: 404, Code.ALREADY_EXISTS: 409, Code.PERMISSION_DENIED: 403,
    Code.RESOURCE_EXHAUSTED: 429, Code.FAILED_PRECONDITION: 400, Code.ABORTED: 409,
    Code.OUT_OF_RANGE: 400, Code.UNIMPLEMENTED: 501, Code.INTERNAL: 500, Code.UNAVAILABLE: 503,
    Code.DATA_LOSS: 500, Code.UNAUTHENTICATED: 401,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error that a service may return instead of an answer."""

    message: str
    """Error message of the service."""
    code: str
    """Code of gRPC or of the provider; empty if the provider's client itself rejects the text."""
    depends_on_content: bool = True
    """True if the error depends on the content of the request."""
    text: bytes = b""
    """Text that causes the error; empty if any text may."""


def long_text(limit: int, unit: str) -> Refusal:
    """Return the refusal of a text that is too long; a client or the service raises it.

    Args:
        limit: maximum length of a text.
        unit: unit of `limit` in the message, such as `bytes`.
    """
    sentence = b"This is a text that is too long. "
    text = sentence * (limit // len(sentence) + 1)
    return Refusal(f"a text of more than {limit} {unit}", "", text=text)


class ServiceError(Exception):
    """The service refuses a request, or fails."""

    def __init__(self, code: str, message: str) -> None:
        """Build the exception's message from the code and the service's message.

        Args:
            code: code of gRPC, such as `RESOURCE_EXHAUSTED`, or of the provider.
            message: error message of the service.
        """
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
