"""Reads a run back from its folder, which is not trusted: it may be an artifact of a fork."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from ciguard.config import SETTINGS
from ciguard.domain.baseline_status import BaselineState, BaselineStatus
from ciguard.domain.detection import detection_from_json
from ciguard.domain.documentation import DocumentationFinding, documentation_from_json
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Bucket, Severity, Verdict, bucket_from_json, target_from_json
from ciguard.domain.plan import Plan, place_from_json, plan_from_json
from ciguard.domain.policy import Policy
from ciguard.domain.text import visible
from ciguard.domain.untrusted import Untrusted
from ciguard.errors import OutputError
from ciguard.files import parse_json, read_lines, read_text
from ciguard.reports.documentation import DOCUMENTATION_FILE
from ciguard.reports.places import Places
from ciguard.reports.stored import BUCKETS_FILE, RUN_FILE, RUN_SCHEMA
from ciguard.reports.wording import counts_by_state
from ciguard.triage import is_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_MAX_RUN_BYTES = 16 * 1024 * 1024
_MAX_BUCKETS_BYTES = 256 * 1024 * 1024
_MAX_BUCKETS = 100_000
_MAX_DOCUMENTATION_BYTES = 64 * 1024 * 1024
_MAX_DOCUMENTATION_LINE = 1024 * 1024
_MAX_LINE = 64 * 1024 * 1024
_KINDS: Mapping[object, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "bytes": bytes,
}
"""Annotation of a field, as text → types that its value may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRun:
    """A run that was read back from its folder. Types are checked; every text may be hostile."""

    finished: RunFinished
    places: Places
    policy: Policy
    """Policy that the run applied."""
    documentation: tuple[DocumentationFinding, ...]

    @property
    def plan(self) -> Plan | None:
        """Plan of the run; None if it had none."""
        return self.places.plan


def receive_run(folder: Path) -> ReceivedRun:
    """Return the run whose results are in `folder`.

    Raises:
        OutputError: if a file is missing, damaged, too large, not regular, or of another schema.
    """
    path = folder / RUN_FILE
    try:
        run = Untrusted(parse_json(read_text(path, most=_MAX_RUN_BYTES)), "the run")
        places = _places(run)
        finished = _finished(run)
        policy = _policy(finished.parameters)
        path = folder / BUCKETS_FILE
        buckets = tuple(_buckets(path))
        _require_counts(buckets, run.value("buckets", dict))
        path = folder / DOCUMENTATION_FILE
        return ReceivedRun(
            finished=replace(finished, buckets=buckets),
            places=places,
            policy=policy,
            documentation=tuple(_documentation(path)),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        # In a workflow's log, where the message appears, `##[` starts a command anywhere in a line.
        reason = visible(str(error) or repr(error), limit=200).replace("##[", "# #[")
        msg = (
            f"{path} does not contain the results of a run: {reason}. Check that the run "
            "was not cancelled, and that its artifact was downloaded."
        )
        raise OutputError(msg) from error


def _buckets(path: Path) -> Iterator[Bucket]:
    lines = read_lines(path, max_bytes=_MAX_BUCKETS_BYTES, max_line=_MAX_LINE)
    for number, line in enumerate(lines, start=1):
        if number > _MAX_BUCKETS:
            msg = f"the file has more than {_MAX_BUCKETS:,} buckets"
            raise ValueError(msg)
        if line.strip():
            bucket = bucket_from_json(parse_json(line))
            _require_types(bucket)
            if not is_fingerprint(bucket.fingerprint):
                msg = f"{bucket.fingerprint!r:.60} is not a fingerprint"
                raise ValueError(msg)
            yield bucket


def _documentation(path: Path) -> Iterator[DocumentationFinding]:
    """Yield the findings about documentation; none without the file, as they decide no check."""
    if not path.exists():
        return
    lines = read_lines(path, max_bytes=_MAX_DOCUMENTATION_BYTES, max_line=_MAX_DOCUMENTATION_LINE)
    for line in lines:
        yield documentation_from_json(Untrusted(parse_json(line), "the finding"))


def _require_counts(buckets: tuple[Bucket, ...], counts: Mapping[str, object]) -> None:
    """Check that no bucket is missing, as in a truncated file: it would look clean.

    Raises:
        ValueError: if the number of buckets in a state differs from `counts`.
    """
    if counts_by_state(buckets) != counts:
        msg = f"the number of buckets differs from the number in {RUN_FILE}"
        raise ValueError(msg)


def _require_types(value: object) -> None:
    """Check a value recursively against the annotations of its fields.

    Raises:
        TypeError: if a field has a value of another type; the message names the field.
    """
    if isinstance(value, tuple | list):
        for member in value:
            _require_types(member)
    elif isinstance(value, dict):
        for key, member in value.items():
            _require_types(key)
            _require_types(member)
    elif is_dataclass(value):
        for item in fields(value):
            _require_field(item.name, item.type, getattr(value, item.name))


def _require_field(name: str, annotation: object, value: object) -> None:
    """Check the value of one field against its annotation."""
    kind = _KINDS.get(annotation)
    if annotation == "tuple[str, ...]" and not all(isinstance(text, str) for text in value):  # type: ignore[attr-defined]  # if it is not iterable, TypeError is raised
        msg = f"{name!r} is not a list of strings"
        raise TypeError(msg)
    if kind is not None and not isinstance(value, kind):
        msg = f"{name!r} is not of type {annotation}"
        raise TypeError(msg)
    _require_types(value)


def _finished(run: Untrusted) -> RunFinished:
    """Return the last event of an untrusted run, still without its buckets."""
    if (schema := run.value("schema", int)) != RUN_SCHEMA:
        msg = f"schema {schema!r:.20}, but this version of ciguard reads schema {RUN_SCHEMA}"
        raise ValueError(msg)
    targets = run.rows("targets", target_from_json)
    exercised = run.rows("targets", lambda target: target.count("apis_exercised"))
    return RunFinished(
        verdict=Verdict(run.value("verdict", str)),
        exit_code=run.value("exit_code", int),
        summary=run.value("summary", str),
        targets=targets,
        buckets=(),
        stages={},
        apis_exercised={
            target.name: count for target, count in zip(targets, exercised, strict=True)
        },
        parameters=run.value("parameters", dict),
        baseline=None
        if run.data.get("baseline") is None
        else _baseline_status(run.inner("baseline")),
        detection=None
        if run.data.get("detection") is None
        else detection_from_json(run.inner("detection")),
    )


def _baseline_status(encoded: Untrusted) -> BaselineStatus:
    return BaselineStatus(
        state=BaselineState(encoded.value("state", str)),
        updated_at="" if encoded.data.get("updated_at") is None else encoded.text("updated_at"),
        reasons=encoded.texts("reasons"),
    )


def _places(run: Untrusted) -> Places:
    """Return the plan and the library places of an untrusted run."""
    plan, library_places = run.data.get("plan"), run.inner("places")
    return Places(
        plan=None if plan is None else plan_from_json(plan),
        library_places={
            library: place_from_json(library_places.inner(library))
            for library in library_places.members()
        },
    )


def _policy(parameters: Mapping[str, Any]) -> Policy:
    rules = SETTINGS["policy"].kind.check([str(rule) for rule in parameters.get("rules", ())])
    fail_on = parameters.get("fail_on", Policy().fail_on.label)
    return Policy(fail_on=Severity[str(fail_on).upper()], rules=rules)
