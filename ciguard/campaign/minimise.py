"""Minimisation of a single bucket on request, with more time than a campaign has."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ciguard.campaign.group import groups_of, members_of, subject_of
from ciguard.campaign.levels import rerun_settings
from ciguard.campaign.scripts import script_targets_of, text_of
from ciguard.campaign.workers import worker_spec
from ciguard.errors import ConfigurationError, WorkerStartError
from ciguard.execution import Dispatcher, Job
from ciguard.oracles import encode_for_target, judge
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
_REPLAY_KEY = "first"


@dataclass(frozen=True, slots=True)
class Minimised:
    """Result of a minimisation."""

    bucket: Bucket
    """Bucket with the simplest case that was found, and its outcomes."""
    script: str
    """Reproducer of the bucket."""


def minimise(
    bucket: Bucket, config: Config, *, on_step: Callable[[str], None] = log.info
) -> Minimised | None:
    """Search for the simplest case that shows a bucket's defect, within the budget.

    Args:
        bucket: bucket of a run or of the baseline.
        config: settings, with budget, limits and repetitions.
        on_step: called with a line of text for each step that takes time.

    Returns:
        None if the case no longer shows the defect.

    Raises:
        ConfigurationError: if workers cannot run its case.
        TargetSyntaxError: if one of the bucket's targets cannot be parsed.
        ProvisioningError: if a target cannot be provisioned.
        WorkerStartError: if the workers of a target cannot run.
    """
    if not bucket.finding.case.is_run_by_worker:
        msg = (
            f"bucket {bucket.fingerprint}: level {bucket.finding.case.level} runs the simplest "
            "cases first, so its cases cannot be minimised."
        )
        raise ConfigurationError(msg)
    config = rerun_settings(bucket.finding, config)
    names = list(bucket.finding.outcomes or bucket.finding.targets)
    environments = {
        # The second of two equal targets has a number that is not part of the request.
        name: provision(parse_target(name.partition(" #")[0]), on_step=on_step)
        for name in names
    }
    groups = groups_of(environments)
    with Dispatcher() as dispatcher:
        specs = [worker_spec(name, member, config) for name, member in environments.items()]
        for started in dispatcher.start(specs).values():
            if isinstance(started, WorkerStartError):
                raise started
        finding = _replayed(bucket, names, dispatcher, subject_of(groups, bucket.finding))
        if finding is None:
            return None
        simplest = _simplest(finding, dispatcher, groups, config)
    minimised = replace(bucket, finding=simplest)
    return Minimised(minimised, text_of(minimised, script_targets_of(members_of(groups))))


def _replayed(
    bucket: Bucket, names: Iterable[str], dispatcher: Dispatcher, subject: Subject
) -> Finding | None:
    """Run the bucket's case unchanged, and return its finding if it still shows the defect."""
    outcomes: dict[str, Outcome] = {}
    for name in names:
        dispatcher.add(
            Job(
                name,
                _REPLAY_KEY,
                (encode_for_target(name, bucket.finding.case, subject),),
                fresh=True,
            )
        )
    while not dispatcher.is_idle:
        for result in dispatcher.wait(_WAIT_S):
            outcomes[result.job.target] = result.outcomes[0]
    for name in names:
        if name not in outcomes:
            raise WorkerStartError(dispatcher.failure(name))
    in_order = {name: outcomes[name] for name in names}
    findings = judge(bucket.finding.case, in_order, subject)
    same = (finding for finding in findings if fingerprint(finding).key == bucket.fingerprint)
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
    candidates = [finding]
    deadline = time.monotonic() + config.budget_s
    while not minimiser.is_idle and time.monotonic() < deadline:
        minimiser.pump()
        for result in dispatcher.wait(_WAIT_S):
            candidates += minimiser.take(result)
        for name in finding.outcomes:
            if dispatcher.failure(name):
                raise WorkerStartError(dispatcher.failure(name))
    return min(candidates, key=lambda candidate: simplicity(candidate.case))
