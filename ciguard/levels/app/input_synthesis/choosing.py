"""Which ways to make inputs there are, and in which order they are tried."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.documents import DocumentWriter
from ciguard.levels.app.input_synthesis.felt import own_texts, read_texts
from ciguard.levels.app.input_synthesis.folder import LabelledFolder
from ciguard.levels.app.input_synthesis.naming import NamedEntities
from ciguard.levels.app.input_synthesis.printing import PrintedText, draws
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
    """What a user has of inputs."""

    images: Path | None = None
    """A folder for each label."""
    search: ImageSearch | None = None
    """Is asked for images that are not there; none unless a user says so."""
    kept: Path | None = None
    """Folder for what it finds."""
    texts: Path | None = None
    """Texts that people feel something in."""
    is_simulated: bool = False
    """Whether labels are made up, so that an image need not show anything."""


@dataclass(frozen=True, slots=True)
class DrawnInputs(InputMaker):
    """Draws faces, and pictures of nothing; placeholders for labels if a service is simulated."""

    is_simulated: bool

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether it draws that, and Pillow is installed."""
        if not draws():
            return False
        if wanted.task is RecognitionTask.FACES and wanted.key:
            from ciguard.levels.app.input_synthesis.drawing import shown_by

            return bool(shown_by(wanted.key))
        is_shown = wanted.task in _SHOWN and self.is_simulated
        return is_shown or (not wanted.key and wanted.task in {RecognitionTask.FACES, *_SHOWN})

    def made(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Return images of a label, or of what a face shows; see `InputMaker`."""
        from ciguard.levels.app.input_synthesis import drawing, pictures

        if not wanted.key:
            return pictures.nothing(wanted, rng)
        make = drawing.faces if wanted.task is RecognitionTask.FACES else drawing.placeholders
        return make(wanted, rng)


@dataclass(frozen=True, slots=True)
class InOrder:
    """Takes from the first way that has inputs, and what that lacks from the next."""

    ways: tuple[Inverse, ...]

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether one of them has inputs for that."""
        return any(one.serves(wanted) for one in self.ways)

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return at most so many inputs; see `Inverse`."""
        found: dict[str, ServiceInput] = {}
        for one in self.ways:
            if len(found) < count and one.serves(wanted):
                made = one.inputs(wanted, count - len(found), seed=seed)
                found |= {each.digest: each for each in made if each.digest not in found}
        return tuple(islice(found.values(), count))


def inverse_of(sources: InputSources) -> InOrder:
    """Return all ways to make inputs, a user's own ones first.

    Raises:
        ConfigurationError: if a file or folder does not hold what it should, or a package is
            missing without which no image that is found can be read.
    """
    own: list[Inverse] = [LabelledFolder(sources.images)] if sources.images else []
    if sources.search is not None and sources.kept is not None:
        own.append(_searched(sources.search, sources.kept))
    felt = read_texts(sources.texts) if sources.texts else own_texts()
    made = (PrintedText(), SpokenText(), felt, NamedEntities(), DocumentWriter())
    return InOrder((*own, *made, DrawnInputs(sources.is_simulated)))


def _searched(search: ImageSearch, folder: Path) -> Inverse:
    if not draws():
        msg = "--search: Pillow is not installed. Install it with `pip install 'ciguard[apps]'`."
        raise ConfigurationError(msg)
    from ciguard.levels.app.input_synthesis.searched import SearchedImages

    return SearchedImages(search, folder, Web(search.endpoint))
