"""Configures the ways to synthesise inputs, and their order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.documents import DocumentWriter
from ciguard.levels.app.input_synthesis.folder import LabelledFolder
from ciguard.levels.app.input_synthesis.naming import NamedEntities
from ciguard.levels.app.input_synthesis.printing import PrintedText, has_pillow
from ciguard.levels.app.input_synthesis.sentiment_texts import own_texts, read_texts
from ciguard.levels.app.input_synthesis.speaking import SpokenText
from ciguard.levels.app.input_synthesis.variants import InputMaker
from ciguard.levels.app.input_synthesis.web import Web
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ciguard.levels.app.input_synthesis.inputs import InputSpec, Inverse, ServiceInput
    from ciguard.levels.app.input_synthesis.searches import ImageSearch

_SHOWN = frozenset({RecognitionTask.LABELS, RecognitionTask.OBJECTS})


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSources:
    """Input sources of a user."""

    images: Path | None = None
    """Folder with a folder of files for each label."""
    search: ImageSearch | None = None
    """Search engine for images that the folder lacks; None to search nowhere."""
    image_folder: Path | None = None
    """Folder for the images that the search finds."""
    texts: Path | None = None
    """File with texts and their sentiment."""
    is_simulated: bool = False
    """True if labels are simulated, so that an image need not show anything."""


@dataclass(frozen=True, slots=True)
class DrawnInputs(InputMaker):
    """Draws faces and images of nothing, and placeholders of labels for simulated services."""

    is_simulated: bool

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether it draws such an image, and Pillow is installed."""
        if not has_pillow():
            return False
        if wanted.task is RecognitionTask.FACES and wanted.key:
            from ciguard.levels.app.input_synthesis.drawing import shown_by

            return bool(shown_by(wanted.key))
        is_placeholder = wanted.task in _SHOWN and self.is_simulated
        return is_placeholder or (
            not wanted.key and wanted.task in {RecognitionTask.FACES, *_SHOWN}
        )

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield images of a label or a face; see `InputMaker`."""
        from ciguard.levels.app.input_synthesis import drawing, pictures

        if not wanted.key:
            return pictures.pictures_of_nothing(wanted, rng)
        make = drawing.faces if wanted.task is RecognitionTask.FACES else drawing.placeholders
        return make(wanted, rng)


@dataclass(frozen=True, slots=True)
class InverseChain:
    """Takes inputs from the first way that has some, and fills up from the next."""

    ways: tuple[Inverse, ...]

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether one of the ways has such inputs."""
        return any(way.serves(wanted) for way in self.ways)

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return up to `count` inputs; see `Inverse`."""
        found: dict[str, ServiceInput] = {}
        for way in self.ways:
            if len(found) < count and way.serves(wanted):
                inputs = way.inputs(wanted, count - len(found), seed=seed)
                found |= {
                    candidate.digest: candidate
                    for candidate in inputs
                    if candidate.digest not in found
                }
        return tuple(islice(found.values(), count))


def inverse_of(sources: InputSources) -> InverseChain:
    """Return all ways to synthesise inputs, those of a user's files first.

    Raises:
        ConfigurationError: if a file or folder is invalid, or the package that reads searched
            images is missing.
    """
    own: list[Inverse] = [LabelledFolder(sources.images)] if sources.images else []
    if sources.search is not None and sources.image_folder is not None:
        own.append(_searched(sources.search, sources.image_folder))
    texts = read_texts(sources.texts) if sources.texts else own_texts()
    synthesised = (PrintedText(), SpokenText(), texts, NamedEntities(), DocumentWriter())
    return InverseChain((*own, *synthesised, DrawnInputs(sources.is_simulated)))


def _searched(search: ImageSearch, folder: Path) -> Inverse:
    if not has_pillow():
        msg = "--search: Pillow is not installed. Install it with `pip install 'ciguard[apps]'`."
        raise ConfigurationError(msg)
    from ciguard.levels.app.input_synthesis.searched import SearchedImages

    return SearchedImages(search, folder, Web(search.endpoint))
