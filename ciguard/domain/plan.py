"""The plan of one CI run: what is tested and why, and its JSON form."""

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
_MAX_LINE = 2**31 - 1
"""Greatest line number that GitHub accepts."""


class PlanMode(StrEnum):
    """Purpose of the run. The value is its name in files and settings."""

    PULL_REQUEST = "pull-request"
    """A short run that compares head with base. It writes neither baseline nor issues."""
    BATCH = "batch"
    """A long run on all targets that updates corpus and baseline and files issues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line in the user's sources."""

    path: str
    """Path relative to the repository, with forward slashes."""
    line: int
    """Line number, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageChange:
    """A library whose required version differs between base and head."""

    package: str
    base: str | None
    """Version on the base; None if the base does not require the library."""
    head: str | None
    """Version on the head; None if the head does not require the library."""
    place: Place
    """Line that requires the library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    """One job of the matrix."""

    name: str
    targets: tuple[str, ...]
    base: tuple[str, ...] = ()
    """Targets of the pull request's base; see the setting `base`."""
    device: str = "cpu"
    runs_on: tuple[str, ...] = ()
    """Labels of the GitHub runner."""
    shard: str = "1/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedJob:
    """A requested job that cannot run: shown as `not run`, never as clean."""

    name: str
    targets: tuple[str, ...]
    device: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Jobs and APIs to test, with the reasons."""

    mode: PlanMode
    reasons: tuple[str, ...] = ()
    """Sentences that explain the choice of jobs and APIs, most important first."""
    changes: tuple[PackageChange, ...] = ()
    jobs: tuple[PlannedJob, ...] = ()
    skipped: tuple[SkippedJob, ...] = ()
    focus: tuple[str, ...] = ()
    """Globs of qualified names of the APIs that are tested first, in order of priority."""
    uses: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    """Places in the user's sources that use an API, by its qualified name."""


def plan_to_json(plan: Plan) -> Json:
    """Return the JSON form of a plan."""
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
        "jobs": [_job_to_json(job) for job in plan.jobs],
        "skipped": [_job_to_json(job) for job in plan.skipped],
        "focus": list(plan.focus),
        "uses": {api: list(map(place_to_json, places)) for api, places in plan.uses.items()},
    }


def plan_from_json(data: object) -> Plan:
    """Rebuild a plan from untrusted JSON.

    Raises:
        ValueError: if `data` is not the JSON form of a plan; the message names the malformed key.
    """
    reader = Untrusted(data, "the plan")
    if (schema := reader.value("schema", int)) != PLAN_SCHEMA:
        message = f"the plan has schema {schema}; this ciguard reads schema {PLAN_SCHEMA}"
        raise ValueError(message)
    mode = reader.value("mode", str)
    if mode not in list(PlanMode):
        message = f"the plan: unknown mode {mode!r:.60}; known modes: {', '.join(PlanMode)}"
        raise ValueError(message)
    uses = reader.inner("uses")
    return Plan(
        mode=PlanMode(mode),
        reasons=reader.texts("reasons"),
        changes=reader.rows("changes", _change_from_json),
        jobs=reader.rows("jobs", _job_from_json),
        skipped=reader.rows("skipped", _skipped_job_from_json),
        focus=reader.texts("focus"),
        uses={api: uses.rows(api, place_from_json) for api in uses.members()},
    )


def place_to_json(place: Place) -> dict[str, Json]:
    """Return the JSON form of a place."""
    return {"path": place.path, "line": place.line}


def _job_to_json(job: PlannedJob | SkippedJob) -> dict[str, Json]:
    values = {item.name: getattr(job, item.name) for item in fields(job)}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def place_from_json(reader: Untrusted) -> Place:
    """Rebuild a place from untrusted JSON.

    Raises:
        ValueError: if the JSON is not a place, or its path leads out of the repository.
    """
    path = reader.value("path", str)
    if path.startswith(("/", "\\")) or ".." in path.replace("\\", "/").split("/"):
        message = f"{reader.name}: the path {path!r:.60} is outside the repository"
        raise ValueError(message)
    if len(path) > _MAX_PATH_LENGTH:
        message = f"{reader.name}: the path {path!r:.60} exceeds {_MAX_PATH_LENGTH} characters"
        raise ValueError(message)
    return Place(path=path, line=min(max(1, reader.value("line", int)), _MAX_LINE))


def _change_from_json(reader: Untrusted) -> PackageChange:
    return PackageChange(
        package=reader.value("package", str),
        base=None if reader.data.get("base") is None else reader.value("base", str),
        head=None if reader.data.get("head") is None else reader.value("head", str),
        place=place_from_json(reader.inner("place")),
    )


def _job_from_json(reader: Untrusted) -> PlannedJob:
    return PlannedJob(
        name=reader.value("name", str),
        targets=reader.texts("targets"),
        base=reader.texts("base"),
        device=reader.value("device", str),
        runs_on=reader.texts("runs_on"),
        shard=_validated_shard(reader),
    )


def _validated_shard(reader: Untrusted) -> str:
    """Return the shard of a job in its canonical form."""
    text = reader.value("shard", str)
    try:
        return str(parse_shard(text))
    except ValueError as error:
        message = f"{reader.name}: shard {text!r:.60}: {error}"
        raise ValueError(message) from error


def _skipped_job_from_json(reader: Untrusted) -> SkippedJob:
    return SkippedJob(
        name=reader.value("name", str),
        targets=reader.texts("targets"),
        device=reader.value("device", str),
        reason=reader.value("reason", str),
    )
