"""What level `app` must be given, and what it makes of it, before anything is built."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.levels.app.accuracy import Trying, settings_for
from ciguard.levels.app.dead_conditions import read_vocabulary
from ciguard.levels.app.reading import LEVEL, read_applications
from ciguard.levels.app.settings import APPLICATIONS, IMAGES, LABELS, RECORDING

if TYPE_CHECKING:
    from ciguard.config import Config
    from ciguard.levels.app.exploration import Surroundings

_MAX_FUNCTIONS = 2_000


def check_applications(config: Config) -> None:
    """Refuse to test applications where there are none, before anything is built.

    Raises:
        ConfigurationError: if none are given, one cannot be read or asks no service, or another
            file that the settings name does not hold what it should.
    """
    if not config[APPLICATIONS]:
        msg = (
            f"levels: {LEVEL!r} needs to know which applications to test: give folders or files, "
            "such as --application app."
        )
        raise ConfigurationError(msg)
    found = [one for read in read_applications(config[APPLICATIONS]) for one in read.found]
    if not found:
        named = ", ".join(map(visible, config[APPLICATIONS]))
        msg = f"applications: no function in {named} asks a service that ciguard knows."
        raise ConfigurationError(msg)
    if len(found) > _MAX_FUNCTIONS:
        msg = f"applications: {len(found)} functions are more than {_MAX_FUNCTIONS}. Name fewer."
        raise ConfigurationError(msg)
    settings_for(trying_of(config, 1.0))
    if config[LABELS]:
        read_vocabulary(Path(config[LABELS]))


def trying_of(config: Config, budget_s: float, surroundings: Surroundings | None = None) -> Trying:
    """Return what functions are tried with, as the settings say."""

    def named(text: str) -> Path | None:
        return Path(text) if text else None

    return Trying(
        images=named(config[IMAGES]),
        labels=named(config[LABELS]),
        replay=named(config[RECORDING]),
        seed=config.seed,
        budget_s=budget_s,
        surroundings=surroundings,
    )
