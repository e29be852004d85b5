"""A package index on the loopback interface that only those may read who log in."""

from __future__ import annotations

import base64
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

USER, PASSWORD = "reader", "correct-horse-battery"  # of no real index
_LOGIN = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class PrivateIndex:
    """Serves the wheels of one project from a folder, as PEP 503 has it."""

    def __init__(self, project: str, folder: Path) -> None:
        self.project, self.folder = project, folder
        self.served: list[str] = []
        """Paths that were asked for with the right login."""
        self._server = _Server(self)

    @property
    def url(self) -> str:
        """The address with the login in it."""
        return f"http://{USER}:{PASSWORD}@127.0.0.1:{self._server.server_port}/simple/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def content(self, path: str) -> bytes | None:
        """Return what is at a path."""
        names = sorted(wheel.name for wheel in self.folder.glob("*.whl"))
        if path == f"/simple/{self.project}/":
            return "".join(f'<a href="/wheels/{name}">{name}</a>\n' for name in names).encode()
        name = path.removeprefix("/wheels/")
        return (self.folder / name).read_bytes() if name in names else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, index: PrivateIndex) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.index = index


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Log nothing."""

    def do_GET(self) -> None:
        assert isinstance(self.server, _Server)
        index = self.server.index
        content = index.content(self.path)
        if self.headers.get("Authorization") != f"Basic {_LOGIN}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="wheels"')
            content = b""
        elif content is None:
            self.send_response(404)
            content = b""
        else:
            index.served.append(self.path)
            self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content or b"")

    def do_HEAD(self) -> None:
        self.do_GET()
