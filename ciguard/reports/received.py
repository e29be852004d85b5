"""Read back a whole run from its folder, which may be anybody's: an artefact of a fork, say."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ciguard.config import SETTINGS
from ciguard.domain import (
    BaselineStanding,
    BaselineState,
    Bucket,
    Place,
    Plan,
    Policy,
    RunFinished,
    Severity,
    Tally,
    TargetSummary,
    Verdict,
    bucket_from_json,
    plan_from_json,
    visible,
)
from ciguard.errors import OutputError
from ciguard.reports.places import Places
from ciguard.reports.stored import BUCKETS_FILE
from ciguard.reports.wording import counts_by_state
from ciguard.triage import is_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

RUN_FILE = "run.json"
_MOST_RUN_BYTES = 16 * 1024 * 1024
_MOST_BUCKETS_BYTES = 256 * 1024 * 1024
_MOST_BUCKETS = 100_000
_KINDS: Mapping[object, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "bytes": bytes,
}
"""What an annotation of a field demands."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRun:
    """A run as its folder tells it. Every text in it may be hostile; every type is right."""

    finished: RunFinished
    places: Places
    policy: Policy
    """By which the run judged."""

    @property
    def plan(self) -> Plan | None:
        """What was chosen and why."""
        return self.places.plan


def receive_run(folder: Path) -> ReceivedRun:
    """Return the run whose results are in `folder`.

    Raises:
        OutputError: if files are missing, damaged, too large, no plain files, or of another schema.
    """
    path = folder / RUN_FILE
    try:
        run = json.loads(_read(path, _MOST_RUN_BYTES))
        places = _places(run)
        finished = _finished(run)
        policy = _policy(finished.parameters)
        path = folder / BUCKETS_FILE
        buckets = tuple(_buckets(path))
        _require_all(buckets, _of(run, "buckets", dict))
        return ReceivedRun(
            finished=replace(finished, buckets=buckets), places=places, policy=policy
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        # The message ends in a workflow's log, where `##[` begins a command wherever it stands.
        says = visible(str(error) or repr(error), limit=200).replace("##[", "# #[")
        msg = (
            f"{path}: not the results of a run: {says}. "
            "Was the run cancelled, or its artefact not downloaded?"
        )
        raise OutputError(msg) from error


def _read(path: Path, most_bytes: int) -> str:
    # Neither a link out of the folder nor a pipe that never ends.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            msg = "no plain file"
            raise ValueError(msg)
        content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        msg = f"larger than {most_bytes:,} bytes"
        raise ValueError(msg)
    return content.decode("utf-8")


def _buckets(path: Path) -> Iterator[Bucket]:
    lines = _read(path, _MOST_BUCKETS_BYTES).split("\n")
    if len(lines) > _MOST_BUCKETS:
        msg = f"more than {_MOST_BUCKETS:,} buckets"
        raise ValueError(msg)
    for line in lines:
        if line:
            bucket = bucket_from_json(json.loads(line))
            _require_types(bucket)
            if not is_fingerprint(bucket.fingerprint):
                msg = f"{bucket.fingerprint!r:.60} is no fingerprint"
                raise ValueError(msg)
            yield bucket


def _require_all(buckets: tuple[Bucket, ...], counts: Mapping[str, object]) -> None:
    """Refuse a file that was cut: what is missing would look clean."""
    if counts_by_state(buckets) != counts:
        msg = f"it has other buckets than {RUN_FILE} counts"
        raise ValueError(msg)


def _require_types(value: object) -> None:
    """Hold a value against the annotations of its fields, all the way down.

    Raises:
        TypeError: naming the field that is of another type.
    """
    if isinstance(value, tuple | list):
        for one in value:
            _require_types(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            _require_types(key)
            _require_types(one)
    elif is_dataclass(value):
        for item in fields(value):
            _require_field(item.name, item.type, getattr(value, item.name))


def _require_field(name: str, annotation: object, value: object) -> None:
    kind = _KINDS.get(annotation)
    if annotation == "tuple[str, ...]" and not all(isinstance(one, str) for one in value):  # type: ignore[attr-defined]  # else it raises what it is to raise
        msg = f"{name!r} is no list of texts"
        raise TypeError(msg)
    if kind is not None and not isinstance(value, kind):
        msg = f"{name!r} is not of type {annotation}"
        raise TypeError(msg)
    _require_types(value)


def _finished(run: Any) -> RunFinished:
    if _of(run, "schema", int) != 1:
        msg = f"schema {run['schema']!r:.20}; this ciguard reads 1"
        raise ValueError(msg)
    targets = [_target(target) for target in _of(run, "targets", list)]
    return RunFinished(
        verdict=Verdict(_of(run, "verdict", str)),
        exit_code=_of(run, "exit_code", int),
        summary=_of(run, "summary", str),
        targets=tuple(targets),
        buckets=(),
        stages={},
        apis_exercised={
            target.name: _of(told, "apis_exercised", int)
            for target, told in zip(targets, run["targets"], strict=True)
        },
        parameters=_of(run, "parameters", dict),
        baseline=_standing(run.get("baseline")),
    )


def _target(told: Any) -> TargetSummary:
    counts = _of(told, "outcomes", dict)
    summary = TargetSummary(
        name=_of(told, "name", str),
        library=_of(told, "library", str),
        version=_of(told, "version", str),
        python=_of(told, "python", str),
        device=_of(told, "device", str),
        packages={},
        confined_by=(),
        apis=_of(told, "apis", int),
        tally=Tally(**{name: _of(counts, name, int) for name in Tally.__slots__}),
        not_run=_of(told, "not_run", str),
    )
    _require_types(summary)
    return summary


def _standing(told: Any) -> BaselineStanding | None:
    if told is None:
        return None
    standing = BaselineStanding(
        state=BaselineState(_of(told, "state", str)),
        updated_at=told.get("updated_at") or "",
        reasons=tuple(_of(told, "reasons", list)),
    )
    _require_types(standing)
    return standing


def _places(run: Any) -> Places:
    plan = run.get("plan")
    named = {
        str(library): Place(path=_inside(_of(place, "path", str)), line=_of(place, "line", int))
        for library, place in _of(run, "places", dict).items()
    }
    return Places(plan=None if plan is None else plan_from_json(plan), named=named)


def _inside(path: str) -> str:
    if path.startswith(("/", "\\")) or ".." in path.replace("\\", "/").split("/"):
        msg = f"the path {path!r:.60} leads out of the repository"
        raise ValueError(msg)
    return path


def _policy(parameters: Mapping[str, Any]) -> Policy:
    rules = SETTINGS["policy"].kind.check([str(rule) for rule in parameters.get("rules", ())])
    fail_on = parameters.get("fail_on", Policy().fail_on.label)
    return Policy(fail_on=Severity[str(fail_on).upper()], rules=rules)


def _of(told: Any, key: str, kind: type[_T]) -> _T:
    value = told.get(key) if isinstance(told, dict) else None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        msg = f"{key!r} is not of type {kind.__name__}"
        raise TypeError(msg)
    return value
