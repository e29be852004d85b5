"""Codes of gRPC that the services' errors have."""

from __future__ import annotations

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
