"""A client of a service on this machine: it names what images show, and what texts feel.

The service answers `POST /notes/v1/things` with `{"things": [{"name": "Dog", "sure": 0.9}]}` and
`POST /notes/v1/feeling` with `{"feeling": "positive", "score": 0.8}`; what it is asked about is the
body. It refuses with a status of HTTP and `{"message": "Too many requests."}`.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

_LIMIT_S = 20.0


class NotesError(Exception):
    """The service refuses."""


class Notes:
    """Asks the service at an address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def things(self, image: bytes) -> Any:
        """Return what an image shows."""
        return self.send("things", image)

    def feeling(self, text: str) -> Any:
        """Return what a text feels."""
        return self.send("feeling", text.encode())

    def send(self, operation: str, content: bytes) -> Any:
        """Return what the service says of a content.

        Raises:
            NotesError: if it refuses.
        """
        request = Request(f"{self._address}/notes/v1/{operation}", content, method="POST")  # noqa: S310
        try:
            with urlopen(request, timeout=_LIMIT_S) as reply:  # noqa: S310 - the caller's address
                return json.load(reply)
        except HTTPError as error:
            raise NotesError(json.load(error)["message"]) from None
