"""Documents that a service says the address of, to be had by HTTP from this process.

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
_MOST = 200
"""Documents that are kept; the oldest is the first to go."""


_LISTENING: Dict[str, Optional[int]] = {"descriptor": None}


def listen_on(descriptor: int) -> None:
    """Serve on a socket that listens already: a confined process can make none that does."""
    _LISTENING["descriptor"] = descriptor


class _Server(http.server.ThreadingHTTPServer):
    """Takes a socket that listens."""

    daemon_threads = True

    def __init__(self, listener: socket.socket, handler: Any) -> None:
        socketserver.BaseServer.__init__(self, listener.getsockname(), handler)
        self.socket = listener


def _listener() -> socket.socket:
    descriptor = _LISTENING["descriptor"]
    if descriptor is None:
        return socket.create_server((_HOST, 0))
    return socket.socket(fileno=os.dup(descriptor))


class DocumentServer:
    """Serves them on the loopback, from when there is the first."""

    def __init__(self) -> None:
        self._contents: Dict[str, bytes] = {}
        self._beginning = threading.Lock()
        self._address = ""
        self._count = 0

    def put(self, name: str, content: bytes) -> str:
        """Serve a document, and return its address.

        Args:
            name: last part of the address, of plain letters.
            content: JSON.
        """
        with self._beginning:
            if not self._address:
                self._address = self._begun()
            self._count += 1
            path = f"/{self._count}/{name}"
            self._contents[path] = content
            if len(self._contents) > _MOST:
                del self._contents[next(iter(self._contents))]
        return self._address + path

    def _begun(self) -> str:
        contents = self._contents

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers who asks for one."""

            def do_GET(self) -> None:
                content = contents.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - its name
                """Say nothing: the output is the application's."""

        server = _Server(_listener(), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name in ("no_proxy", "NO_PROXY"):
            os.environ[name] = ",".join(filter(None, [os.environ.get(name), _HOST]))
        return f"http://{_HOST}:{server.server_address[1]}"
