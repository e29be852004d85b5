"""Parts: the input of `ciguard merge`, one line of `parts.jsonl` each.

A run writes one part. `ciguard merge` writes all parts that it read. Its output can therefore be
merged again, with the same result as if all parts were merged at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.app_runs import AppCase
from ciguard.domain.detection import Detection, detection_from_json, detection_to_json
from ciguard.domain.documentation import (
    DocumentationFinding,
    documentation_from_json,
    documentation_to_json,
)
from ciguard.domain.findings import (
    INCONCLUSIVE,
    Bucket,
    Comparison,
    Confirmation,
    Finding,
    TargetSummary,
    Verdict,
    bucket_from_json,
    bucket_to_json,
    target_from_json,
    target_to_json,
)
from ciguard.domain.function_calls import FunctionCase
from ciguard.domain.shards import Shard, parse_shard
from ciguard.domain.untrusted import Untrusted
from ciguard.domain.value_table import (
    ValueTable,
    value_table_from_json,
    value_table_to_json,
)
from ciguard.domain.visits import unpack_visits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.domain.values import Json

PART_SCHEMA = 2
_READABLE_SCHEMAS = (1, PART_SCHEMA)
"""Schema 1 had no visits."""
SHARED_NUMBERS = ("seed", "max_cases")
"""Names of the numeric settings that must be equal in all parts of a campaign."""
SHARED_LISTS = ("levels", "api", "exclude", "allow", "relations", "focus")
"""Names of the list settings that must be equal in all parts of a campaign. Levels add others."""
PARTS_FILE = "parts.jsonl"
"""Name of the parts file in a run's output folder."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9 _.+-]{0,79}")
"""Valid names of libraries, oracles and kinds, which reports show without escapes."""
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_FUNCTION = re.compile(
    r"([\w.]*:)?([^\W\d]\w*|<locals>|<lambda>)(\.([^\W\d]\w*|<locals>|<lambda>))*"
)
"""Valid names of functions: `MODULE:NAME`, or `NAME` for a function of the program itself."""
_FINGERPRINT = re.compile(r"v[0-9]{1,4}:[0-9a-f]{16}")
_KEY = re.compile(r"[0-9a-f]{1,64}")
_MAX_REPETITIONS = 1 << 20

RowKey: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], int]
"""Key of a matrix row: its targets, the targets of its base, and its number of shards."""
PartKey: TypeAlias = tuple[RowKey, int]
"""Key of a part: its matrix row, and the number of its shard from 1."""


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """A part or target that should have run and did not."""

    name: str
    """Name of the part or target, for messages."""
    reason: str
    """Reason why it did not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamProgress:
    """Progress of one stream of cases."""

    batches: int
    """Number of executed batches."""
    visits: str = ""
    """Number of batches of each API, packed; empty for a stream without visits."""
    learned: str
    """Digest of the feedback with which the stream began; empty if it began without feedback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Result of one shard of a campaign."""

    ciguard: str
    """Version of ciguard."""
    campaign: Mapping[str, Json]
    """Settings that must be equal in all parts of the campaign, by name."""
    targets: tuple[str, ...]
    """Targets in the words of the request, such as `torch==2.13.0`."""
    base: tuple[str, ...] = ()
    """Targets of the pull request's base, in the words of the request."""
    shard: Shard = field(default_factory=Shard)
    verdict: Verdict
    budget_s: float
    """Budget of the run, in seconds."""
    explored_in_s: float
    """Budget, in seconds, that a repetition needs to reach the same progress."""
    jobs: int = 1
    """Number of workers per target."""
    ran: tuple[TargetSummary, ...]
    """Summaries of all targets, the targets of the base first."""
    exercised: Mapping[str, frozenset[str]]
    """APIs that were called at least once, by target."""
    replayed: Mapping[str, frozenset[str]]
    """Targets on which the stored case no longer showed the defect, by fingerprint."""
    shown_on: Mapping[str, frozenset[tuple[str, ...]]]
    """Targets of each finding in a bucket, by fingerprint."""
    explored: Mapping[str, StreamProgress]
    """Progress of the streams of cases, by the key of the stream."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """Reasons why the user's functions and programs were not tested; empty texts for the tested."""
    stages: Mapping[str, float]
    """Time spent in seconds, by stage."""
    buckets: tuple[Bucket, ...]
    """Buckets of this part, not yet compared with the baseline."""
    documentation: tuple[DocumentationFinding, ...] = ()
    detection: Detection | None = None
    """Planted defects; None if none were planted, or an earlier version wrote the part."""
    values: ValueTable | None = None
    """Kinds of the arguments that were drawn; None if there are none, or an earlier version wrote
    the part."""

    @property
    def row(self) -> RowKey:
        """Key that the shards of one matrix row share."""
        return self.targets, self.base, self.shard.of

    @property
    def key(self) -> PartKey:
        """Key that is unique within the campaign."""
        return self.row, self.shard.index

    @property
    def name(self) -> str:
        """Name of the part in messages."""
        return part_name(self.targets, self.shard)

    @property
    def is_whole(self) -> bool:
        """True if the part ran to its end on all targets."""
        is_finished = self.verdict not in INCONCLUSIVE - {Verdict.NOT_TESTED}
        return is_finished and not any(target.not_run for target in self.ran)

    @property
    def base_names(self) -> tuple[str, ...]:
        """Names of the base's targets that ran."""
        return tuple(target.name for target in self.ran[: len(self.base)])


def part_name(targets: tuple[str, ...], shard: Shard) -> str:
    """Return the name of a part in messages, such as `shard 2/8 of torch==2.13.0`."""
    return f"shard {shard} of {', '.join(targets)}"


def functions_of(parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return why functions were not tested; a function is tested if it is in any of the parts."""
    reasons: dict[str, str] = {}
    for part in parts:
        for name, reason in part.items():
            reasons[name] = reason and reasons.get(name, reason)
    return reasons


def without_run_results(bucket: Bucket) -> Bucket:
    """Return a bucket as it is before it is compared with a baseline: new, without script or cause.

    Its root cause is removed too, because it is determined again after a merge.
    """
    return replace(bucket, comparison=Comparison.NEW, reproducer="", cause=None)


def part_to_json(part: Part) -> dict[str, Json]:
    """Return the JSON form of a part. Sets are sorted, so that equal parts have equal text."""
    return {
        "schema": PART_SCHEMA,
        "ciguard": part.ciguard,
        "campaign": dict(part.campaign),
        "targets": list(part.targets),
        "base": list(part.base),
        "shard": str(part.shard),
        "verdict": part.verdict.value,
        "budget_s": part.budget_s,
        "explored_in_s": part.explored_in_s,
        "jobs": part.jobs,
        "ran": [target_to_json(target) for target in part.ran],
        "exercised": {name: sorted(apis) for name, apis in sorted(part.exercised.items())},
        "replayed": {name: sorted(targets) for name, targets in sorted(part.replayed.items())},
        "shown_on": {
            name: sorted(map(list, targets)) for name, targets in sorted(part.shown_on.items())
        },
        "explored": {
            name: [stream.batches, stream.learned, stream.visits]
            for name, stream in sorted(part.explored.items())
        },
        **({"functions": dict(part.functions)} if part.functions else {}),
        "stages": dict(part.stages),
        "buckets": [bucket_to_json(bucket) for bucket in part.buckets],
        "documentation": [documentation_to_json(finding) for finding in part.documentation],
        **({"detection": detection_to_json(part.detection)} if part.detection else {}),
        **({"values": value_table_to_json(part.values)} if part.values else {}),
    }


def gap_to_json(gap: Gap) -> dict[str, Json]:
    """Return the JSON form of a gap, which a later merge reads."""
    return {"schema": PART_SCHEMA, "missing": gap.name, "reason": gap.reason}


def line_from_json(data: object) -> Part | Gap:
    """Parse a line of an untrusted parts file.

    Raises:
        ValueError: if the line is neither a part nor a gap; the message names the malformed key.
    """
    reader = Untrusted(data, "the part")
    if (schema := reader.value("schema", int)) not in _READABLE_SCHEMAS:
        message = f"the part has schema {schema}; this ciguard reads up to {PART_SCHEMA}"
        raise ValueError(message)
    if "missing" in reader.data:
        return Gap(reader.text("missing"), reader.text("reason"))
    return _part_from_json(reader)


def _part_from_json(reader: Untrusted) -> Part:
    try:
        return Part(
            ciguard=reader.text("ciguard"),
            campaign=_campaign_settings(reader.inner("campaign")),
            targets=reader.names("targets"),
            base=reader.names("base"),
            shard=parse_shard(reader.value("shard", str)),
            verdict=Verdict(reader.value("verdict", str)),
            budget_s=reader.seconds("budget_s"),
            explored_in_s=reader.seconds("explored_in_s"),
            jobs=reader.count("jobs"),
            ran=reader.rows("ran", _validated_target),
            exercised=_name_sets(reader, "exercised"),
            replayed=_name_sets(reader, "replayed"),
            shown_on=_shown_on(reader),
            explored=_stream_progress(reader),
            functions=_functions(reader.inner("functions")) if "functions" in reader.data else {},
            stages=_stage_seconds(reader.inner("stages")),
            buckets=reader.rows("buckets", _validated_bucket),
            documentation=reader.rows("documentation", _validated_documentation),
            detection=_detection(reader),
            values=_values(reader),
        )
    except (LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        message = f"the part is malformed: {error!r:.200}"
        raise ValueError(message) from error


def _detection(reader: Untrusted) -> Detection | None:
    present = "detection" in reader.data
    return detection_from_json(reader.inner("detection")) if present else None


def _values(reader: Untrusted) -> ValueTable | None:
    present = "values" in reader.data
    return value_table_from_json(reader.inner("values")) if present else None


def _campaign_settings(reader: Untrusted) -> dict[str, Json]:
    """Return the campaign's settings, including those that levels add."""
    numbers = {key: reader.count(key) for key in SHARED_NUMBERS}
    settings: dict[str, Json] = numbers | {key: list(reader.texts(key)) for key in SHARED_LISTS}
    return settings | {
        key: _level_setting(reader, key) for key in reader.members() if key not in settings
    }


def _level_setting(reader: Untrusted, key: str) -> Json:
    """Return the value of a level's own setting. Its type is read from the value itself."""
    match reader.data[key]:
        case bool() | float() as value:
            return value
        case int():
            return reader.count(key)
        case str():
            return reader.text(key)
        case _:
            return list(reader.texts(key))


def _validated(pattern: re.Pattern[str], text: str, key: str) -> str:
    """Return `text`, or raise a ValueError that names `key` if it does not match the pattern."""
    if not pattern.fullmatch(text):
        message = f"{key} is malformed: {text!r:.60}"
        raise ValueError(message)
    return text


def _functions(reader: Untrusted) -> dict[str, str]:
    return {name: reader.text(name) for name in reader.members()}


def _name_sets(reader: Untrusted, key: str) -> dict[str, frozenset[str]]:
    names_by_key = reader.inner(key)
    return {name: frozenset(names_by_key.texts(name)) for name in names_by_key.members()}


def _shown_on(reader: Untrusted) -> dict[str, frozenset[tuple[str, ...]]]:
    encoded = reader.inner("shown_on")
    shown_on: dict[str, frozenset[tuple[str, ...]]] = {}
    for name in encoded.data:
        rows = [Untrusted({"targets": row}, "'shown_on'") for row in encoded.value(name, list)]
        shown_on[name] = frozenset(row.texts("targets") for row in rows)
    return shown_on


def _stream_progress(reader: Untrusted) -> dict[str, StreamProgress]:
    encoded = reader.inner("explored")
    explored = {}
    for name in encoded.data:
        batches, learned, *rest = encoded.value(name, list)
        visits = rest[0] if rest else ""
        fields = {"batches": batches, "learned": learned, "visits": visits}
        progress = Untrusted(fields, "'explored'")
        digest = progress.value("learned", str)
        explored[_validated(_KEY, name, "the name of a stream")] = StreamProgress(
            batches=progress.count("batches"),
            visits=_valid_visits(progress.value("visits", str)),
            learned=digest and _validated(_KEY, digest, "the digest of a stream"),
        )
    return explored


def _valid_visits(text: str) -> str:
    """Return the packed visits.

    Raises:
        ValueError: if they are malformed.
    """
    if text:
        unpack_visits(text)
    return text


def _stage_seconds(reader: Untrusted) -> dict[str, float]:
    return {
        _validated(_NAME, name, "the name of a stage"): reader.seconds(name) for name in reader.data
    }


def _validated_target(reader: Untrusted) -> TargetSummary:
    target = target_from_json(reader)
    _validated(_NAME, target.library, "'library'")
    return target


def _validated_bucket(reader: Untrusted) -> Bucket:
    """Rebuild a bucket; raise a ValueError if its texts or counts are invalid or inconsistent."""
    for key in ("count", "shown", "tried"):
        reader.count(key)
    bucket = without_run_results(bucket_from_json(reader.data))
    finding = bucket.finding
    for name in (bucket.fingerprint, *bucket.aliases):
        _validated(_FINGERPRINT, name, "a fingerprint")
    for text in (finding.library, finding.oracle, finding.kind):
        _validated(_NAME, text, "a name in a bucket")
    reader.names("targets")
    reader.inner("outcomes").members()
    _check_subject(finding)
    if bucket.confirmation is Confirmation.CONFIRMED and not set(finding.targets) <= set(
        finding.outcomes
    ):
        message = f"the bucket {bucket.fingerprint} lacks the outcome of one of its targets"
        raise ValueError(message)
    if not finding.targets or finding.case.api != finding.api or bucket.count < 1:
        message = (
            f"the bucket {bucket.fingerprint} has no targets, an API other than that of its case, "
            "or a count below 1"
        )
        raise ValueError(message)
    if not bucket.shown <= bucket.tried <= _MAX_REPETITIONS:
        message = (
            f"the bucket {bucket.fingerprint}: 'shown' must be at most 'tried', which must be at "
            f"most {_MAX_REPETITIONS}"
        )
        raise ValueError(message)
    return bucket


def _check_subject(finding: Finding) -> None:
    """Raise a ValueError if the name of the finding's API or function is invalid.

    The path of a program needs no check here: reading the case has checked it.
    """
    if isinstance(finding.case, AppCase):
        _validated(_FUNCTION, finding.case.function, "a function")
    elif not isinstance(finding.case, FunctionCase):
        _validated(_DOTTED, finding.api, "an API")
    elif finding.case.function:
        _validated(_FUNCTION, finding.case.function, "a function")


def _validated_documentation(reader: Untrusted) -> DocumentationFinding:
    finding = documentation_from_json(reader)
    _validated(_NAME, finding.library, "'library'")
    return finding
