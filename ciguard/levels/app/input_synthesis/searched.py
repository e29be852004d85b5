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
from ciguard.levels.app.input_synthesis.kept import KeptImages, folder_name
from ciguard.levels.app.input_synthesis.pictures import photograph
from ciguard.levels.app.input_synthesis.sources import FileCredit
from ciguard.levels.app.input_synthesis.variants import alike
from ciguard.levels.app.input_synthesis.web import FetchError, RateLimitedError, Web
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
    from ciguard.levels.app.input_synthesis.searches import ImageSearch, Offered

_log = logging.getLogger(__name__)

_TASKS = frozenset({RecognitionTask.LABELS, RecognitionTask.OBJECTS, RecognitionTask.FACES})
_OF_FACES = frozenset({"human", "face", "likelihood"})
"""Words that say no more of a face."""
_MOST = 50
"""Images of a label: enough for its share of a hundred inputs."""
_MAX_LENGTH = 100
"""Characters of a label that a search engine is asked for."""
_MAX_TEXT_LENGTH = 1000
"""Characters of an address, or a maker's name."""
_MAX_BYTES = 10 * 2**20
"""Of an image; they are asked for scaled down."""
_ACCEPT = "image/jpeg, image/png;q=0.9, image/*;q=0.5, */*;q=0.1"
"""Openverse, which passes images on, answers 406 to who does not take everything."""


@dataclass
class SearchedImages:
    """Takes images from a folder, and asks a search engine for those that are missing there.

    What was found is kept: the same is never asked for again. After the engine has failed, it is
    let alone.
    """

    search: ImageSearch
    folder: Path
    web: Web
    _is_down: bool = field(default=False, init=False)

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether that is something which images show, and words to look for are in it."""
        return wanted.task in _TASKS and bool(_words(wanted)) and bool(folder_name(wanted.key))

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return at most so many images, and never more than 50.

        Args:
            wanted: its key is the label, or what a face shows.
            count: how many at most.
            seed: which ones, where there are more.

        Raises:
            ConfigurationError: if the folder cannot be read or written.
        """
        if not self.serves(wanted):
            return ()
        kept = KeptImages(self.folder)
        try:
            with kept.lock():
                self._fill(kept, wanted, min(count, _MOST))
                if not kept.of(wanted.key):
                    return ()
        except OSError as error:
            msg = f"{self.folder}: cannot be written: {error}. Name another place with --cache."
            raise ConfigurationError(msg) from error
        return LabelledFolder(self.folder).inputs(wanted, min(count, _MOST), seed=seed)

    def _fill(self, kept: KeptImages, wanted: InputSpec, count: int) -> None:
        """Look for images until there are so many of a label, or no more are found."""
        label, endpoint = wanted.key, self.search.endpoint
        known = {source.url for source in kept.of(label).values()}
        missing = count - len(known)
        if missing <= 0 or kept.looked_for(label, endpoint) >= count or self._is_down:
            return
        try:
            offered = self.search.offered(_words(wanted), self.web)
            fresh = (one for one in offered if one.page not in known)
            for content, source in islice(self._fetched(fresh, 2 * count), missing):
                kept.keep(label, content, source)
            kept.note(label, endpoint, count)
        except FetchError as error:
            self._is_down = True
            _log.warning("no more images are looked for: %s", visible(str(error)))

    def _fetched(
        self, offered: Iterator[Offered], tries: int
    ) -> Iterator[tuple[bytes, FileCredit]]:
        """Yield the images among the first that are offered, written anew."""
        for one in islice(offered, tries):
            try:
                content = self.web.fetch(one.image, accept=_ACCEPT, most_bytes=_MAX_BYTES)
            except RateLimitedError:
                raise
            except FetchError as error:
                _log.info("an image is left out: %s", visible(str(error)))
                continue
            image = photograph(content)
            if image is None:
                _log.info("an image is left out: %s: it shows none", visible(one.image))
                continue
            told = (one.licence, one.page, one.creator)
            yield image, FileCredit(*(visible(text, limit=_MAX_TEXT_LENGTH) for text in told))


def _words(wanted: InputSpec) -> str:
    """Return what to look for; nothing of it has a meaning of its own to search engines."""
    words = re.findall(r"\w+(?:'\w+)*", alike(wanted.key))
    if words and wanted.task is RecognitionTask.FACES:
        words = [*(one for one in words if one not in _OF_FACES), "human", "face"]
    about = " ".join(words)
    return about if len(about) <= _MAX_LENGTH else ""
