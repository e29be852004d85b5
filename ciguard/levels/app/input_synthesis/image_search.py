"""Images that a search engine finds for a label (Keeper paper, section 3.2.1)."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.credits import FileCredit
from ciguard.levels.app.input_synthesis.folder import LabelledFolder
from ciguard.levels.app.input_synthesis.image_cache import ImageCache, folder_name
from ciguard.levels.app.input_synthesis.input_maker import normalised_name
from ciguard.levels.app.input_synthesis.pictures import photograph
from ciguard.levels.app.input_synthesis.web import FetchError, RateLimitedError, Web
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
    from ciguard.levels.app.input_synthesis.search_engines import ImageSearch, ImageSearchResult

_log = logging.getLogger(__name__)

_TASKS = frozenset({RecognitionTask.LABELS, RecognitionTask.OBJECTS, RecognitionTask.FACES})
_FACE_WORDS = frozenset({"human", "face", "likelihood"})
"""Words of a label that apply to every face."""
_MAX_IMAGES = 50
"""Maximum number of images per label; a function gets about a hundred inputs in total."""
_MAX_LENGTH = 100
"""Maximum length of a search query, in characters."""
_MAX_TEXT_LENGTH = 1000
"""Maximum length of a stored licence, URL or creator, in characters."""
_MAX_BYTES = 10 * 2**20
"""Maximum size of a downloaded image, for which a scaled-down version is requested."""
_ACCEPT = "image/jpeg, image/png;q=0.9, image/*;q=0.5, */*;q=0.1"
"""Accepted content types; Openverse responds with 406 unless all types are accepted."""


@dataclass
class SearchedImages:
    """Images of a label from a cache folder, which a search engine fills.

    A search is not repeated. After a failure, no more searches are made.
    """

    search: ImageSearch
    folder: Path
    web: Web
    _has_failed: bool = field(default=False, init=False)

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether an image can show the specification, whose key must contain words."""
        return wanted.task in _TASKS and bool(_query(wanted)) and bool(folder_name(wanted.key))

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return up to `count` images, and at most 50.

        Args:
            wanted: the specification; its key is a label, or the expression of a face.
            count: the maximum number of images.
            seed: the seed by which images are chosen if there are more.

        Raises:
            ConfigurationError: if the folder cannot be read or written.
        """
        if not self.serves(wanted):
            return ()
        cache = ImageCache(self.folder)
        try:
            with cache.lock():
                self._fill_cache(cache, wanted, min(count, _MAX_IMAGES))
                if not cache.images_of(wanted.key):
                    return ()
        except OSError as error:
            msg = f"{self.folder} cannot be written: {error}. Choose another folder with --cache."
            raise ConfigurationError(msg) from error
        return LabelledFolder(self.folder).inputs(wanted, min(count, _MAX_IMAGES), seed=seed)

    def _fill_cache(self, cache: ImageCache, wanted: InputSpec, count: int) -> None:
        """Search for images of a label until the cache has `count` of them, if possible."""
        label, endpoint = wanted.key, self.search.endpoint
        known = {source.url for source in cache.images_of(label).values()}
        missing = count - len(known)
        if missing <= 0 or cache.completed_count(label, endpoint) >= count or self._has_failed:
            return
        try:
            results = self.search.search(_query(wanted), self.web)
            new_results = (result for result in results if result.page not in known)
            for content, source in islice(self._fetch_images(new_results, 2 * count), missing):
                cache.add(label, content, source)
            cache.record_search(label, endpoint, count)
        except FetchError as error:
            self._has_failed = True
            _log.warning("the search for images stopped: %s", visible(str(error)))

    def _fetch_images(
        self, results: Iterator[ImageSearchResult], max_attempts: int
    ) -> Iterator[tuple[bytes, FileCredit]]:
        """Yield the images of the first results, re-encoded as JPEG, with their credits."""
        for result in islice(results, max_attempts):
            try:
                content = self.web.fetch(result.image, accept=_ACCEPT, max_bytes=_MAX_BYTES)
            except RateLimitedError:
                raise
            except FetchError as error:
                _log.info("skipped a search result: %s", visible(str(error)))
                continue
            image = photograph(content)
            if image is None:
                _log.info(
                    "skipped a search result: %s is not a usable image", visible(result.image)
                )
                continue
            credit = (result.licence, result.page, result.creator)
            yield image, FileCredit(*(visible(text, limit=_MAX_TEXT_LENGTH) for text in credit))


def _query(wanted: InputSpec) -> str:
    """Return the search query, without operators of search engines; empty if it has no word."""
    words = re.findall(r"\w+(?:'\w+)*", normalised_name(wanted.key))
    if words and wanted.task is RecognitionTask.FACES:
        words = [*(word for word in words if word not in _FACE_WORDS), "human", "face"]
    query = " ".join(words)
    return query if len(query) <= _MAX_LENGTH else ""
