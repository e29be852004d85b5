"""Reproducers: one standalone script per bucket, checked on the target that shows the defect."""

from __future__ import annotations

import logging
import re
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ciguard.campaign.workers import case_limit_s as limit_of
from ciguard.campaign.workers import program_limit_s
from ciguard.domain.events import Warned
from ciguard.domain.findings import Comparison, Confirmation, PairKind
from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Hung, Outcome, status
from ciguard.errors import CiguardError, OutputError, WorkerStartError
from ciguard.libraries import LIBRARIES
from ciguard.oracles import MORE_INSTRUCTIONS, SLOW, is_measured, traits_of
from ciguard.targets import (
    EAGER,
    ActiveEnvironment,
    backend_choice,
    device_variables,
    libraries_of,
    parse_target,
    worker_device,
)
from ciguard.triage import EnvironmentHint, presentable, reproduces_measurement, script

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
    from pathlib import Path

    from ciguard.campaign.group import Member
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket, Finding, TargetSummary
    from ciguard.execution import Dispatcher, ScriptResult
    from ciguard.libraries import Library
    from ciguard.targets import Target

log = logging.getLogger(__name__)

FOLDER = "reproducers"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_RUNS_ON_REFERENCE = frozenset(
    {PairKind.SAME, PairKind.VERSION, PairKind.DEVICE, PairKind.BACKEND, PairKind.ENVIRONMENT}
)
_LIMIT_FACTOR = 3.0
"""Timeout of a script as a multiple of the case's, as scripts also compare and print."""
_MAX_ATTEMPTS = 3
"""Maximum runs of a script whose finding crashes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptTarget:
    """Target of a script."""

    library: str
    """Name of the library."""
    mode: str
    """Execution mode."""
    hint: EnvironmentHint
    """Instructions for setting up the environment."""


def script_targets_of(members: Mapping[str, Member]) -> dict[str, ScriptTarget]:
    """Return the script targets of members, by name."""
    return {
        name: ScriptTarget(
            library=member.environment.library.name,
            mode=member.identity.mode,
            hint=_hint(
                member.environment.target, member.environment.library, member.environment.version
            ),
        )
        for name, member in members.items()
    }


def remote_script_target(target: TargetSummary) -> ScriptTarget:
    """Return the script target of a target that ran on another machine."""
    libraries = LIBRARIES.items()
    try:
        parsed = parse_target(target.name.partition(" #")[0])
    except CiguardError:
        parsed = None
    if parsed is None or target.library not in libraries:
        hint = EnvironmentHint(install=(target.name,))
        return ScriptTarget(library=target.library, mode=EAGER, hint=hint)
    hint = _hint(parsed, libraries[target.library], target.version)
    return ScriptTarget(library=target.library, mode=parsed.mode, hint=hint)


def file_name(bucket: Bucket) -> str:
    """Return the file name of a bucket's script, built from API and fingerprint."""
    api = _UNSAFE.sub("-", bucket.finding.api)[:80].strip(".-")
    return f"{api}-{_UNSAFE.sub('-', bucket.fingerprint)}.py"


def write_scripts(
    buckets: Iterable[Bucket], script_targets: Mapping[str, ScriptTarget], out: Path
) -> Iterator[Bucket]:
    """Write the script of every confirmed bucket; yield all buckets, with the paths of scripts.

    Raises:
        OutputError: if the folder cannot be written.
    """
    folder = out / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for bucket in buckets:
            if not has_script(bucket):
                yield bucket
                continue
            try:
                text = text_of(bucket, script_targets)
            except ValueError as error:  # one case must not cost the results of the run
                log.warning("%s: no script can be written: %s", bucket.fingerprint, error)
                yield bucket
                continue
            name = file_name(bucket)
            (folder / name).write_text(text, "utf-8")
            yield replace(bucket, reproducer=f"{FOLDER}/{name}")
    except OSError as error:
        msg = f"{folder}: cannot be written: {error.strerror}. Free some space or choose --out."
        raise OutputError(msg) from error


def has_script(bucket: Bucket) -> bool:
    """Return whether a bucket is confirmed and can be shown by a script."""
    case = bucket.finding.case
    return bucket.confirmation is Confirmation.CONFIRMED and presentable(case).has_script(case)


def text_of(bucket: Bucket, script_targets: Mapping[str, ScriptTarget]) -> str:
    """Return the script of a bucket.

    Raises:
        ValueError: if a name in its case is not a Python name.
    """
    finding = bucket.finding
    libraries = [script_targets[name].library for name in finding.targets if name in script_targets]
    shows_on = shown_on(finding, script_targets)
    hint = (
        script_targets[shows_on].hint
        if shows_on in script_targets
        else EnvironmentHint(install=(shows_on,))
    )
    other_libraries = [library for library in libraries if library != finding.library]
    if finding.pair is PairKind.LIBRARY and other_libraries and finding.outcomes:
        hint = replace(hint, other_library=other_libraries[0])
    return script(finding, environment_hint=hint)


def shown_on(finding: Finding, script_targets: Mapping[str, ScriptTarget]) -> str:
    """Return the target that shows a defect, preferably an eager one."""
    known = [name for name in finding.targets if name in script_targets]
    if finding.pair is PairKind.NONE:
        fitting = [name for name in known if script_targets[name].mode == EAGER]
    else:
        # The baseline does not preserve the order of targets of different libraries.
        fitting = [name for name in known if script_targets[name].library == finding.library]
    return (fitting or finding.targets)[-1]


def _hint(target: Target, library: Library, version: str) -> EnvironmentHint:
    """Return the instructions for setting up the environment of a target."""
    packages = tuple(
        str(package) for package in target.packages if not isinstance(package, ActiveEnvironment)
    )
    libraries = libraries_of(target) or (library,)
    return EnvironmentHint(
        # Package indexes lack local versions, such as 2.13.0+cpu; 2.13.0 matches them.
        install=packages or (f"{library.distributions[0]}=={version.partition('+')[0]}",),
        variables=tuple(
            {
                **library.environment,
                **device_variables(target, libraries),
                **backend_choice(libraries),
                **dict(target.variables),
            }.items()
        ),
        device=worker_device(target),
        gpu=target.device_number,
        mode=target.mode,
        module=library.module,
    )


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
    settled: dict[str, Bucket] = {}
    script_targets = script_targets_of(members)
    order = sorted(
        (bucket for bucket in buckets if bucket.reproducer and bucket.comparison is Comparison.NEW),
        key=lambda bucket: (-bucket.finding.severity, bucket.fingerprint),
    )
    for bucket in order:
        name = shown_on(bucket.finding, script_targets)
        member = members.get(name)
        if member is None or member.not_run or bucket.finding.kind == MORE_INSTRUCTIONS:
            continue  # workers cannot start Valgrind
        limit_for = limit_of if bucket.finding.case.is_api_use else program_limit_s
        limit_s = _LIMIT_FACTOR * limit_for(member.environment, case_limit_s)
        run = partial(_run, dispatcher, until=until, limit_s=limit_s)
        try:
            fails = _fails(bucket, partial(run, name, text_of(bucket, script_targets)))
            if fails is None:
                break
            reason = "" if fails else _doubt(bucket.finding, name)
            reference = _reference(bucket.finding, members)
            if fails and reference:
                hint = script_targets[reference].hint
                text = script(bucket.finding, environment_hint=hint)
                if _fails(bucket, partial(run, reference, text)):
                    reason = f"its script also shows the difference on the reference {reference}"
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
            break
    return [settled.get(bucket.fingerprint, bucket) for bucket in buckets]


def _run(
    dispatcher: Dispatcher, target: str, text: str, *, until: float, limit_s: float
) -> ScriptResult | None:
    """Run a script on a target; return None if the budget ends first.

    Raises:
        WorkerStartError: if the target's server is gone.
    """
    remaining_s = until - time.monotonic()
    if remaining_s <= 0:
        return None
    result = dispatcher.tasks(target).run_script(text, limit_s=min(limit_s, remaining_s))
    is_cut_short = remaining_s < limit_s and isinstance(result.death, Hung)
    return None if is_cut_short else result


def _reference(finding: Finding, members: Mapping[str, Member]) -> str:
    """Return the reference of a difference if a script can run on it alone; otherwise nothing.

    Scripts for modes and libraries compare both sides themselves.
    """
    name = finding.targets[0]
    member = members.get(name)
    if finding.pair not in _RUNS_ON_REFERENCE or is_measured(finding) or member is None:
        return ""
    return "" if member.not_run else name


def _fails(bucket: Bucket, run: Callable[[], ScriptResult | None]) -> bool | None:
    """Return whether a script fails as its finding does; None if the budget ends first.

    Whether a process ends may depend on its memory, so such a script is run up to three times.
    """
    for _ in range(_MAX_ATTEMPTS if traits_of(bucket.finding.oracle).loses_worker else 1):
        result = run()
        if result is None or fails_alike(bucket, result):
            return None if result is None else True
    return False


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
