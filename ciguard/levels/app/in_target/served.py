"""HTTP server in the application's process, for documents whose address a service returns.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import http.server
import os
import socket
import socketserver
import threading
from typing import Any, Dict, Optional

_HOST = "127.0.0.1"
_MAX_DOCUMENTS = 200
"""Maximum number of served documents; beyond it, the oldest one is removed."""
_LISTENING: Dict[str, Optional[int]] = {"descriptor": None}
"""File descriptor of the listening socket that `listen_on` sets."""


def listen_on(descriptor: int) -> None:
    """Make servers use a socket that already listens, as a confined process cannot create one."""
    _LISTENING["descriptor"] = descriptor


class _Server(http.server.ThreadingHTTPServer):
    """An HTTP server on an existing listening socket."""

    daemon_threads = True

    def __init__(self, listener: socket.socket, handler: Any) -> None:
        socketserver.BaseServer.__init__(self, listener.getsockname(), handler)
        self.socket = listener


def _listener() -> socket.socket:
    """Return the socket to serve on: a copy of the given one, or a new one."""
    descriptor = _LISTENING["descriptor"]
    if descriptor is None:
        return socket.create_server((_HOST, 0))
    return socket.socket(fileno=os.dup(descriptor))


class DocumentServer:
    """Serves documents on the loopback interface; the first document starts the server."""

    def __init__(self) -> None:
        self._contents: Dict[str, bytes] = {}
        self._lock = threading.Lock()
        self._address = ""
        self._count = 0

    def put(self, name: str, content: bytes) -> str:
        """Serve a document, and return its address.

        Args:
            name: the last part of the address, which needs no quoting.
            content: the document, in JSON.
        """
        with self._lock:
            if not self._address:
                self._address = self._start()
            self._count += 1
            path = f"/{self._count}/{name}"
            self._contents[path] = content
            if len(self._contents) > _MAX_DOCUMENTS:
                del self._contents[next(iter(self._contents))]
        return self._address + path

    def _start(self) -> str:
        """Start the server in a thread, and return its address."""
        contents = self._contents

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers requests for documents."""

            def do_GET(self) -> None:
                content = contents.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name in http.server
                """Log nothing: the output belongs to the application."""

        server = _Server(_listener(), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name in ("no_proxy", "NO_PROXY"):
            os.environ[name] = ",".join(filter(None, [os.environ.get(name), _HOST]))
        return f"http://{_HOST}:{server.server_address[1]}"
