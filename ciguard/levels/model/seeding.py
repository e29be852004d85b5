"""Seed models of level `model`: their sources, and their description by a target."""

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
    from ciguard.levels.model.seed_sources import SeedSource
    from ciguard.levels.model.seeds import SeedModel

LEVEL = "model"
_KIND = "seed model"
_WILDCARD = frozenset("*?[")
_PRETRAINED_PREFIX = "pretrained:"
LIBRARY = "keras"
"""Name of the library whose layer graphs run on several backends."""


def check_models(config: Config) -> None:
    """Raise an error for settings that cannot work, before anything is built.

    Raises:
        UnknownNameError: if a seed model is unknown.
        ConfigurationError: if no target is of Keras, or a file is missing.
        TargetSyntaxError, UnknownLibraryError: if a target's text is invalid.
    """
    target_libraries = [
        libraries_of(parse_target(text)) for text in (*config.base, *config.targets)
    ]
    if all(target_libraries):  # the libraries of target `current` are not known yet
        refuse_without_keras(
            library.name for libraries in target_libraries for library in libraries
        )
    seed_sources(config)


def refuse_without_keras(libraries: Iterable[str]) -> None:
    """Raise an error if Keras is not among the libraries of the targets.

    Raises:
        ConfigurationError: if Keras is missing; the message lists the libraries.
    """
    names = sorted(set(libraries))
    if LIBRARY not in names:
        msg = (
            f"levels: {LEVEL!r} needs targets of Keras 3, such as 'keras==3.15.1 + torch', "
            f"but all targets are of {', '.join(names)}."
        )
        raise ConfigurationError(msg)


def seed_sources(config: Config) -> tuple[SeedSource, ...]:
    """Return the sources of a run's seed models; empty if the run does not test models.

    Raises:
        UnknownNameError: if a setting is neither a path nor the name of a shipped model.
        ConfigurationError: if a file is missing.
    """
    if LEVEL not in config.levels:
        return ()
    names = [name for text in config[MODELS] for name in _matches(text)]
    width, weights_folder = config[WIDTH] / 100, cache_folder() / "models"
    if any(name.startswith(_PRETRAINED_PREFIX) for name in names):
        # Workers may write only to existing folders.
        weights_folder.mkdir(parents=True, exist_ok=True)
    working_folder = Path.cwd()
    return tuple(
        parse_source(name, width=width, base=working_folder, weights_folder=weights_folder)
        for name in names
    )


def _matches(text: str) -> list[str]:
    """Return the shipped models that match a glob; other texts are returned unchanged."""
    if not _WILDCARD.intersection(text):
        return [text]
    names = [name for name in shipped_scripts() if fnmatchcase(name, text)]
    if not names:
        raise UnknownNameError(_KIND, visible(text), known=shipped_scripts())
    return names


def seed_models(
    group: Group, config: Config, dispatcher: Dispatcher
) -> Generator[Event, None, list[SeedModel]]:
    """Describe the seed models with the first target of a group.

    Yields a warning for each model that could not be described.

    Returns:
        The other models.

    Raises:
        ConfigurationError: if no model could be described.
        WorkerStartError: if the server of that target has ended.
    """
    sources = seed_sources(config)
    target = group.running_eagerly[0]
    models = []
    records = dispatcher.tasks(target).models([source.request for source in sources])
    for source, record in zip(sources, records, strict=True):
        try:
            models.append(read_seed_model(source, record))
        except SeedModelError as error:
            yield Warned(message=str(error))
    if not models:
        msg = (
            f"models: target {target} could not describe any seed model. The warnings above "
            "say why, and what to do; docs/levels/model.md lists what models may contain."
        )
        raise ConfigurationError(msg)
    return models
