"""Makes the rows of a workflow's matrix from targets, devices and shards."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.plan import PlannedJob, SkippedJob
from ciguard.errors import PlanError
from ciguard.targets import cpu_builds, libraries_of, parse_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ciguard.domain.plan import Plan
    from ciguard.domain.values import Json

MAX_JOBS = 256
"""Maximum number of jobs in a matrix on GitHub."""
MAX_BYTES = 1_000_000
"""Maximum size of all outputs of a job on GitHub, in bytes."""
CPU = "cpu"
_MAX_NAME_LENGTH = 100
_GPU_EXTRAS = re.compile(r"\[[\w.-]*cuda[\w,.-]*\](?=\s*[<>=!~]|\s|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetGroup:
    """Targets of one library that are compared with each other in one job."""

    targets: tuple[str, ...]
    """Targets to test."""
    base: tuple[str, ...] = ()
    """Targets before the change; empty if there is no base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runners:
    """Runners of the jobs, and the number of shards."""

    devices: tuple[str, ...] = (CPU,)
    """Devices: `cpu`, `cuda:0`, …; the number is the index of the runner's GPU."""
    cpu: tuple[str, ...] = ("ubuntu-latest",)
    """Labels of the runner for CPU rows."""
    gpu: tuple[str, ...] = ()
    """Labels of the runner for other rows; empty if there is none."""
    shards: int = 1
    """Number of shards of each row."""


def group_by_library(targets: Iterable[str], base: Iterable[str] = ()) -> list[TargetGroup]:
    """Return one group per library, in the order of the targets."""
    groups: dict[str, list[str]] = {}
    for text in targets:
        groups.setdefault(library_name(text), []).append(text)
    bases: dict[str, list[str]] = {}
    for text in base:
        bases.setdefault(library_name(text), []).append(text)
    return [
        TargetGroup(targets=tuple(texts), base=tuple(bases.get(name, ())))
        for name, texts in groups.items()
    ]


def with_variables(
    groups: Sequence[TargetGroup], variables: Sequence[str]
) -> tuple[TargetGroup, ...]:
    """Return the groups with environment variables added to every target.

    Args:
        groups: the groups of targets. Variables that a target sets itself take precedence.
        variables: the variables to set in the workers, each as `NAME=VALUE`.

    Raises:
        TargetSyntaxError: if a target must not set one of the variables.
    """
    return tuple(
        TargetGroup(
            targets=tuple(_with_variables(text, variables) for text in group.targets),
            base=tuple(_with_variables(text, variables) for text in group.base),
        )
        for group in groups
    )


def _with_variables(text: str, variables: Sequence[str]) -> str:
    """Return a target with the variables that it does not set itself."""
    own_variables = dict(parse_target(text).variables)
    added = [variable for variable in variables if variable.partition("=")[0] not in own_variables]
    target = " ".join([text, *map(shlex.quote, added)])
    parse_target(target)
    return target


def library_name(text: str) -> str:
    """Return the name of the library that a target tests; empty for `current` without packages."""
    return next((library.name for library in libraries_of(parse_target(text))), "")


def rows(
    groups: Sequence[TargetGroup], runners: Runners
) -> tuple[list[PlannedJob], list[SkippedJob], str]:
    """Return the jobs, the skipped jobs, and a sentence if shards are fewer than requested.

    Raises:
        PlanError: if a matrix cannot have so many jobs, even without shards.
    """
    jobs: list[PlannedJob] = []
    skipped: list[SkippedJob] = []
    for group in groups:
        for devices in _devices_of_rows(group, runners):
            job = _row(group, devices, runners)
            if isinstance(job, SkippedJob):
                skipped.append(job)
            elif job is not None:
                jobs.append(job)
    if len(jobs) > MAX_JOBS:
        msg = (
            f"{len(jobs)} jobs without shards exceed the limit of {MAX_JOBS}. Name fewer "
            "targets (setting targets, --target) or devices (--device)."
        )
        raise PlanError(msg)
    shards = min(runners.shards, MAX_JOBS // max(1, len(jobs)))
    sentence = ""
    if jobs and shards < runners.shards:
        sentence = (
            f"{shards} shards instead of {runners.shards}: a matrix may have {MAX_JOBS} jobs, "
            f"and there are {len(jobs)} rows."
        )
    return _sharded(jobs, shards), skipped, sentence


def matrix(plan: Plan) -> Json:
    """Return the matrix of a workflow, `{"include": rows}`.

    A list of targets is a text with one target per line, as in environment variables of settings.

    Raises:
        PlanError: if the matrix exceeds GitHub's limit for the outputs of a job.
    """
    include: list[Json] = [
        {
            "name": job.name,
            "targets": "\n".join(job.targets),
            "base": "\n".join(job.base),
            "device": job.device,
            "runs_on": list(job.runs_on),
            "shard": job.shard,
        }
        for job in plan.jobs
    ]
    matrix_json: Json = {"include": include}
    size = len(json.dumps(matrix_json))
    if size > MAX_BYTES:
        msg = (
            f"the matrix has {size} bytes, but GitHub allows {MAX_BYTES}. Name fewer targets "
            "(setting targets, --target) or fewer shards (--shards)."
        )
        raise PlanError(msg)
    return matrix_json


def _devices_of_rows(group: TargetGroup, runners: Runners) -> list[list[str]]:
    """Return the devices of each row: all devices of one kind, since they share a machine."""
    kinds: dict[str, list[str]] = {}
    for device in runners.devices:
        kinds.setdefault(_kind(device), []).append(device)
    # The device of a target is the CPU by default; such targets run on the requested devices.
    named_kinds = {parse_target(text).device_class for text in group.targets} - {CPU}
    for kind in named_kinds:
        kinds.setdefault(kind, [f"{kind}:0"])
    return list(kinds.values())


def _row(
    group: TargetGroup, devices: Sequence[str], runners: Runners
) -> PlannedJob | SkippedJob | None:
    """Return the job of a group on devices of one kind; None if no target runs on them."""
    base = _on_devices(group.base, devices)
    targets = _on_devices(group.targets, devices)
    kind = _kind(devices[0])
    if kind != CPU and not base and (len(devices) == 1 or CPU in runners.devices):
        # With one GPU, the CPU is the reference. Several GPUs are compared with each other, and
        # with the CPU only if it is requested.
        targets = (*_on_devices(group.targets, [CPU]), *targets)
    if not targets:
        return None
    name = _slug(group, kind)
    reason = ""
    if kind != CPU and any(cpu_builds(parse_target(text)) for text in (*targets, *base)):
        reason = "the package is built for CPUs only: use a package with CUDA, e.g. tensorflow"
    elif kind != CPU and not runners.gpu:
        reason = "no runner with a GPU is configured: name the runner's label with --gpu-runner"
    if reason:
        return SkippedJob(name=name, targets=targets, device=kind, reason=reason)
    labels = runners.cpu if kind == CPU else runners.gpu
    return PlannedJob(name=name, targets=targets, base=base, device=kind, runs_on=labels)


def _on_devices(texts: Iterable[str], devices: Sequence[str]) -> tuple[str, ...]:
    """Return the targets on each of several devices of one kind.

    A target that names a device of the kind keeps its device. Targets that name another kind are
    left out.
    """
    kind = _kind(devices[0])
    # Without extras, CPU rows do not install gigabytes of CUDA.
    specifications = [_GPU_EXTRAS.sub("", text) for text in texts] if kind == CPU else texts
    targets = [parse_target(text) for text in specifications]
    return tuple(
        replace(target, device=device).name if target.device_class == CPU else target.name
        for index, device in enumerate(devices)
        for target in targets
        if target.device_class == CPU or (target.device_class == kind and index == 0)
    )


def _kind(device: str) -> str:
    return device.partition(":")[0]


def _sharded(jobs: list[PlannedJob], shards: int) -> list[PlannedJob]:
    """Return one job per shard of each job, with unique names."""
    counts: dict[str, int] = {}
    sharded_jobs = []
    for job in jobs:
        number = counts[job.name] = counts.get(job.name, 0) + 1
        name = job.name if number == 1 else f"{job.name}-{number}"
        for shard in range(1, shards + 1):
            suffix = f"-{shard}-of-{shards}" if shards > 1 else ""
            sharded_jobs.append(replace(job, name=name + suffix, shard=f"{shard}/{shards}"))
    return sharded_jobs


def _slug(group: TargetGroup, device: str) -> str:
    """Return a name for a job and its artifact: letters, digits, dots and dashes."""
    text = "-vs-".join(dict.fromkeys((*group.base, *group.targets)))
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")
    return f"{slug[:_MAX_NAME_LENGTH].strip('-.')}-{device}"
