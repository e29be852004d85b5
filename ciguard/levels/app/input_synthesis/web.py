"""Download of files from public addresses, with limits of size and rate."""

from __future__ import annotations

import http.client
import ipaddress
import re
import time
import urllib.request
from contextlib import closing
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from ciguard import __version__

_AGENT = f"ciguard/{__version__} (tests applications; Python urllib)"
_MAX_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BUSY_STATUSES = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_RESPONSE_TIMEOUT_S = 20.0
"""Timeout of a response, in seconds."""
_CONTENT_TIMEOUT_S = 60.0
"""Timeout of a response's complete content, in seconds."""
_CHUNK_BYTES = 2**16
_PORTS = {"https": 443, "http": 80}
_RESERVED = "%/:=&?~#+!$,;'()*[]"
"""Characters with a meaning in a URL; others, such as `é`, are percent-encoded."""


class FetchError(Exception):
    """A URL has no content, or may not be requested."""


class RateLimitedError(FetchError):
    """A server asks the client to wait for longer than the retry budget."""


class _HttpConnection(http.client.HTTPConnection):
    """Connection to public addresses and trusted hosts only.

    The address is checked after connecting, as a host name may resolve to another address between a
    previous check and the connection.
    """

    trusted: frozenset[tuple[str, int]] = frozenset()

    def connect(self) -> None:
        """Connect, and close the connection at once if the address is not public.

        Raises:
            FetchError: if the address is neither public nor trusted.
        """
        super().connect()
        address = ipaddress.ip_address(self.sock.getpeername()[0])
        if (self.host.lower(), self.port) not in self.trusted and not address.is_global:
            self.close()
            msg = f"{self.host} is {address}, which is not a public address"
            raise FetchError(msg)


class _HttpsConnection(http.client.HTTPSConnection, _HttpConnection):
    """Such a connection with TLS."""


class _Opener(urllib.request.AbstractHTTPHandler):
    """Handler that opens URLs with the connections above."""

    def __init__(self, trusted: frozenset[tuple[str, int]]) -> None:
        super().__init__()
        self._trusted = trusted

    def _connection(
        self, kind: type[_HttpConnection], host: str, **options: Any
    ) -> _HttpConnection:
        connection = kind(host, **options)
        connection.trusted = self._trusted
        return connection

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(self._connection, _HttpConnection), request)

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(self._connection, _HttpsConnection), request)

    http_request = urllib.request.AbstractHTTPHandler.do_request_
    https_request = http_request


@dataclass
class Web:
    """Client of a server that the user has named, and of the public addresses in its responses.

    The server may have any address, even a local one. Other servers must have public addresses, and
    are requested by `https` only. A proxy that the environment names is used and trusted.
    """

    endpoint: str
    """URL of the server."""
    pause_s: float = 0.5
    """Minimum pause between two requests, in seconds."""
    retry_budget_s: float = 60.0
    """Maximum total wait before retries of one request, while the server is busy, in seconds."""
    _last_request_s: float = field(default=float("-inf"), init=False, repr=False)
    _director: urllib.request.OpenerDirector = field(init=False, repr=False)
    """Opener that neither follows redirects nor raises for error statuses."""

    def __post_init__(self) -> None:
        trusted = (self.endpoint, *urllib.request.getproxies().values())
        self._director = urllib.request.OpenerDirector()
        self._director.add_handler(urllib.request.ProxyHandler())
        self._director.add_handler(_Opener(frozenset(map(_host_and_port, trusted))))

    def fetch(self, url: str, *, accept: str, max_bytes: int) -> bytes:
        """Return the content of a URL.

        Args:
            url: the URL; at most three redirects are followed.
            accept: accepted content types, as in the header `Accept`.
            max_bytes: the maximum size of the content.

        Raises:
            FetchError: if there is no content, the content is too large, or the URL is forbidden.
            RateLimitedError: if the server asks to wait for longer than `retry_budget_s`.
        """
        try:
            for _ in range(_MAX_REDIRECTS + 1):
                url = self._checked_url(url)
                with closing(self._response(url, accept)) as response:
                    if response.status == HTTPStatus.OK:
                        return _body(response, max_bytes)
                    if response.status not in _REDIRECTS:
                        msg = f"{url}: the server responded with status {response.status}"
                        raise FetchError(msg)
                    url = urljoin(url, response.headers.get("Location", ""))
        except (OSError, http.client.HTTPException, ValueError) as error:
            msg = f"{url}: {error}"
            raise FetchError(msg) from error
        msg = f"{url}: redirected more than {_MAX_REDIRECTS} times"
        raise FetchError(msg)

    def _checked_url(self, url: str) -> str:
        """Return a URL that may be requested, percent-encoded.

        Raises:
            FetchError: if the URL may not be requested.
            ValueError: if the URL is invalid.
        """
        parts, endpoint = urlsplit(url), urlsplit(self.endpoint)
        is_endpoint = (parts.scheme, parts.netloc) == (endpoint.scheme, endpoint.netloc)
        if "@" in parts.netloc or not (is_endpoint or parts.scheme == "https"):
            msg = f"{url}: not requested, as only https URLs without credentials are allowed"
            raise FetchError(msg)
        return quote(url, safe=_RESERVED)

    def _response(self, url: str, accept: str) -> http.client.HTTPResponse:
        """Return the response of a server; retry with backoff while the server is busy.

        Raises:
            RateLimitedError: if the retry budget does not suffice.
            OSError: if there is no response.
        """
        headers = {"User-Agent": _AGENT, "Accept": accept}
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - `_checked_url` has checked the scheme
        budget_s, backoff_s = self.retry_budget_s, 1.0
        while True:
            time.sleep(max(0.0, self._last_request_s + self.pause_s - time.monotonic()))
            response: http.client.HTTPResponse = self._director.open(
                request, timeout=_RESPONSE_TIMEOUT_S
            )
            self._last_request_s = time.monotonic()
            if response.status not in _BUSY_STATUSES:
                return response
            response.close()
            wait_s = max(_retry_after_s(response.headers.get("Retry-After", "")), backoff_s)
            if wait_s > budget_s:
                msg = f"{url}: status {response.status}; the server asks to wait for {wait_s:.0f} s"
                raise RateLimitedError(msg)
            budget_s, backoff_s = budget_s - wait_s, 2 * backoff_s
            time.sleep(wait_s)


def _host_and_port(address: str) -> tuple[str, int]:
    parts = urlsplit(address if "://" in address else f"//{address}")
    return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, _PORTS["http"])


def _retry_after_s(header: str) -> float:
    """Return the seconds of a Retry-After header; 0 if it is missing or invalid."""
    if re.fullmatch("[0-9]{1,9}", header):
        return float(header)
    try:
        return parsedate_to_datetime(header).timestamp() - time.time()
    except (ValueError, OverflowError):
        return 0.0


def _body(response: http.client.HTTPResponse, max_bytes: int) -> bytes:
    """Return the content of a response.

    Raises:
        FetchError: if the content is too large, incomplete or slow.
    """
    deadline = time.monotonic() + _CONTENT_TIMEOUT_S
    body = bytearray()
    while chunk := response.read1(_CHUNK_BYTES):
        body += chunk
        if len(body) > max_bytes or time.monotonic() > deadline:
            msg = (
                f"{response.url}: the response is larger than {max_bytes} bytes, "
                f"or took longer than {_CONTENT_TIMEOUT_S:.0f} s"
            )
            raise FetchError(msg)
    if response.length:
        msg = f"{response.url}: the response is incomplete: {response.length} bytes are missing"
        raise FetchError(msg)
    return bytes(body)
