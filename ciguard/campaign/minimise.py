"""Minimising one bucket on request, with more time than a campaign has for each."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ciguard.campaign.group import groups_of, members_of, subject_of
from ciguard.campaign.levels import rerun_settings
from ciguard.campaign.scripts import sites_of, text_of
from ciguard.campaign.workers import worker_spec
from ciguard.errors import ConfigurationError, WorkerStartError
from ciguard.execution import Dispatcher, Job
from ciguard.oracles import encode_on, judge
from ciguard.targets import parse_target, provision
from ciguard.triage import Minimiser, fingerprint, simplicity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ciguard.campaign.group import Group
    from ciguard.config import Config
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles import Subject

log = logging.getLogger(__name__)

_WAIT_S = 1.0
_FIRST = "first"


@dataclass(frozen=True, slots=True)
class Minimised:
    """What became of a bucket."""

    bucket: Bucket
    """Shown by the simplest case that was found, with its outcomes."""
    script: str
    """Its reproducer."""


def minimise(
    bucket: Bucket, config: Config, *, on_step: Callable[[str], None] = log.info
) -> Minimised | None:
    """Look for the simplest case that shows a bucket's defect, for as long as the budget lasts.

    Args:
        bucket: from a run or from the baseline.
        config: budget, limits and repetitions.
        on_step: told what is happening, one line each, when something takes time.

    Returns:
        None if the case does not show the defect any more.

    Raises:
        ConfigurationError: if no worker runs its case.
        TargetSyntaxError: if one of the bucket's targets cannot be read.
        ProvisioningError: if one cannot be provided.
        WorkerStartError: if the workers of one cannot run.
    """
    if not bucket.finding.case.is_run_by_worker:
        msg = (
            f"bucket {bucket.fingerprint}: level {bucket.finding.case.level} tries the plainest "
            "cases first: there is nothing simpler to try."
        )
        raise ConfigurationError(msg)
    config = rerun_settings(bucket.finding, config)
    names = list(bucket.finding.outcomes or bucket.finding.targets)
    environments = {
        # Of two equal targets the second carries a number that is not part of the request.
        name: provision(parse_target(name.partition(" #")[0]), on_step=on_step)
        for name in names
    }
    groups = groups_of(environments)
    with Dispatcher() as dispatcher:
        specs = [worker_spec(name, member, config) for name, member in environments.items()]
        for started in dispatcher.start(specs).values():
            if isinstance(started, WorkerStartError):
                raise started
        finding = _shown(bucket, names, dispatcher, subject_of(groups, bucket.finding))
        if finding is None:
            return None
        simplest = _simplest(finding, dispatcher, groups, config)
    found = replace(bucket, finding=simplest)
    return Minimised(found, text_of(found, sites_of(members_of(groups))))


def _shown(
    bucket: Bucket, names: Iterable[str], dispatcher: Dispatcher, subject: Subject
) -> Finding | None:
    """Run the bucket's case as it is, and return the finding that it still gives."""
    outcomes: dict[str, Outcome] = {}
    for name in names:
        dispatcher.add(
            Job(name, _FIRST, (encode_on(name, bucket.finding.case, subject),), fresh=True)
        )
    while not dispatcher.is_idle:
        for result in dispatcher.wait(_WAIT_S):
            outcomes[result.job.target] = result.outcomes[0]
    for name in names:
        if name not in outcomes:
            raise WorkerStartError(dispatcher.failure(name))
    in_order = {name: outcomes[name] for name in names}
    findings = judge(bucket.finding.case, in_order, subject)
    same = (found for found in findings if fingerprint(found).key == bucket.fingerprint)
    return next(same, None)


def _simplest(
    finding: Finding, dispatcher: Dispatcher, groups: Mapping[str, Group], config: Config
) -> Finding:
    minimiser = Minimiser(
        dispatcher,
        repetitions=config.confirmations,
        subject_of=partial(subject_of, groups),
    )
    minimiser.propose(fingerprint(finding).key, finding)
    found = [finding]
    deadline = time.monotonic() + config.budget_s
    while not minimiser.is_idle and time.monotonic() < deadline:
        minimiser.pump()
        for result in dispatcher.wait(_WAIT_S):
            found += minimiser.take(result)
        for name in finding.outcomes:
            if dispatcher.failure(name):
                raise WorkerStartError(dispatcher.failure(name))
    return min(found, key=lambda met: simplicity(met.case))
