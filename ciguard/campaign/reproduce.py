"""Running one bucket again, on a target of choice."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ciguard.campaign.group import worker_spec
from ciguard.errors import WorkerStartError
from ciguard.execution import Dispatcher, Job
from ciguard.oracles import encode
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.config import Config
    from ciguard.domain import Bucket, Outcome

log = logging.getLogger(__name__)

_WAIT_S = 1.0


def reproduce(
    bucket: Bucket, target_text: str, config: Config, *, on_step: Callable[[str], None] = log.info
) -> Outcome:
    """Run a bucket's case in a fresh worker of a target.

    Args:
        bucket: what to run.
        target_text: where, e.g. `torch==2.13.0`; provisioned if need be.
        config: limits of the case.
        on_step: told what is happening, one line each, when something takes time.

    Raises:
        TargetSyntaxError: if the target cannot be read.
        ProvisioningError: if it cannot be provided.
        WorkerStartError: if its workers cannot run.
    """
    target = parse_target(target_text)
    environment = provision(target, on_step=on_step)
    with Dispatcher() as dispatcher:
        started = dispatcher.start([worker_spec(target.name, environment, config)])[target.name]
        if isinstance(started, WorkerStartError):
            raise started
        job = Job(target.name, "reproduce", (encode(bucket.finding.case),), fresh=True)
        dispatcher.add(job)
        while not dispatcher.failure(target.name):
            for result in dispatcher.wait(_WAIT_S):
                return result.outcomes[0]
        raise WorkerStartError(dispatcher.failure(target.name))
