"""Check of reproducers: each runs once more on the target that shows its defect.

As many scripts run at a time as there are cores, except those that measure and those on a device.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.campaign.capacity import usable_cores
from ciguard.campaign.scripts import script_targets_of, shown_on, text_of
from ciguard.campaign.workers import case_limit_s as limit_of
from ciguard.campaign.workers import program_limit_s
from ciguard.domain.events import Warned
from ciguard.domain.findings import Comparison, Confirmation, PairKind
from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Hung, Outcome, status
from ciguard.errors import WorkerStartError
from ciguard.oracles import MORE_INSTRUCTIONS, SLOW, is_measured, traits_of
from ciguard.triage import presentable, reproduces_measurement, script

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from ciguard.campaign.group import Member
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.execution import Dispatcher, ScriptResult

_RUNS_ON_REFERENCE = frozenset(
    {PairKind.SAME, PairKind.VERSION, PairKind.DEVICE, PairKind.BACKEND, PairKind.ENVIRONMENT}
)
_LIMIT_FACTOR = 3.0
"""Timeout of a script as a multiple of the case's, as scripts also compare and print."""
_MAX_ATTEMPTS = 3
"""Maximum runs of a script whose finding crashes."""


@dataclass(frozen=True, slots=True)
class _ScriptTrial:
    """The script of a bucket, and the target that it runs on."""

    bucket: Bucket
    target: str
    text: str
    limit_s: float
    is_alone: bool
    """True if no other script may run at the same time."""


def check_scripts(
    buckets: list[Bucket],
    members: Mapping[str, Member],
    dispatcher: Dispatcher,
    *,
    until: float,
    case_limit_s: float,
) -> Generator[Event, None, list[Bucket]]:
    """Run the scripts of new buckets by decreasing severity, while there is time.

    Args:
        buckets: buckets with the paths of their scripts.
        members: targets by name.
        dispatcher: dispatcher of the scripts.
        until: deadline on the clock of `time.monotonic`.
        case_limit_s: timeout of one case, in seconds; 0 for the library's own limit.

    Returns:
        All buckets; `reproduced` is set for those whose script ran. A finding is flaky if its
        script does not show it. So is a difference that the script also shows on the reference, as
        the script does not contain its cause.
    """
    checker = _Checker(members, dispatcher, until=until)
    settled: dict[str, Bucket] = {}
    try:
        for together in _at_once(_trials(buckets, members, case_limit_s)):
            results = checker.run(together[0].target, [(one.text, one.limit_s) for one in together])
            for trial, first in zip(together, results, strict=True):
                bucket = trial.bucket
                fails = checker.fails(trial, first)
                if fails is None:
                    break
                reason = checker.doubt(trial, fails=fails)
                settled[bucket.fingerprint] = replace(
                    bucket,
                    reproduced=fails and not reason,
                    confirmation=Confirmation.FLAKY if reason else bucket.confirmation,
                )
                if reason:
                    name = f"{bucket.finding.api}: bucket {bucket.fingerprint}"
                    yield Warned(message=f"{name} is flaky, as {reason}")
    except WorkerStartError as error:
        yield Warned(message=str(error))
    return [settled.get(bucket.fingerprint, bucket) for bucket in buckets]


def _trials(
    buckets: Iterable[Bucket], members: Mapping[str, Member], case_limit_s: float
) -> Iterator[_ScriptTrial]:
    """Yield the trials of the buckets whose scripts can run."""
    script_targets = script_targets_of(members)
    order = sorted(
        (bucket for bucket in buckets if bucket.reproducer and bucket.comparison is Comparison.NEW),
        key=lambda bucket: (-bucket.finding.severity, bucket.fingerprint),
    )
    for bucket in order:
        finding = bucket.finding
        name = shown_on(finding, script_targets)
        member = members.get(name)
        if member is None or member.not_run or finding.kind == MORE_INSTRUCTIONS:
            continue  # workers cannot start Valgrind
        limit_for = limit_of if finding.case.is_api_use else program_limit_s
        is_timed = is_measured(finding) or finding.kind == SLOW
        yield _ScriptTrial(
            bucket,
            name,
            text_of(bucket, script_targets),
            _LIMIT_FACTOR * limit_for(member.environment, case_limit_s),
            is_alone=is_timed or member.identity.device != "cpu",
        )


def _at_once(trials: Iterable[_ScriptTrial]) -> Iterator[list[_ScriptTrial]]:
    """Yield successive trials that run at the same time, on one target."""
    together: list[_ScriptTrial] = []
    lanes = math.ceil(usable_cores())
    for trial in trials:
        is_last = together and (together[0].target != trial.target or together[0].is_alone)
        if len(together) == lanes or is_last or (together and trial.is_alone):
            yield together
            together = []
        together.append(trial)
    if together:
        yield together


class _Checker:
    """Runs scripts, and judges whether they show their findings."""

    def __init__(
        self, members: Mapping[str, Member], dispatcher: Dispatcher, *, until: float
    ) -> None:
        self._members = members
        self._dispatcher = dispatcher
        self._until = until

    def run(self, target: str, scripts: list[tuple[str, float]]) -> list[ScriptResult | None]:
        """Run scripts with their timeouts at the same time; None if the budget ends first.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            return [None] * len(scripts)
        results = self._dispatcher.tasks(target).run_scripts(
            [(text, min(limit_s, left_s)) for text, limit_s in scripts]
        )
        return [
            None if left_s < limit_s and isinstance(result.death, Hung) else result
            for (_, limit_s), result in zip(scripts, results, strict=True)
        ]

    def fails(self, trial: _ScriptTrial, first: ScriptResult | None) -> bool | None:
        """Return whether a script fails as its finding does; None if the budget ends first.

        Whether a process ends may depend on its memory, so such a script is run up to three times.

        Args:
            trial: the script.
            first: result of its first run.
        """
        result = first
        loses_worker = traits_of(trial.bucket.finding.oracle).loses_worker
        for _ in range(_MAX_ATTEMPTS - 1 if loses_worker else 0):
            if result is None or fails_alike(trial.bucket, result):
                break
            (result,) = self.run(trial.target, [(trial.text, trial.limit_s)])
        return None if result is None else fails_alike(trial.bucket, result)

    def doubt(self, trial: _ScriptTrial, *, fails: bool) -> str:
        """Return why a finding is flaky; empty if it is not.

        Args:
            trial: the script.
            fails: whether it fails as its finding does.
        """
        finding = trial.bucket.finding
        if not fails:
            return _doubt(finding, trial.target)
        reference = _reference(finding, self._members)
        if reference:
            hint = script_targets_of(self._members)[reference].hint
            text = script(finding, environment_hint=hint)
            (result,) = self.run(reference, [(text, trial.limit_s)])
            if result is not None and fails_alike(trial.bucket, result):
                return f"its script also shows the difference on the reference {reference}"
        return ""


def _reference(finding: Finding, members: Mapping[str, Member]) -> str:
    """Return the reference of a difference if a script can run on it alone; otherwise nothing.

    Scripts for modes and libraries compare both sides themselves.
    """
    name = finding.targets[0]
    member = members.get(name)
    if finding.pair not in _RUNS_ON_REFERENCE or is_measured(finding) or member is None:
        return ""
    return "" if member.not_run else name


def _doubt(finding: Finding, target: str) -> str:
    """Return why a finding is flaky whose script does not show it; empty if that is no evidence.

    Durations vary, whole applications depend on more than a script repeats, and a script has no
    worker that a call could harm. After a crash on a GPU, a script runs kernels synchronously,
    which hides races between them.
    """
    is_timed = is_measured(finding) or finding.kind == SLOW
    outcome = finding.outcomes[finding.targets[-1]]
    needs_worker = isinstance(outcome, Crashed) and outcome.needs_worker
    if is_timed or needs_worker or finding.loses_device or not finding.case.is_run_by_worker:
        return ""
    return f"its script does not show the defect on {target}"


def fails_alike(bucket: Bucket, result: ScriptResult) -> bool:
    """Return whether a script fails in the same way as its finding."""
    finding = bucket.finding
    if is_measured(finding):
        return result.exit_code in {0, 1} and reproduces_measurement(finding, result.log)
    level = presentable(finding.case)
    shows = level.shows(finding, result)
    if shows is not None:
        return shows
    mark = level.mark(finding) or traits_of(finding.oracle).mark
    if mark:
        return result.exit_code == 1 and mark in result.log
    return _has_same_outcome(result, finding.outcomes[finding.targets[-1]])


def _has_same_outcome(result: ScriptResult, outcome: Outcome) -> bool:
    match outcome:
        case Crashed() | Hung() | Exhausted():
            return result.death is not None and status(result.death) == status(outcome)
        case Errored(exception):
            return result.exit_code == 1 and exception in result.log
        case _:
            return result.exit_code == 1
