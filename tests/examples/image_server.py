"""Openverse and Wikimedia Commons on the loopback interface: real HTTP, and faults on request."""

from __future__ import annotations

import io
import json
import random
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from PIL import Image

if TYPE_CHECKING:
    from types import TracebackType

STANDARD_WIDTHS = {20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840}
"""Wikimedia answers 429 to other ones."""


@dataclass(frozen=True)
class Answer:
    """What is answered at a path."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    is_cut: bool = False
    """Whether the connection ends before as much has come as was announced."""


@dataclass(frozen=True)
class Asked:
    """What was asked for."""

    path: str
    query: dict[str, str]
    agent: str
    accept: str


@dataclass(frozen=True)
class Photo:
    """One that a search finds."""

    path: str
    licence: str = "by"
    creator: str = "Jane Doe"
    answer: Answer = field(default_factory=Answer)
    url: str = ""
    """Where it is said to be, if not here."""


def photo(number: int, size: tuple[int, int] = (96, 80)) -> bytes:
    """Return a JPEG file that no other number has, with a note inside of it."""
    colours = random.Random(number).randbytes(12)
    image = Image.frombytes("RGB", (2, 2), colours).resize(size)
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    file = io.BytesIO()
    image.save(file, "JPEG", exif=exif)
    return file.getvalue()


def photos(count: int) -> list[Photo]:
    return [Photo(f"/photos/{at}.jpg", answer=Answer(photo(at))) for at in range(count)]


class ImageServer:
    """Serves both searches and the images that they find."""

    def __init__(self, found: list[Photo] | None = None) -> None:
        self.found = found or []
        self.asked: list[Asked] = []
        self.next: list[Answer] = []
        """Answered first, whatever is asked for."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def openverse(self) -> str:
        return f"{self.root}/v1/images/"

    @property
    def commons(self) -> str:
        return f"{self.root}/w/api.php"

    def searches(self) -> list[Asked]:
        return [one for one in self.asked if one.query]

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        if self.next:
            return self.next.pop(0)
        if "*/*" not in asked.accept and asked.accept != "application/json":
            return Answer(status=406)  # by Django REST framework, which serves Openverse
        if asked.path == "/v1/images/":
            return self._of_openverse(asked.query)
        if asked.path == "/w/api.php":
            return self._of_commons(asked.query)
        known = {one.path: one.answer for one in self.found}
        return known.get(unquote(asked.path), Answer(status=404))

    def _url(self, one: Photo) -> str:
        return one.url or self.root + one.path

    def _of_openverse(self, query: dict[str, str]) -> Answer:
        size, page = int(query["page_size"]), int(query["page"])
        if size > 20:  # without a key
            return _json({"detail": "Ensure this value is less than or equal to 20."}, 401)
        assert set(query) <= {"q", "license_type", "page_size", "page"}
        first = (page - 1) * size
        results: list[dict[str, Any]] = [
            {
                "id": f"{at:08}-0000-4000-8000-000000000000",
                "title": f"{query['q']} {at}",
                "foreign_landing_url": f"https://photos.example/{at}{one.path}",
                "url": "https://live.photos.example/large.jpg",
                "creator": one.creator,
                "license": one.licence,
                "license_version": "2.0",
                "license_url": f"https://creativecommons.org/licenses/{one.licence}/2.0/",
                "source": "flickr",
                "filetype": None,
                "width": 4000,
                "height": 3000,
                "thumbnail": self._url(one),
                "unstable__sensitivity": [],
            }
            for at, one in enumerate(self.found)
        ]
        return _json(
            {
                "result_count": len(results),
                "page_count": -(-len(results) // size),
                "page_size": size,
                "page": page,
                "results": results[first : first + size],
            }
        )

    def _of_commons(self, query: dict[str, str]) -> Answer:
        assert query["action"] == "query"
        assert query["generator"] == "search"
        assert (query["gsrnamespace"], query["formatversion"]) == ("6", "2")
        if int(query["iiurlwidth"]) not in STANDARD_WIDTHS:
            return Answer(status=429)
        if not query["gsrsearch"].removesuffix("filetype:bitmap").strip():
            return _json({"error": {"code": "missingparam", "info": "no words"}})
        first, limit = int(query["gsroffset"]), int(query["gsrlimit"])
        pages = [
            {
                "pageid": 1000 + at,
                "ns": 6,
                "title": f"File:{at}.jpg",
                "index": at + 1,
                "imageinfo": [
                    {
                        "thumburl": self._url(one),
                        "thumbwidth": 960,
                        "url": "https://upload.wikimedia.example/large.jpg",
                        "descriptionurl": f"https://commons.example/wiki/File:{at}{one.path}",
                        "mime": "image/jpeg",
                        "extmetadata": {
                            "LicenseShortName": {"value": f"CC {one.licence.upper()} 4.0"},
                            "Artist": {
                                "value": f'<a href="//x" title="y">{one.creator}</a>&nbsp;<b>ok</b>'
                            },
                        },
                    }
                ],
            }
            for at, one in enumerate(self.found)
        ][first : first + limit]
        answer: dict[str, Any] = {"query": {"pages": list(reversed(pages))}} if pages else {}
        if first + limit < len(self.found):
            answer["continue"] = {"gsroffset": first + limit, "continue": "gsroffset||"}
        return _json({"batchcomplete": True, **answer})

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = dict(parse_qsl(parts.query))
                agent, accept = (self.headers.get(name, "") for name in ("User-Agent", "Accept"))
                said = server.answer(Asked(parts.path, query, agent, accept))
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                length = len(said.body) + said.is_cut
                self.send_header("Content-Length", str(length))
                self.end_headers()
                # Whoever takes no more than they asked for hangs up.
                try:
                    self.wfile.write(said.body)
                except ConnectionError:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


def _json(content: object, status: int = 200) -> Answer:
    return Answer(json.dumps(content).encode(), status, {"Content-Type": "application/json"})
