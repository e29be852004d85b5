"""Images that a search engine finds for a label (Keeper, 3.2.1)."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.folder import LabelledFolder
from ciguard.levels.app.input_synthesis.image_cache import ImageCache, folder_name
from ciguard.levels.app.input_synthesis.pictures import photograph
from ciguard.levels.app.input_synthesis.sources import FileCredit
from ciguard.levels.app.input_synthesis.variants import normalised_name
from ciguard.levels.app.input_synthesis.web import FetchError, RateLimitedError, Web
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
    from ciguard.levels.app.input_synthesis.searches import ImageSearch, ImageSearchResult

_log = logging.getLogger(__name__)

_TASKS = frozenset({RecognitionTask.LABELS, RecognitionTask.OBJECTS, RecognitionTask.FACES})
_FACE_WORDS = frozenset({"human", "face", "likelihood"})
"""Words that describe any face."""
_MAX_IMAGES = 50
"""Maximum number of images per label: enough for its share of a hundred inputs."""
_MAX_LENGTH = 100
"""Maximum length of a label that is searched for, in characters."""
_MAX_TEXT_LENGTH = 1000
"""Maximum length of an address or a creator, in characters."""
_MAX_BYTES = 10 * 2**20
"""Maximum size of an image; scaled-down ones are requested."""
_ACCEPT = "image/jpeg, image/png;q=0.9, image/*;q=0.5, */*;q=0.1"
"""Accepted types. Openverse, as a proxy of images, answers 406 unless all types are accepted."""


@dataclass
class SearchedImages:
    """Takes images from a cache folder, and searches for missing ones.

    Found images are cached, and no search is repeated. After a failure, the engine is not used any
    more.
    """

    search: ImageSearch
    folder: Path
    web: Web
    _is_down: bool = field(default=False, init=False)

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether images can show it, and its key has words to search for."""
        return wanted.task in _TASKS and bool(_words(wanted)) and bool(folder_name(wanted.key))

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return up to `count` images, and at most 50.

        Args:
            wanted: specification; its key is the label, or what a face shows.
            count: maximum number of images.
            seed: seed of the choice, if there are more.

        Raises:
            ConfigurationError: if the folder cannot be read or written.
        """
        if not self.serves(wanted):
            return ()
        cache = ImageCache(self.folder)
        try:
            with cache.lock():
                self._fill(cache, wanted, min(count, _MAX_IMAGES))
                if not cache.images_of(wanted.key):
                    return ()
        except OSError as error:
            msg = f"{self.folder}: cannot be written: {error}. Choose another folder with --cache."
            raise ConfigurationError(msg) from error
        return LabelledFolder(self.folder).inputs(wanted, min(count, _MAX_IMAGES), seed=seed)

    def _fill(self, kept: ImageCache, wanted: InputSpec, count: int) -> None:
        """Search for images until a label has `count` of them, or no more are found."""
        label, endpoint = wanted.key, self.search.endpoint
        known = {source.url for source in kept.images_of(label).values()}
        missing = count - len(known)
        if missing <= 0 or kept.searched_count(label, endpoint) >= count or self._is_down:
            return
        try:
            offered = self.search.offered(_words(wanted), self.web)
            fresh = (result for result in offered if result.page not in known)
            for content, source in islice(self._fetched(fresh, 2 * count), missing):
                kept.keep(label, content, source)
            kept.record_search(label, endpoint, count)
        except FetchError as error:
            self._is_down = True
            _log.warning("the image search has stopped: %s", visible(str(error)))

    def _fetched(
        self, offered: Iterator[ImageSearchResult], max_attempts: int
    ) -> Iterator[tuple[bytes, FileCredit]]:
        """Yield the images among the first results, encoded again."""
        for result in islice(offered, max_attempts):
            try:
                content = self.web.fetch(result.image, accept=_ACCEPT, most_bytes=_MAX_BYTES)
            except RateLimitedError:
                raise
            except FetchError as error:
                _log.info("skipped an image: %s", visible(str(error)))
                continue
            image = photograph(content)
            if image is None:
                _log.info("skipped an image: %s: not an image", visible(result.image))
                continue
            credit = (result.licence, result.page, result.creator)
            yield image, FileCredit(*(visible(text, limit=_MAX_TEXT_LENGTH) for text in credit))


def _words(wanted: InputSpec) -> str:
    """Return the search words, without operators of search engines; empty if there are none."""
    words = re.findall(r"\w+(?:'\w+)*", normalised_name(wanted.key))
    if words and wanted.task is RecognitionTask.FACES:
        words = [*(word for word in words if word not in _FACE_WORDS), "human", "face"]
    query = " ".join(words)
    return query if len(query) <= _MAX_LENGTH else ""
