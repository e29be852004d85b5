"""How services refuse: codes of gRPC, and those of HTTP that stand for them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """How a service's error is called; all but `OK`."""

    CANCELLED = "CANCELLED"
    UNKNOWN = "UNKNOWN"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    """The application asks something that cannot be answered, whenever it asks."""
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    """It took too long; asking again may help."""
    NOT_FOUND = "NOT_FOUND"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    """The account may not ask that, or its project has the service turned off."""
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    """The quota is used up; asking again later may help."""
    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    ABORTED = "ABORTED"
    OUT_OF_RANGE = "OUT_OF_RANGE"
    UNIMPLEMENTED = "UNIMPLEMENTED"
    INTERNAL = "INTERNAL"
    """The service failed."""
    UNAVAILABLE = "UNAVAILABLE"
    """The service cannot be reached; asking again may help."""
    DATA_LOSS = "DATA_LOSS"
    UNAUTHENTICATED = "UNAUTHENTICATED"

    @property
    def number(self) -> int:
        """As gRPC counts them; `OK` is 0."""
        return list(Code).index(self) + 1

    @property
    def http_status(self) -> int:
        """With which a service that speaks REST answers."""
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
    """How a service may refuse."""

    message: str
    """As the service says it."""
    code: str
    """Of gRPC, or a provider's own; empty where its clients here refuse the text by themselves."""
    is_of_content: bool = True
    """Whether it is for what it is asked about."""
    text: bytes = b""
    """That it refuses so; empty where it may refuse any."""


def long_text(limit: int, unit: str) -> Refusal:
    """Return the refusal of a text that is too long, by a client or the service.

    Args:
        limit: that texts may have.
        unit: that it counts.
    """
    sentence = b"This is a text that is too long. "
    text = sentence * (limit // len(sentence) + 1)
    return Refusal(f"a text of more than {limit} {unit}", "", text=text)


class ServiceError(Exception):
    """The service refuses or fails."""

    def __init__(self, code: str, message: str) -> None:
        """Make it.

        Args:
            code: of gRPC, such as `RESOURCE_EXHAUSTED`.
            message: as the service says it.
        """
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
