"""Searches for images that anybody may use, change and pass on (Keeper, 3.2.1)."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlencode, urlsplit

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.web import FetchError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ciguard.levels.app.input_synthesis.web import Web

_PAGE = 20
"""Results that are asked for at once: the most that Openverse gives to whom it does not know."""
_MAX_PAGES = 8
_MAX_BYTES = 4 * 2**20
"""Of a page of results."""
_OPEN = {"by": "CC BY", "by-sa": "CC BY-SA", "cc0": "CC0", "pdm": "Public Domain Mark"}
"""Licences that permit all of that, as Openverse and as people call them."""
_WIDTH = 960
"""Pixels of a scaled image: one of the few widths that Wikimedia has ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """An image that a search has found."""

    image: str
    """Address of the image, scaled down where there is such a one."""
    page: str
    """Address of the page on which its maker shows it."""
    licence: str
    creator: str


class ImageSearch(Protocol):
    """A search engine for images."""

    @property
    def endpoint(self) -> str:
        """Address that it answers at."""

    def offered(self, words: str, web: Web) -> Iterator[Offered]:
        """Yield images for some words, the best first; results are asked for as they are needed.

        Args:
            words: letters, digits and single spaces.
            web: asks.

        Raises:
            FetchError: if it does not answer, or with something else.
        """


@dataclass(frozen=True, slots=True)
class Openverse:
    """Openverse, which knows some 800 million images of Flickr, museums and others."""

    endpoint: str = "https://api.openverse.org/v1/images/"

    def offered(self, words: str, web: Web) -> Iterator[Offered]:
        """Yield images of licences that permit everything but to leave out who made them."""
        for number in range(1, _MAX_PAGES + 1):
            answer = _asked(
                web,
                self.endpoint,
                {
                    "q": words,
                    "license_type": "commercial,modification",
                    "page_size": _PAGE,
                    "page": number,
                },
            )
            results = _records(answer, "results")
            yield from filter(None, map(_of_openverse, results))
            if not results or number >= _number(answer, "page_count"):
                return


def _of_openverse(result: dict[str, Any]) -> Offered | None:
    name = _OPEN.get(_text(result, "license"))
    if name is None:
        return None
    return _complete(
        Offered(
            image=_text(result, "thumbnail") or _text(result, "url"),
            page=_text(result, "foreign_landing_url"),
            licence=f"{name} {_text(result, 'license_version')}".strip(),
            creator=_text(result, "creator"),
        )
    )


@dataclass(frozen=True, slots=True)
class Commons:
    """Wikimedia Commons, which takes only files that anybody may use and change."""

    endpoint: str = "https://commons.wikimedia.org/w/api.php"

    def offered(self, words: str, web: Web) -> Iterator[Offered]:
        """Yield images that are no drawings of lines, which would have to be rendered."""
        beginning: object = 0
        for _ in range(_MAX_PAGES):
            answer = _asked(
                web,
                self.endpoint,
                {
                    "action": "query",
                    "format": "json",
                    "formatversion": 2,
                    "generator": "search",
                    "gsrsearch": f"{words} filetype:bitmap",
                    "gsrnamespace": 6,  # files
                    "gsrlimit": _PAGE,
                    "gsroffset": beginning,
                    "prop": "imageinfo",
                    "iiprop": "url|mime|extmetadata",
                    "iiextmetadatafilter": "LicenseShortName|Artist|NonFree",
                    "iiurlwidth": _WIDTH,
                },
            )
            found = _records(_record(answer, "query"), "pages")
            found.sort(key=lambda page: _number(page, "index"))
            infos = (info for page in found for info in _records(page, "imageinfo")[:1])
            yield from filter(None, map(_of_commons, infos))
            beginning = _number(_record(answer, "continue"), "gsroffset")
            if not beginning:
                return


def _of_commons(info: dict[str, Any]) -> Offered | None:
    told = _record(info, "extmetadata")
    if _said(told, "NonFree") or not _text(info, "mime").startswith("image/"):
        return None
    return _complete(
        Offered(
            image=_text(info, "thumburl") or _text(info, "url"),
            page=_text(info, "descriptionurl"),
            licence=_said(told, "LicenseShortName"),
            creator=_said(told, "Artist"),
        )
    )


def _said(told: dict[str, Any], name: str) -> str:
    """Return what is told of a file, which is HTML, as text."""
    words = html.unescape(re.sub(r"<[^<>]*>", " ", _text(_record(told, name), "value")))
    return " ".join(words.split())


def _complete(offered: Offered) -> Offered | None:
    """Return what can be credited; None for what does not say whence and on which terms it is."""
    return offered if offered.image and offered.page and offered.licence else None


SEARCHES: dict[str, type[Openverse | Commons]] = {"openverse": Openverse, "wikimedia": Commons}
"""By the names that users choose them by."""


def search_of(name: str, url: str | None = None) -> ImageSearch:
    """Return a search engine.

    Args:
        name: one of `SEARCHES`.
        url: another address that answers like it.

    Raises:
        ConfigurationError: if that is no such address.
    """
    made = SEARCHES[name]
    if url is None:
        return made()
    if not _is_address(url):
        msg = f"--search-url {url}: no address of a search. Write https://HOST/PATH."
        raise ConfigurationError(msg)
    return made(url)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_asked = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_asked and "@" not in url and not parts.query and not parts.fragment


def _asked(web: Web, endpoint: str, parameters: dict[str, object]) -> dict[str, Any]:
    """Return the answer to a question, a JSON object.

    Raises:
        FetchError: if there is none.
    """
    url = f"{endpoint}?{urlencode(parameters)}"
    content = web.fetch(url, accept="application/json", most_bytes=_MAX_BYTES)
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        msg = f"{endpoint}: answered with no JSON: {error}"
        raise FetchError(msg) from error
    refused = _record(answer, "error") if isinstance(answer, dict) else {"info": "no JSON object"}
    if refused:
        msg = f"{endpoint}: {_text(refused, 'info') or 'refused'}"
        raise FetchError(msg)
    return dict(answer)


# What is answered may be anything.


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _number(record: dict[str, Any], key: str) -> int:
    value = record.get(key)
    return value if isinstance(value, int) else 0


def _record(record: dict[str, Any], key: str) -> dict[str, Any]:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _records(record: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = record.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
