"""Search engines for images with open licences (Keeper paper, section 3.2.1)."""

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

_PAGE_SIZE = 20
"""Number of results per page, the maximum that Openverse allows anonymous clients."""
_MAX_PAGES = 8
_MAX_BYTES = 4 * 2**20
"""Maximum size of a page of results."""
_OPEN_LICENCES = {"by": "CC BY", "by-sa": "CC BY-SA", "cc0": "CC0", "pdm": "Public Domain Mark"}
"""Licence that permits use, change and distribution, by Openverse's code → usual name."""
_WIDTH = 960
"""Width of a scaled-down image in pixels, one of those that Wikimedia caches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSearchResult:
    """One image that a search engine has found."""

    image: str
    """URL of the image, scaled down if available."""
    page: str
    """URL of the page that describes the image."""
    licence: str
    creator: str


class ImageSearch(Protocol):
    """A search engine for images."""

    @property
    def endpoint(self) -> str:
        """URL of the search engine's API."""

    def search(self, words: str, web: Web) -> Iterator[ImageSearchResult]:
        """Yield images for search words, the best first; further pages are requested when needed.

        Args:
            words: the words: letters, digits and single spaces.
            web: the client that fetches the pages.

        Raises:
            FetchError: if the search engine does not respond, or its response is invalid.
        """


@dataclass(frozen=True, slots=True)
class Openverse:
    """Openverse, an index of openly licensed images of Flickr, museums and others."""

    endpoint: str = "https://api.openverse.org/v1/images/"

    def search(self, words: str, web: Web) -> Iterator[ImageSearchResult]:
        """Yield images with licences that permit use, change and distribution."""
        for number in range(1, _MAX_PAGES + 1):
            answer = _request(
                web,
                self.endpoint,
                {
                    "q": words,
                    "license_type": "commercial,modification",
                    "page_size": _PAGE_SIZE,
                    "page": number,
                },
            )
            results = _records(answer, "results")
            yield from filter(None, map(_openverse_result, results))
            if not results or number >= _number(answer, "page_count"):
                return


def _openverse_result(result: dict[str, Any]) -> ImageSearchResult | None:
    name = _OPEN_LICENCES.get(_text(result, "license"))
    if name is None:
        return None
    return _if_complete(
        ImageSearchResult(
            image=_text(result, "thumbnail") or _text(result, "url"),
            page=_text(result, "foreign_landing_url"),
            licence=f"{name} {_text(result, 'license_version')}".strip(),
            creator=_text(result, "creator"),
        )
    )


@dataclass(frozen=True, slots=True)
class Commons:
    """Wikimedia Commons, which accepts only files with open licences."""

    endpoint: str = "https://commons.wikimedia.org/w/api.php"

    def search(self, words: str, web: Web) -> Iterator[ImageSearchResult]:
        """Yield bitmap images; vector images would have to be rendered."""
        offset: object = 0
        for _ in range(_MAX_PAGES):
            answer = _request(
                web,
                self.endpoint,
                {
                    "action": "query",
                    "format": "json",
                    "formatversion": 2,
                    "generator": "search",
                    "gsrsearch": f"{words} filetype:bitmap",
                    "gsrnamespace": 6,  # files
                    "gsrlimit": _PAGE_SIZE,
                    "gsroffset": offset,
                    "prop": "imageinfo",
                    "iiprop": "url|mime|extmetadata",
                    "iiextmetadatafilter": "LicenseShortName|Artist|NonFree",
                    "iiurlwidth": _WIDTH,
                },
            )
            pages = _records(_record(answer, "query"), "pages")
            pages.sort(key=lambda page: _number(page, "index"))
            infos = (info for page in pages for info in _records(page, "imageinfo")[:1])
            yield from filter(None, map(_commons_result, infos))
            offset = _number(_record(answer, "continue"), "gsroffset")
            if not offset:
                return


def _commons_result(info: dict[str, Any]) -> ImageSearchResult | None:
    metadata = _record(info, "extmetadata")
    if _metadata_text(metadata, "NonFree") or not _text(info, "mime").startswith("image/"):
        return None
    return _if_complete(
        ImageSearchResult(
            image=_text(info, "thumburl") or _text(info, "url"),
            page=_text(info, "descriptionurl"),
            licence=_metadata_text(metadata, "LicenseShortName"),
            creator=_metadata_text(metadata, "Artist"),
        )
    )


def _metadata_text(metadata: dict[str, Any], name: str) -> str:
    """Return the text of a metadata field, whose value is HTML."""
    words = html.unescape(re.sub(r"<[^<>]*>", " ", _text(_record(metadata, name), "value")))
    return " ".join(words.split())


def _if_complete(result: ImageSearchResult) -> ImageSearchResult | None:
    """Return a result if it has an image, a page and a licence; else None."""
    return result if result.image and result.page and result.licence else None


SEARCHES: dict[str, type[Openverse | Commons]] = {"openverse": Openverse, "wikimedia": Commons}
"""Name of a search engine → its class."""


def search_of(name: str, url: str | None = None) -> ImageSearch:
    """Return a search engine.

    Args:
        name: one of `SEARCHES`.
        url: the URL of a compatible API; None for the search engine's own.

    Raises:
        ConfigurationError: if the URL is invalid.
    """
    engine = SEARCHES[name]
    if url is None:
        return engine()
    if not _is_address(url):
        msg = f"--search-url {url} is not the URL of a search API. Write https://HOST/PATH."
        raise ConfigurationError(msg)
    return engine(url)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_web_address = (
            parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        )
    except ValueError:
        return False
    return is_web_address and "@" not in url and not parts.query and not parts.fragment


def _request(web: Web, endpoint: str, parameters: dict[str, object]) -> dict[str, Any]:
    """Return the response of a search API, a JSON object.

    Raises:
        FetchError: if there is no response, or it is not a JSON object.
    """
    url = f"{endpoint}?{urlencode(parameters)}"
    content = web.fetch(url, accept="application/json", max_bytes=_MAX_BYTES)
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        msg = f"{endpoint}: the response is not JSON: {error}"
        raise FetchError(msg) from error
    problem = (
        _record(answer, "error")
        if isinstance(answer, dict)
        else {"info": "the response is not a JSON object"}
    )
    if problem:
        msg = f"{endpoint}: {_text(problem, 'info') or 'the server refused the request'}"
        raise FetchError(msg)
    return dict(answer)


# Responses are not trusted: each value may have any type.


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
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
