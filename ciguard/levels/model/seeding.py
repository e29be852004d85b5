"""Seed models of level `model`: where they come from, and what a target says of them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.events import Event, Warned
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError, SeedModelError, UnknownNameError
from ciguard.levels.model.seed_sources import parse_source, shipped_scripts
from ciguard.levels.model.seeds import read_seed_model
from ciguard.levels.model.settings import MODELS, WIDTH
from ciguard.targets import cache_folder, libraries_of, parse_target

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from ciguard.campaign import Group
    from ciguard.config import Config
    from ciguard.execution import Dispatcher
    from ciguard.levels.model.seed_sources import Source as SeedSource
    from ciguard.levels.model.seeds import SeedModel

LEVEL = "model"
_WHAT = "seed model"
_WILDCARD = frozenset("*?[")
_DOWNLOADED = "pretrained:"
LIBRARY = "keras"
"""The one library whose graphs of layers run on several others."""


def check_models(config: Config) -> None:
    """Refuse to test models where that cannot be, before anything is built.

    Raises:
        UnknownNameError: if there is no such seed model.
        ConfigurationError: if models are to be tested without Keras, or a file is missing.
        TargetSyntaxError, UnknownLibraryError: if a target cannot be read.
    """
    found = [libraries_of(parse_target(text)) for text in (*config.base, *config.targets)]
    if all(found):  # what `current` holds is known once it has been looked at
        refuse_without_keras(library.name for libraries in found for library in libraries)
    seed_sources(config)


def refuse_without_keras(libraries: Iterable[str]) -> None:
    """Refuse to test models on targets of these libraries alone.

    Raises:
        ConfigurationError: if Keras is none of them.
    """
    names = sorted(set(libraries))
    if LIBRARY not in names:
        msg = (
            f"levels: {LEVEL!r} needs targets of Keras 3, such as 'keras==3.15.1 + torch'; "
            f"there are only {', '.join(names)}."
        )
        raise ConfigurationError(msg)


def seed_sources(config: Config) -> tuple[SeedSource, ...]:
    """Return where the seed models of a run come from; none if it does not test models.

    Raises:
        UnknownNameError: if a setting is neither a path nor the name of a shipped model.
        ConfigurationError: if there is no such file.
    """
    if LEVEL not in config.levels:
        return ()
    names = [name for text in config[MODELS] for name in _matches(text)]
    width, keep = config[WIDTH] / 100, cache_folder() / "models"
    if any(name.startswith(_DOWNLOADED) for name in names):
        keep.mkdir(parents=True, exist_ok=True)  # workers may write to what is there
    here = Path.cwd()
    return tuple(parse_source(name, width=width, base=here, keep=keep) for name in names)


def _matches(text: str) -> list[str]:
    """Return the shipped models that a glob names; a text without wildcards stands for itself."""
    if not _WILDCARD.intersection(text):
        return [text]
    found = [name for name in shipped_scripts() if fnmatchcase(name, text)]
    if not found:
        raise UnknownNameError(_WHAT, visible(text), known=shipped_scripts())
    return found


def seed_models(
    group: Group, config: Config, dispatcher: Dispatcher
) -> Generator[Event, None, list[SeedModel]]:
    """Have the first target of a group describe the seed models.

    Returns:
        Those that could be described; a warning tells of each other one.

    Raises:
        ConfigurationError: if there is none.
        WorkerStartError: if the target's server is gone.
    """
    sources = seed_sources(config)
    target = group.running_eagerly[0]
    models = []
    records = dispatcher.errands(target).models([source.request for source in sources])
    for source, record in zip(sources, records, strict=True):
        try:
            models.append(read_seed_model(source, record))
        except SeedModelError as error:
            yield Warned(message=str(error))
    if not models:
        msg = f"models: {target} can describe none of the seed models; see the warnings above."
        raise ConfigurationError(msg)
    return models
