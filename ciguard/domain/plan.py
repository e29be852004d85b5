"""What is to be tested in one run of continuous integration and why: the plan, as a file too."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.domain.shards import parse_shard
from ciguard.domain.untrusted import Untrusted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Json

PLAN_SCHEMA = 1
_MAX_PATH_LENGTH = 4096
_LAST_LINE = 2**31 - 1
"""GitHub takes no greater number."""


class PlanMode(StrEnum):
    """What the run is for. The value is its name in files and settings."""

    PULL_REQUEST = "pull-request"
    """Short; head against base. Whoever runs it lets it write neither baseline nor issues."""
    BATCH = "batch"
    """Long; all targets; grows and prunes the corpus, writes the baseline, files issues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line in the user's sources. `path` is relative to the repository, with forward slashes."""

    path: str
    line: int
    """From 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageChange:
    """A library whose version differs between base and head. None: not required there."""

    package: str
    base: str | None
    head: str | None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    """One row of the matrix."""

    name: str
    targets: tuple[str, ...]
    base: tuple[str, ...] = ()
    """Targets of the pull request's base, see the setting of that name."""
    device: str = "cpu"
    runs_on: tuple[str, ...] = ()
    """Labels of the runner."""
    shard: str = "1/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedJob:
    """What was asked for and cannot run: shown as `not run`, never as clean."""

    name: str
    targets: tuple[str, ...]
    device: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be tested, and why."""

    mode: PlanMode
    reasons: tuple[str, ...] = ()
    """Sentences for people: what was chosen and why, the most important first."""
    changes: tuple[PackageChange, ...] = ()
    jobs: tuple[PlannedJob, ...] = ()
    skipped: tuple[SkippedJob, ...] = ()
    focus: tuple[str, ...] = ()
    """Globs over API names that are tried first, in order of interest."""
    uses: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    """Where the user's sources use an API, by its full name."""


def plan_to_json(plan: Plan) -> Json:
    """Return a plan's file form."""
    return {
        "schema": PLAN_SCHEMA,
        "mode": plan.mode.value,
        "reasons": list(plan.reasons),
        "changes": [
            {
                "package": change.package,
                "base": change.base,
                "head": change.head,
                "place": place_to_json(change.place),
            }
            for change in plan.changes
        ],
        "jobs": [_row_to_json(job) for job in plan.jobs],
        "skipped": [_row_to_json(job) for job in plan.skipped],
        "focus": list(plan.focus),
        "uses": {api: [place_to_json(place) for place in at] for api, at in plan.uses.items()},
    }


def plan_from_json(data: object) -> Plan:
    """Return the plan of a file form, which may be hostile.

    Raises:
        ValueError: it is none; the message names the key.
    """
    read = Untrusted(data, "the plan")
    if (schema := read.of("schema", int)) != PLAN_SCHEMA:
        message = f"the plan: 'schema' is {schema}; this ciguard reads {PLAN_SCHEMA}"
        raise ValueError(message)
    mode = read.of("mode", str)
    if mode not in list(PlanMode):
        message = f"the plan: 'mode' is {mode!r:.60}; known are {', '.join(PlanMode)}"
        raise ValueError(message)
    uses = read.inner("uses")
    return Plan(
        mode=PlanMode(mode),
        reasons=read.texts("reasons"),
        changes=read.rows("changes", _change_from),
        jobs=read.rows("jobs", _job_from),
        skipped=read.rows("skipped", _skipped_from),
        focus=read.texts("focus"),
        uses={api: uses.rows(api, place_from_json) for api in uses.members()},
    )


def place_to_json(place: Place) -> dict[str, Json]:
    """Return a place's file form."""
    return {"path": place.path, "line": place.line}


def _row_to_json(job: PlannedJob | SkippedJob) -> dict[str, Json]:
    values = {item.name: getattr(job, item.name) for item in fields(job)}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def place_from_json(read: Untrusted) -> Place:
    """Return a place of a file form, which may be hostile.

    Raises:
        ValueError: it is none, or leads out of the repository.
    """
    path = read.of("path", str)
    if path.startswith(("/", "\\")) or ".." in path.replace("\\", "/").split("/"):
        message = f"{read.name}: the path {path!r:.60} leads out of the repository"
        raise ValueError(message)
    if len(path) > _MAX_PATH_LENGTH:
        message = f"{read.name}: the path {path!r:.60} is longer than any that a repository holds"
        raise ValueError(message)
    return Place(path=path, line=min(max(1, read.of("line", int)), _LAST_LINE))


def _change_from(read: Untrusted) -> PackageChange:
    return PackageChange(
        package=read.of("package", str),
        base=None if read.data.get("base") is None else read.of("base", str),
        head=None if read.data.get("head") is None else read.of("head", str),
        place=place_from_json(read.inner("place")),
    )


def _job_from(read: Untrusted) -> PlannedJob:
    return PlannedJob(
        name=read.of("name", str),
        targets=read.texts("targets"),
        base=read.texts("base"),
        device=read.of("device", str),
        runs_on=read.texts("runs_on"),
        shard=_shard_from(read),
    )


def _shard_from(read: Untrusted) -> str:
    text = read.of("shard", str)
    try:
        return str(parse_shard(text))
    except ValueError as error:
        message = f"{read.name}: 'shard' is {text!r:.60}: {error}"
        raise ValueError(message) from error


def _skipped_from(read: Untrusted) -> SkippedJob:
    return SkippedJob(
        name=read.of("name", str),
        targets=read.texts("targets"),
        device=read.of("device", str),
        reason=read.of("reason", str),
    )
