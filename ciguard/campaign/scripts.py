"""Reproducers: one standalone script per bucket, checked on the target that shows the defect."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.findings import Confirmation, PairKind
from ciguard.errors import CiguardError, OutputError
from ciguard.libraries import LIBRARIES
from ciguard.targets import (
    EAGER,
    ActiveEnvironment,
    backend_choice,
    device_variables,
    libraries_of,
    parse_target,
    worker_device,
)
from ciguard.triage import EnvironmentHint, presentable, script

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ciguard.campaign.group import Member
    from ciguard.domain.findings import Bucket, Finding, TargetSummary
    from ciguard.libraries import Library
    from ciguard.targets import Target

log = logging.getLogger(__name__)

FOLDER = "reproducers"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


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
