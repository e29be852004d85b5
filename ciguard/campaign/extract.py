"""Extraction of a target's API without a campaign, for `ciguard api extract` and `explain`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ciguard.campaign.catalogue import Catalogue, catalogue
from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.errors import WorkerStartError
from ciguard.execution import Dispatcher
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)


def extract(
    target_text: str, *, refresh: bool = False, on_step: Callable[[str], None] = log.info
) -> Catalogue:
    """Provision a target, and return the catalogue of its API.

    Args:
        target_text: name of the target, e.g. `torch==2.13.0`.
        refresh: whether to ignore the cache.
        on_step: called with a line of text for each step that takes time.

    Raises:
        TargetSyntaxError: if the target cannot be parsed.
        ProvisioningError: if it cannot be provisioned.
        WorkerStartError: if its library cannot be imported or described.
    """
    target = parse_target(target_text)
    environment = provision(target, on_step=on_step)
    name = target.name
    with Dispatcher() as dispatcher:
        on_step(f"{name}: importing {environment.library.module}")
        started = dispatcher.start([worker_spec(name, environment, Config())])[name]
        if isinstance(started, WorkerStartError):
            raise started
        on_step(f"{name}: reading its public API")
        return catalogue(name, environment, dispatcher, refresh=refresh)
