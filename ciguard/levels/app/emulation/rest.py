"""Receives HTTP requests from clients and from the gRPC process."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from dataclasses import dataclass, replace
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from typing import TYPE_CHECKING, ClassVar, cast

from ciguard.errors import ConfigurationError
from ciguard.levels.app.emulation.bodies import read_body
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.request import ServiceRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.levels.app.emulation.emulator import Emulator
    from ciguard.levels.app.providers.request import Reply

_IDLE_S = 60.0
"""Timeout of an idle connection, in seconds."""
_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class RequestLogEntry:
    """A line of the log: a request and its result."""

    path: str
    """Path without the query; for a provider that names operations in a header, this header."""
    operations: tuple[str, ...]
    """Names of the operations that engines were called for."""
    code: str
    """Code of the provider; `OK` if the request was answered."""
    message: str
    """Error message of the request, or the joined error messages of single images and texts."""
    seconds: float
    """Time from the request until its reply was ready."""


class RestServer(ThreadingHTTPServer):
    """HTTP server that answers each request in its own thread while `serve_forever` runs.

    Raises:
        ConfigurationError: if the address cannot be used.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self,
        host: str,
        port: int,
        emulator: Emulator,
        on_request: Callable[[RequestLogEntry], None],
    ) -> None:
        """Listen on an address.

        Args:
            host: name or address of this machine.
            port: port to listen on; 0 for any free port.
            emulator: the emulator that answers.
            on_request: callback for each request; it is never called twice at once.
        """
        self.address_family = AF_INET6 if ":" in host else AF_INET
        self.emulator = emulator
        self._on_request = on_request
        self._request_lock = threading.Lock()
        self.defects: list[BaseException] = []
        """Exceptions that a defect of ciguard raised while a request was answered."""
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            msg = f"cannot listen on {host}:{port}: {error}. Choose another --host or --port."
            raise ConfigurationError(msg) from error

    @property
    def port(self) -> int:
        """Port on which the server listens."""
        return int(self.server_address[1])

    def log_request_entry(self, entry: RequestLogEntry) -> None:
        """Pass a request and its result to the callback."""
        with self._request_lock:
            self._on_request(entry)

    def handle_error(self, request: object, client_address: object) -> None:
        """Store the exception that a request raised; closed connections are ignored."""
        del request, client_address
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.defects.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout: ClassVar[float | None] = _IDLE_S
    disable_nagle_algorithm = True  # headers and body are sent in two writes

    @property
    def _listener(self) -> RestServer:
        return cast("RestServer", self.server)

    def handle_one_request(self) -> None:
        """Answer the next request of the connection, after clearing the previous one's headers."""
        self.command, self.path, self.headers = "", "", Message()
        super().handle_one_request()

    def do_POST(self) -> None:
        """Answer a request with or without a body."""
        began = time.monotonic()
        request = self._request()
        try:
            body = read_body(self.headers, self.rfile, is_needed=self.command == "POST")
        except ServiceError as error:
            self.close_connection = True
            reply = self._listener.emulator.refusal(request, error)
        else:
            reply = self._reply(replace(request, body=body))
        self._send(request, reply, time.monotonic() - began)

    do_GET = do_POST  # noqa: N815 - the name in http.server

    def _reply(self, request: ServiceRequest) -> Reply:
        """Return the emulator's reply, or an internal error after a defect of ciguard."""
        emulator = self._listener.emulator
        try:
            return emulator.reply(request)
        except Exception as error:  # noqa: BLE001 - a defect of ciguard, which the command raises
            self._listener.defects.append(error)
            message = f"Internal error of ciguard: {type(error).__name__}"
            return emulator.refusal(request, ServiceError(Code.INTERNAL, message))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse an invalid request or an unsupported method with an error of the provider."""
        text = explain or message or HTTPStatus(code).phrase
        is_unsupported_method = code == HTTPStatus.NOT_IMPLEMENTED
        error_code = Code.UNIMPLEMENTED if is_unsupported_method else Code.INVALID_ARGUMENT
        self.close_connection = True
        request = self._request()
        reply = self._listener.emulator.refusal(request, ServiceError(error_code, text))
        self._send(request, replace(reply, status=code), 0.0)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name in http.server
        """Log nothing: `log_request_entry` does."""

    def _request(self) -> ServiceRequest:
        """Return the current request without its body."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        return ServiceRequest(
            self.command, self.path, headers, origin=f"http://{self._host(headers)}"
        )

    def _host(self, headers: Mapping[str, str]) -> str:
        """Return the request's host and port; those of the socket if the header is invalid."""
        if _HOST.fullmatch(headers.get("host", "")):
            return headers["host"]
        address, port = self.connection.getsockname()[:2]
        return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"

    def _send(self, request: ServiceRequest, reply: Reply, seconds: float) -> None:
        """Log a request, and send the reply to it."""
        content = json.dumps(reply.content).encode()
        # The entry is logged before the reply is sent, so that a client with a reply can read it.
        entry = RequestLogEntry(
            self._listener.emulator.title(request),
            reply.operations,
            reply.code,
            reply.message,
            seconds,
        )
        self._listener.log_request_entry(entry)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)
