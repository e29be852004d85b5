"""Fetches what a user has asked for from the web: bounded, unhurried, and no private address."""

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
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_TIMEOUT_S = 20.0
"""Until a server says something."""
_MAX_S = 60.0
"""Until it has said all."""
_CHUNK_BYTES = 2**16
_PORTS = {"https": 443, "http": 80}
_KEPT = "%/:=&?~#+!$,;'()*[]"
"""Characters of an address that mean something there; others, such as `é`, are encoded."""


class FetchError(Exception):
    """An address gives nothing, or may not be asked."""


class RateLimitedError(FetchError):
    """A server does not want to be asked again for longer than anybody would wait."""


class _Plain(http.client.HTTPConnection):
    """Talks to public addresses alone, and to trusted machines.

    What a name stands for is looked at where the connection has led, not before: a name may come
    to stand for something else in between.
    """

    trusted: frozenset[tuple[str, int]] = frozenset()

    def connect(self) -> None:
        """Connect, and hang up before anything is said if that is no public address.

        Raises:
            FetchError: if it is none.
        """
        super().connect()
        address = ipaddress.ip_address(self.sock.getpeername()[0])
        if (self.host.lower(), self.port) not in self.trusted and not address.is_global:
            self.close()
            msg = f"{self.host} is {address}, which is no public address"
            raise FetchError(msg)


class _Secure(http.client.HTTPSConnection, _Plain):
    """The same, encrypted as soon as it is connected like that."""


class _Opener(urllib.request.AbstractHTTPHandler):
    """Opens addresses by way of these connections."""

    def __init__(self, trusted: frozenset[tuple[str, int]]) -> None:
        super().__init__()
        self._trusted = trusted

    def _connection(self, kind: type[_Plain], host: str, **options: Any) -> _Plain:
        made = kind(host, **options)
        made.trusted = self._trusted
        return made

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(self._connection, _Plain), request)

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(self._connection, _Secure), request)

    http_request = urllib.request.AbstractHTTPHandler.do_request_
    https_request = http_request


@dataclass
class Web:
    """One server that a user has named, and the public addresses that it names.

    The server itself may be anywhere, also on the loopback. Others are asked by `https` alone, and
    only at public addresses; a proxy of the environment is used and trusted.
    """

    endpoint: str
    """Its address."""
    pause_s: float = 0.5
    """Between two requests."""
    patience_s: float = 60.0
    """For one that the server is too busy for."""
    _last: float = field(default=float("-inf"), init=False, repr=False)
    _director: urllib.request.OpenerDirector = field(init=False, repr=False)
    """Follows no redirect by itself, and raises nothing for any status."""

    def __post_init__(self) -> None:
        named = (self.endpoint, *urllib.request.getproxies().values())
        self._director = urllib.request.OpenerDirector()
        self._director.add_handler(urllib.request.ProxyHandler())
        self._director.add_handler(_Opener(frozenset(map(_machine, named))))

    def fetch(self, url: str, *, accept: str, most_bytes: int) -> bytes:
        """Return what lies at an address.

        Args:
            url: the address; at most three redirects are followed.
            accept: types of content, as the header `Accept` has them.
            most_bytes: that are taken.

        Raises:
            FetchError: if there is nothing, it is too large, or may not be asked for.
            RateLimitedError: if the server asks to wait for longer than `patience_s`.
        """
        try:
            for _ in range(_MAX_REDIRECTS + 1):
                url = self._permitted(url)
                with closing(self._answered(url, accept)) as response:
                    if response.status == HTTPStatus.OK:
                        return _body(response, most_bytes)
                    if response.status not in _REDIRECTS:
                        msg = f"{url}: answered with {response.status}"
                        raise FetchError(msg)
                    url = urljoin(url, response.headers.get("Location", ""))
        except (OSError, http.client.HTTPException, ValueError) as error:
            msg = f"{url}: {error}"
            raise FetchError(msg) from error
        msg = f"{url}: redirected more than {_MAX_REDIRECTS} times"
        raise FetchError(msg)

    def _permitted(self, url: str) -> str:
        """Return an address, encoded, if it may be asked.

        Raises:
            FetchError: if it may not.
            ValueError: if it is none.
        """
        parts, own = urlsplit(url), urlsplit(self.endpoint)
        is_own = (parts.scheme, parts.netloc) == (own.scheme, own.netloc)
        if "@" in parts.netloc or not (is_own or parts.scheme == "https"):
            msg = f"{url}: not asked, only https is"
            raise FetchError(msg)
        return quote(url, safe=_KEPT)

    def _answered(self, url: str, accept: str) -> http.client.HTTPResponse:
        """Return the answer of a server; while it is too busy, wait and ask again.

        Raises:
            RateLimitedError: if that takes too long.
            OSError: if there is no answer.
        """
        headers = {"User-Agent": _AGENT, "Accept": accept}
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - see `_permitted`
        left_s, least_s = self.patience_s, 1.0
        while True:
            time.sleep(max(0.0, self._last + self.pause_s - time.monotonic()))
            response: http.client.HTTPResponse = self._director.open(request, timeout=_TIMEOUT_S)
            self._last = time.monotonic()
            if response.status not in _BUSY:
                return response
            response.close()
            wait_s = max(_asked_wait_s(response.headers.get("Retry-After", "")), least_s)
            if wait_s > left_s:
                msg = f"{url}: answered with {response.status}, asks to wait for {wait_s:.0f} s"
                raise RateLimitedError(msg)
            left_s, least_s = left_s - wait_s, 2 * least_s
            time.sleep(wait_s)


def _machine(address: str) -> tuple[str, int]:
    parts = urlsplit(address if "://" in address else f"//{address}")
    return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, _PORTS["http"])


def _asked_wait_s(header: str) -> float:
    """Return how long a server asks to wait; 0 if it says nothing that makes sense."""
    if re.fullmatch("[0-9]{1,9}", header):
        return float(header)
    try:
        return parsedate_to_datetime(header).timestamp() - time.time()
    except (ValueError, OverflowError):
        return 0.0


def _body(response: http.client.HTTPResponse, most_bytes: int) -> bytes:
    """Return the content of an answer.

    Raises:
        FetchError: if it is too large, takes too long, or ends before it should.
    """
    until = time.monotonic() + _MAX_S
    body = bytearray()
    while chunk := response.read1(_CHUNK_BYTES):
        body += chunk
        if len(body) > most_bytes or time.monotonic() > until:
            msg = f"{response.url}: more than {most_bytes} bytes, or slower than {_MAX_S:.0f} s"
            raise FetchError(msg)
    if response.length:
        msg = f"{response.url}: {response.length} bytes are missing at its end"
        raise FetchError(msg)
    return bytes(body)
