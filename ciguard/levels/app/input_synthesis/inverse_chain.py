"""Choice of the ways to synthesise inputs, and their order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.documents import DocumentWriter
from ciguard.levels.app.input_synthesis.folder import LabelledFolder
from ciguard.levels.app.input_synthesis.input_maker import InputMaker
from ciguard.levels.app.input_synthesis.named_entities import NamedEntities
from ciguard.levels.app.input_synthesis.printed_text import PrintedText, has_pillow
from ciguard.levels.app.input_synthesis.sentiment_texts import bundled_texts, read_texts
from ciguard.levels.app.input_synthesis.speech import SpokenText
from ciguard.levels.app.input_synthesis.web import Web
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ciguard.levels.app.input_synthesis.inputs import InputSpec, Inverse, ServiceInput
    from ciguard.levels.app.input_synthesis.search_engines import ImageSearch

_IMAGE_TASKS = frozenset({RecognitionTask.LABELS, RecognitionTask.OBJECTS})


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSources:
    """Sources of inputs that the user configures."""

    images: Path | None = None
    """Folder with one subfolder of files per label."""
    search: ImageSearch | None = None
    """Search engine for images that `images` lacks; None for no search."""
    image_folder: Path | None = None
    """Folder in which found images are stored."""
    texts: Path | None = None
    """CSV file with texts and their sentiments."""
    is_simulated: bool = False
    """True if labels are simulated, so that placeholders suffice as images."""


@dataclass(frozen=True, slots=True)
class DrawnInputs(InputMaker):
    """Drawn images: faces, images without content, and placeholders for simulated services."""

    is_simulated: bool

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether such an image can be drawn, and Pillow is installed."""
        if not has_pillow():
            return False
        if wanted.task is RecognitionTask.FACES and wanted.key:
            from ciguard.levels.app.input_synthesis.drawn_images import expression_of

            return bool(expression_of(wanted.key))
        is_placeholder = wanted.task in _IMAGE_TASKS and self.is_simulated
        return is_placeholder or (
            not wanted.key and wanted.task in {RecognitionTask.FACES, *_IMAGE_TASKS}
        )

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield placeholders of a label, faces, or images without content; see `InputMaker`."""
        from ciguard.levels.app.input_synthesis import drawn_images, pictures

        if not wanted.key:
            return pictures.pictures_without_content(wanted, rng)
        generate = (
            drawn_images.faces
            if wanted.task is RecognitionTask.FACES
            else drawn_images.placeholders
        )
        return generate(wanted, rng)


@dataclass(frozen=True, slots=True)
class InverseChain:
    """Several inverses, of which each adds the inputs that the previous ones lack."""

    inverses: tuple[Inverse, ...]

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether any of the inverses has such inputs."""
        return any(inverse.serves(wanted) for inverse in self.inverses)

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return up to `count` inputs; see `Inverse`."""
        chosen: dict[str, ServiceInput] = {}
        for inverse in self.inverses:
            if len(chosen) < count and inverse.serves(wanted):
                inputs = inverse.inputs(wanted, count - len(chosen), seed=seed)
                chosen |= {
                    candidate.digest: candidate
                    for candidate in inputs
                    if candidate.digest not in chosen
                }
        return tuple(islice(chosen.values(), count))


def inverse_of(sources: InputSources) -> InverseChain:
    """Return all ways to synthesise inputs; those that use the user's files come first.

    Raises:
        ConfigurationError: if a file or folder is invalid, or Pillow, which reads found images,
            is not installed.
    """
    user_inverses: list[Inverse] = [LabelledFolder(sources.images)] if sources.images else []
    if sources.search is not None and sources.image_folder is not None:
        user_inverses.append(_image_search(sources.search, sources.image_folder))
    texts = read_texts(sources.texts) if sources.texts else bundled_texts()
    synthesised = (PrintedText(), SpokenText(), texts, NamedEntities(), DocumentWriter())
    return InverseChain((*user_inverses, *synthesised, DrawnInputs(sources.is_simulated)))


def _image_search(search: ImageSearch, folder: Path) -> Inverse:
    if not has_pillow():
        msg = (
            "--search needs Pillow, which is not installed. "
            "Install Pillow with `pip install 'ciguard[apps]'`."
        )
        raise ConfigurationError(msg)
    from ciguard.levels.app.input_synthesis.image_search import SearchedImages

    return SearchedImages(search, folder, Web(search.endpoint))
