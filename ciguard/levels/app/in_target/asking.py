"""What all clients of services have in common here: whom they ask instead, and where none may go.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import socket
from typing import Any, Callable, Tuple

Json = Any
Answering = Callable[[str, bytes], Json]
"""Takes an operation and what it is asked about; returns `{"answer": …}`, or `{"error": …}` with
the `code` of gRPC, or the provider's own, and the `message` with which the service refuses. With
`"under_way": true`, what was begun a moment ago is not done when it is first asked for."""
Hearing = Callable[[str, bytes, Json], None]
"""Takes an operation, what it was asked about, and `{"answer": …}` or `{"error": …}`."""


class UnknownOperationError(Exception):
    """The application asks something that no answer is made for."""


def refusing(asking: str) -> Callable[..., Any]:
    """Return a function that refuses whatever it is called with: nobody answers that."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise UnknownOperationError(asking)

    return refuse


def refuse_addresses(services: Tuple[str, ...], asking: str) -> None:
    """Have no other library find a provider's services.

    Args:
        services: what their host names end with.
        asking: what asks then, in words.
    """
    find = socket.getaddrinfo

    def found(host: Any, *positional: Any, **named: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        if name.rstrip(".").lower().endswith(services):
            raise UnknownOperationError(asking)
        return find(host, *positional, **named)

    socket.getaddrinfo = found
