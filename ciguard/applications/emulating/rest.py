"""Brings requests by HTTP: those of clients that speak REST, and those that gRPC hands on."""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from typing import TYPE_CHECKING, ClassVar, cast

from ciguard.applications.answering.codes import Code
from ciguard.applications.answering.engine import ServiceError
from ciguard.applications.emulating.emulator import Reply, refusal
from ciguard.applications.emulating.requests import invalid
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 20 * 2**20
"""Of a request; what is longer is refused."""
_MOST_DRAINED = 5 * MOST_BYTES
"""Of a request that is refused: who is still writing does not hear an answer."""
_STEP = 1 << 16
_IDLE_S = 60.0
"""That a connection may stay without a request, or with half of one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, and what came of it."""

    path: str
    operations: tuple[str, ...]
    code: str
    """Of gRPC; `OK` if it was answered."""
    message: str
    """Of the error, or of those of single images."""
    seconds: float


class RestServer(ThreadingHTTPServer):
    """Answers requests, each in a thread of its own, once `serve_forever` runs.

    Raises:
        ConfigurationError: if the address cannot be had.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self,
        host: str,
        port: int,
        replying: Callable[[str, bytes], Reply],
        telling: Callable[[Asked], None],
    ) -> None:
        """Listen.

        Args:
            host: name or address of this machine.
            port: 0 for any that is free.
            replying: takes a request's path and body.
            telling: is told of each request, one at a time.
        """
        self.address_family = AF_INET6 if ":" in host else AF_INET
        self.replying = replying
        self._telling = telling
        self._is_telling = threading.Lock()
        self.defects: list[BaseException] = []
        """Of ciguard, met while it answered."""
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            msg = f"{host}:{port}: cannot be listened on: {error}. Choose --host or --port anew."
            raise ConfigurationError(msg) from error

    @property
    def port(self) -> int:
        """That it listens on."""
        return int(self.server_address[1])

    def tell(self, asked: Asked) -> None:
        """Tell of a request."""
        with self._is_telling:
            self._telling(asked)

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep a defect; that a client goes away is none."""
        del request, client_address
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.defects.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout: ClassVar[float | None] = _IDLE_S
    disable_nagle_algorithm = True  # head and content are sent one after the other
    path = ""

    @property
    def _listener(self) -> RestServer:
        return cast("RestServer", self.server)

    def do_POST(self) -> None:
        """Answer a request."""
        began = time.monotonic()
        try:
            reply = self._listener.replying(self.path, self._body())
        except ServiceError as error:
            reply = refusal(error)
        except OSError:  # nobody is there any more
            raise
        except Exception as error:  # noqa: BLE001 - a defect of ciguard, which the command raises
            self._listener.defects.append(error)
            said = f"a defect of ciguard: {type(error).__name__}"
            reply = refusal(ServiceError(Code.INTERNAL, said))
        self._send(reply, reply.http_status, time.monotonic() - began)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request, or of another method, as the service refuses."""
        said = explain or message or HTTPStatus(code).phrase
        is_method = code == HTTPStatus.NOT_IMPLEMENTED
        kind = Code.UNIMPLEMENTED if is_method else Code.INVALID_ARGUMENT
        self.close_connection = True
        self._send(refusal(ServiceError(kind, said)), code, 0.0)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its name there
        """Leave it to `tell`."""

    def _body(self) -> bytes:
        """Return what is sent.

        Raises:
            ServiceError: if nobody says how long it is, or it is too long.
        """
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or len(length) > len(str(_MOST_DRAINED)):
            self.close_connection = True
            msg = "Content-Length is missing or no length; what is sent in chunks is not read here."
            raise invalid(msg)
        if self.headers.get("Content-Encoding", "identity") != "identity":
            self._drain(int(length))
            msg = "Content-Encoding: what is compressed is not read here."
            raise invalid(msg)
        if int(length) > MOST_BYTES:
            self._drain(int(length))
            msg = f"Request payload size exceeds the limit: {MOST_BYTES} bytes."
            raise invalid(msg)
        return self.rfile.read(int(length))

    def _drain(self, length: int) -> None:
        self.close_connection = True
        left = min(length, _MOST_DRAINED)
        while left > 0 and (part := self.rfile.read(min(left, _STEP))):
            left -= len(part)

    def _send(self, reply: Reply, status: int, seconds: float) -> None:
        content = json.dumps(reply.content).encode()
        # First, so that who has an answer finds it in the log.
        path = self.path.partition("?")[0]  # what follows may be a key
        self._listener.tell(Asked(path, reply.asked, reply.code, reply.message, seconds))
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)
