"""Brings requests by HTTP: those of clients that speak it, and those that gRPC hands on."""

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
"""That a connection may stay without a request, or with half of one."""
_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class RequestLogEntry:
    """One request, and what came of it."""

    path: str
    """Without its query; or what it names instead, of a provider that asks in a header."""
    operations: tuple[str, ...]
    code: str
    """As the provider calls it; `OK` if it was answered."""
    message: str
    """Of the error, or of those of single images and texts."""
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
        emulator: Emulator,
        telling: Callable[[RequestLogEntry], None],
    ) -> None:
        """Listen.

        Args:
            host: name or address of this machine.
            port: 0 for any that is free.
            emulator: answers.
            telling: is told of each request, one at a time.
        """
        self.address_family = AF_INET6 if ":" in host else AF_INET
        self.emulator = emulator
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

    def tell(self, asked: RequestLogEntry) -> None:
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

    @property
    def _listener(self) -> RestServer:
        return cast("RestServer", self.server)

    def handle_one_request(self) -> None:
        """Answer what comes next: nothing is left of what came before."""
        self.command, self.path, self.headers = "", "", Message()
        super().handle_one_request()

    def do_POST(self) -> None:
        """Answer a request."""
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

    do_GET = do_POST  # noqa: N815 - its name there

    def _reply(self, request: ServiceRequest) -> Reply:
        emulator = self._listener.emulator
        try:
            return emulator.reply(request)
        except Exception as error:  # noqa: BLE001 - a defect of ciguard, which the command raises
            self._listener.defects.append(error)
            said = f"a defect of ciguard: {type(error).__name__}"
            return emulator.refusal(request, ServiceError(Code.INTERNAL, said))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request, or of another method, as the service refuses."""
        said = explain or message or HTTPStatus(code).phrase
        is_method = code == HTTPStatus.NOT_IMPLEMENTED
        kind = Code.UNIMPLEMENTED if is_method else Code.INVALID_ARGUMENT
        self.close_connection = True
        request = self._request()
        reply = self._listener.emulator.refusal(request, ServiceError(kind, said))
        self._send(request, replace(reply, status=code), 0.0)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its name there
        """Leave it to `tell`."""

    def _request(self) -> ServiceRequest:
        """Return what is known of a request before its body is read."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        return ServiceRequest(
            self.command, self.path, headers, origin=f"http://{self._host(headers)}"
        )

    def _host(self, headers: Mapping[str, str]) -> str:
        """Return where the client has found this; what is no name or address is not repeated."""
        if _HOST.fullmatch(headers.get("host", "")):
            return headers["host"]
        address, port = self.connection.getsockname()[:2]
        return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"

    def _send(self, request: ServiceRequest, reply: Reply, seconds: float) -> None:
        content = json.dumps(reply.content).encode()
        # First, so that who has an answer finds it in the log.
        asked = RequestLogEntry(
            self._listener.emulator.title(request), reply.asked, reply.code, reply.message, seconds
        )
        self._listener.tell(asked)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)
