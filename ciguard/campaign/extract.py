"""What a target says of its API, without a campaign: for `ciguard api extract` and `explain`."""

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
    target_text: str, *, anew: bool = False, on_step: Callable[[str], None] = log.info
) -> Catalogue:
    """Provision a target and return what is known of its API.

    Args:
        target_text: e.g. `torch==2.13.0`.
        anew: ask the library, whatever is kept.
        on_step: told what is happening, one line each, when something takes time.

    Raises:
        TargetSyntaxError: if the target cannot be read.
        ProvisioningError: if it cannot be provided.
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
        return catalogue(name, environment, dispatcher, anew=anew)
