"""Interception of services' clients: the parts that all providers share.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import socket
from typing import Any, Callable, Tuple

Json = Any
AnswerFunction = Callable[[str, bytes], Json]
"""Function that gets an operation and its content; it returns `{"answer": …}` or `{"error": …}`.

An error has a `code`, of gRPC or the provider, and a `message`. With `"under_way": true`, a job is
still running when its result is first requested.
"""
AnswerCallback = Callable[[str, bytes, Json], None]
"""Callback that gets an operation, its content and the service's answer.

The answer is `{"answer": …}` or `{"error": …}`.
"""


class UnknownOperationError(Exception):
    """The application calls an operation without a stub response."""


def unsupported_function(operation: str) -> Callable[..., Any]:
    """Return a function that raises `UnknownOperationError` for any arguments.

    Args:
        operation: what the application tries to use, for the error message.
    """

    def refuse(*_: Any, **__: Any) -> Any:
        raise UnknownOperationError(operation)

    return refuse


def refuse_addresses(suffixes: Tuple[str, ...], operation: str) -> None:
    """Make the name resolution of a provider's hosts raise an error, in all libraries.

    Args:
        suffixes: the ends of the provider's host names, such as `.googleapis.com`.
        operation: what the application tries to use, for the error message.
    """
    getaddrinfo = socket.getaddrinfo

    def blocking_getaddrinfo(host: Any, *positional: Any, **keywords: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        if name.rstrip(".").lower().endswith(suffixes):
            raise UnknownOperationError(operation)
        return getaddrinfo(host, *positional, **keywords)

    socket.getaddrinfo = blocking_getaddrinfo
