"""Reproducers: one standalone script per bucket, tried in the target that shows the defect."""

from __future__ import annotations

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
from ciguard.oracles import is_measured, traits_of
from ciguard.targets import (
    EAGER,
    FULL_PRECISION,
    Active,
    backend_choice,
    libraries_of,
    parse_target,
    worker_device,
)
from ciguard.triage import EnvironmentHint, measures_alike, presentable, script

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping
    from pathlib import Path

    from ciguard.campaign.group import Member
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket, Finding, TargetSummary
    from ciguard.execution import Dispatcher, ScriptResult
    from ciguard.libraries import Library
    from ciguard.targets import Target

FOLDER = "reproducers"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_RUNS_ON_REFERENCE = frozenset(
    {PairKind.SAME, PairKind.VERSION, PairKind.DEVICE, PairKind.BACKEND, PairKind.ENVIRONMENT}
)
_PATIENCE = 3.0
"""A script loads nothing anew, but prints and compares: it gets more time than the case had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where a script is to be run: what it says of a target."""

    library: str
    mode: str
    hint: EnvironmentHint


def sites_of(members: Mapping[str, Member]) -> dict[str, Site]:
    """Return the sites of targets that run here, by name."""
    return {
        name: Site(
            library=member.environment.library.name,
            mode=member.identity.mode,
            hint=_hint(
                member.environment.target, member.environment.library, member.environment.version
            ),
        )
        for name, member in members.items()
    }


def site_elsewhere(target: TargetSummary) -> Site:
    """Return the site of a target that ran on another machine."""
    libraries = LIBRARIES.items()
    try:
        read = parse_target(target.name.partition(" #")[0])
    except CiguardError:
        read = None
    if read is None or target.library not in libraries:
        hint = EnvironmentHint(install=(target.name,))
        return Site(library=target.library, mode=EAGER, hint=hint)
    hint = _hint(read, libraries[target.library], target.version)
    return Site(library=target.library, mode=read.mode, hint=hint)


def file_name(bucket: Bucket) -> str:
    """Return a file name of safe characters only: API and fingerprint."""
    api = _UNSAFE.sub("-", bucket.finding.api)[:80].strip(".-")
    return f"{api}-{_UNSAFE.sub('-', bucket.fingerprint)}.py"


def write_scripts(
    buckets: Iterable[Bucket], sites: Mapping[str, Site], out: Path
) -> Iterator[Bucket]:
    """Write the script of every confirmed bucket; yield the buckets with its path.

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
            name = file_name(bucket)
            (folder / name).write_text(text_of(bucket, sites), "utf-8")
            yield replace(bucket, reproducer=f"{FOLDER}/{name}")
    except OSError as error:
        msg = f"{folder}: cannot be written: {error.strerror}. Free some space or choose --out."
        raise OutputError(msg) from error


def has_script(bucket: Bucket) -> bool:
    """Return whether a bucket is confirmed, and a script can show it."""
    case = bucket.finding.case
    return bucket.confirmation is Confirmation.CONFIRMED and presentable(case).has_script(case)


def text_of(bucket: Bucket, sites: Mapping[str, Site]) -> str:
    """Return the script of a bucket.

    Raises:
        ValueError: if a name in its case is not a Python name.
    """
    finding = bucket.finding
    libraries = [sites[name].library for name in finding.targets if name in sites]
    shows_on = shown_on(finding, sites)
    hint = sites[shows_on].hint if shows_on in sites else EnvironmentHint(install=(shows_on,))
    others = [library for library in libraries if library != finding.library]
    if finding.pair is PairKind.LIBRARY and others and finding.outcomes:
        hint = replace(hint, other_library=others[0])
    return script(finding, environment_hint=hint)


def shown_on(finding: Finding, sites: Mapping[str, Site]) -> str:
    """Return the target to show a defect on: without a mode where it shows without one."""
    known = [name for name in finding.targets if name in sites]
    if finding.pair is PairKind.NONE:
        fitting = [name for name in known if sites[name].mode == EAGER]
    else:
        # The baseline keeps the targets of a difference between libraries in no order.
        fitting = [name for name in known if sites[name].library == finding.library]
    return (fitting or finding.targets)[-1]


def _hint(target: Target, library: Library, version: str) -> EnvironmentHint:
    """Return how a person gets the environment of a target."""
    packages = tuple(str(p) for p in target.packages if not isinstance(p, Active))
    device = worker_device(target)
    return EnvironmentHint(
        install=packages or (f"{library.distributions[0]}=={version}",),
        variables=tuple(
            {
                **library.environment,
                **({} if device == "cpu" else {**library.cuda_environment, **FULL_PRECISION}),
                **backend_choice(libraries_of(target) or (library,)),
                **dict(target.variables),
            }.items()
        ),
        device=device,
        mode=target.mode,
        module=library.module,
    )


def try_scripts(
    buckets: list[Bucket],
    members: Mapping[str, Member],
    dispatcher: Dispatcher,
    *,
    until: float,
    case_limit_s: float,
) -> Generator[Event, None, list[Bucket]]:
    """Run the scripts of new buckets, the gravest first, while there is time.

    Args:
        buckets: with the paths of their scripts.
        members: by name.
        dispatcher: runs the scripts.
        until: when the last one must have ended, on the clock of `time.monotonic`.
        case_limit_s: time that one case had; 0 for the library's own limit.

    Returns:
        The buckets, each marked whether its script failed as the finding did. A difference whose
        script fails on the reference too is flaky: what decides it is not in the script.
    """
    settled: dict[str, Bucket] = {}
    sites = sites_of(members)
    order = sorted(
        (b for b in buckets if b.reproducer and b.comparison is Comparison.NEW),
        key=lambda b: (-b.finding.severity, b.fingerprint),
    )
    for bucket in order:
        name = shown_on(bucket.finding, sites)
        member = members.get(name)
        if member is None or member.not_run:
            continue
        usual_s = limit_of if bucket.finding.case.is_api_use else program_limit_s
        limit_s = _PATIENCE * usual_s(member.environment, case_limit_s)
        run = partial(_run, dispatcher, until=until, limit_s=limit_s)
        try:
            result = run(name, text_of(bucket, sites))
            if result is None:
                break
            fails = fails_alike(bucket, result)
            settled[bucket.fingerprint] = replace(bucket, reproduced=fails)
            reference = _reference(bucket.finding, members)
            if not fails or not reference:
                continue
            control = run(reference, script(bucket.finding, environment_hint=sites[reference].hint))
            if control is not None and fails_alike(bucket, control):
                flaky = replace(bucket, reproduced=False, confirmation=Confirmation.FLAKY)
                settled[bucket.fingerprint] = flaky
                yield Warned(message=_unfounded(bucket, reference))
        except WorkerStartError as error:
            yield Warned(message=str(error))
            break
    return [settled.get(b.fingerprint, b) for b in buckets]


def _run(
    dispatcher: Dispatcher, target: str, text: str, *, until: float, limit_s: float
) -> ScriptResult | None:
    """Run a script on a target; return None if the budget ended first.

    Raises:
        WorkerStartError: if the target's server is gone.
    """
    remaining_s = until - time.monotonic()
    if remaining_s <= 0:
        return None
    result = dispatcher.errands(target).run_script(text, limit_s=min(limit_s, remaining_s))
    is_cut_short = remaining_s < limit_s and isinstance(result.death, Hung)
    return None if is_cut_short else result


def _reference(finding: Finding, members: Mapping[str, Member]) -> str:
    """Return the reference of a difference where a script can run on it alone; empty elsewhere.

    A script compares a mode with eager execution by itself, and a library with another one.
    """
    name = finding.targets[0]
    member = members.get(name)
    if finding.pair not in _RUNS_ON_REFERENCE or is_measured(finding) or member is None:
        return ""
    return "" if member.not_run else name


def _unfounded(bucket: Bucket, reference: str) -> str:
    return (
        f"{bucket.finding.api}: the script shows the difference on {reference} too, the reference: "
        f"bucket {bucket.fingerprint} is flaky"
    )


def fails_alike(bucket: Bucket, result: ScriptResult) -> bool:
    """Return whether a script's end is that of the finding."""
    finding = bucket.finding
    if is_measured(finding):
        return result.exit_code in {0, 1} and measures_alike(finding, result.log)
    level = presentable(finding.case)
    shows = level.shows(finding, result)
    if shows is not None:
        return shows
    mark = level.mark(finding) or traits_of(finding.oracle).mark
    if mark:
        return result.exit_code == 1 and mark in result.log
    return _matches(finding.outcomes[finding.targets[-1]], result)


def _matches(seen: Outcome, result: ScriptResult) -> bool:
    match seen:
        case Crashed() | Hung() | Exhausted():
            return result.death is not None and status(result.death) == status(seen)
        case Errored(exception):
            return result.exit_code == 1 and exception in result.log
        case _:
            return result.exit_code == 1
