"""Checks of the settings of level `app`, before any environment is built."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.levels.app.accuracy import AccuracyOptions, settings_for
from ciguard.levels.app.applications import LEVEL, read_applications
from ciguard.levels.app.dead_conditions import read_vocabulary
from ciguard.levels.app.settings import APPLICATIONS, IMAGES, LABELS, RECORDING

if TYPE_CHECKING:
    from ciguard.config import Config
    from ciguard.levels.app.exploration import ProcessEnvironment

_MAX_FUNCTIONS = 2_000


def check_applications(config: Config) -> None:
    """Check that the applications can be read and call services.

    Raises:
        ConfigurationError: if there is no application, an application cannot be read, none calls a
            service, or a file that the settings name is invalid.
    """
    if not config[APPLICATIONS]:
        msg = (
            f"levels: {LEVEL!r} needs an application to test. Name its folder or file, "
            "such as --application src/app."
        )
        raise ConfigurationError(msg)
    functions = [
        function for app in read_applications(config[APPLICATIONS]) for function in app.functions
    ]
    if not functions:
        names = ", ".join(map(visible, config[APPLICATIONS]))
        msg = f"applications: no function in {names} calls a service that ciguard supports."
        raise ConfigurationError(msg)
    if len(functions) > _MAX_FUNCTIONS:
        msg = (
            f"applications: {len(functions)} functions call services; the maximum is "
            f"{_MAX_FUNCTIONS}. Name fewer folders or files."
        )
        raise ConfigurationError(msg)
    settings_for(assessment_options(config, 1.0))
    if config[LABELS]:
        read_vocabulary(Path(config[LABELS]))


def assessment_options(
    config: Config, budget_s: float, process_environment: ProcessEnvironment | None = None
) -> AccuracyOptions:
    """Return the options of an assessment, from the settings of a campaign.

    Args:
        config: the settings of the campaign.
        budget_s: the time budget of one function, in seconds.
        process_environment: the environment of the application's process; None: the default.
    """

    def path_or_none(text: str) -> Path | None:
        return Path(text) if text else None

    return AccuracyOptions(
        images=path_or_none(config[IMAGES]),
        labels=path_or_none(config[LABELS]),
        replay=path_or_none(config[RECORDING]),
        seed=config.seed,
        budget_s=budget_s,
        process_environment=process_environment,
    )
