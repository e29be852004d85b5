"""Interception of clients of services, as far as all providers share it.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import socket
from typing import Any, Callable, Tuple

Json = Any
Answering = Callable[[str, bytes], Json]
"""Takes an operation and its input; returns `{"answer": …}` or `{"error": …}`. An error has a
`code`, of gRPC or the provider, and a `message`. With `"under_way": true`, a job is still running
when its result is first requested."""
Hearing = Callable[[str, bytes, Json], None]
"""Takes an operation, its input, and the reply: `{"answer": …}` or `{"error": …}`."""


class UnknownOperationError(Exception):
    """The application calls an operation without a stub response."""


def refusing(asking: str) -> Callable[..., Any]:
    """Return a function that raises `UnknownOperationError` for all arguments."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise UnknownOperationError(asking)

    return refuse


def refuse_addresses(services: Tuple[str, ...], asking: str) -> None:
    """Block the name resolution of a provider's services for all libraries.

    Args:
        services: the suffixes of their host names.
        asking: the name of the blocked request, for the error message.
    """
    getaddrinfo = socket.getaddrinfo

    def blocking_getaddrinfo(host: Any, *positional: Any, **keywords: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        if name.rstrip(".").lower().endswith(services):
            raise UnknownOperationError(asking)
        return getaddrinfo(host, *positional, **keywords)

    socket.getaddrinfo = blocking_getaddrinfo
