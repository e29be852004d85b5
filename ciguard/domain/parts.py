"""Parts: what a run leaves for `ciguard merge`, one line of `parts.jsonl` each.

A run leaves one part, a merged run all that it was merged from: so merging what was merged is
merging the same parts once more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ciguard.domain.app_runs import AppCase
from ciguard.domain.documentation import (
    DocumentationCheck,
    DocumentationFinding,
    documentation_to_json,
)
from ciguard.domain.findings import (
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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Json

PART_SCHEMA = 1
SHARED_NUMBERS = ("seed", "max_cases")
SHARED_LISTS = ("levels", "api", "exclude", "allow", "relations", "focus")
"""Settings that decide the cases of a campaign, whatever it runs on; levels have more of them."""
PARTS_FILE = "parts.jsonl"
"""In the folder of every run."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9 _.+-]{0,79}")
"""Of a library, an oracle, a kind: reports show these as they are."""
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_FUNCTION = re.compile(
    r"([\w.]*:)?([^\W\d]\w*|<locals>|<lambda>)(\.([^\W\d]\w*|<locals>|<lambda>))*"
)
"""Of an annotated function within its program, with the module where that is another."""
_FINGERPRINT = re.compile(r"v[0-9]{1,4}:[0-9a-f]{16}")
_KEY = re.compile(r"[0-9a-f]{1,64}")
_MAX_REPETITIONS = 1 << 20

RowKey: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], int]
PartKey: TypeAlias = tuple[RowKey, int]


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """Something that should have run and did not."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamProgress:
    """How far one stream of cases got."""

    batches: int
    learned: str
    """Digest of what the level knew when it began; empty for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one shard of a campaign has done."""

    ciguard: str
    """Version."""
    campaign: Mapping[str, Json]
    """Settings that all parts of one campaign share."""
    targets: tuple[str, ...]
    """As they were asked for."""
    base: tuple[str, ...] = ()
    """Targets of the base, as they were asked for."""
    shard: Shard = field(default_factory=Shard)
    verdict: Verdict
    budget_s: float
    explored_in_s: float
    """The budget that is enough to get as far."""
    jobs: int = 1
    ran: tuple[TargetSummary, ...]
    """Those of the base first."""
    exercised: Mapping[str, frozenset[str]]
    """By target, the APIs that were called at least once."""
    replayed: Mapping[str, frozenset[str]]
    """Fingerprint → targets on which its stored case ended well, and nothing was found then."""
    shown_on: Mapping[str, frozenset[tuple[str, ...]]]
    """Fingerprint → the targets of each finding in the bucket."""
    explored: Mapping[str, StreamProgress]
    """By stream."""
    stages: Mapping[str, float]
    buckets: tuple[Bucket, ...]
    """What was met, compared with nothing."""
    documentation: tuple[DocumentationFinding, ...] = ()

    @property
    def row(self) -> RowKey:
        """What its sibling shards share."""
        return self.targets, self.base, self.shard.of

    @property
    def key(self) -> PartKey:
        """What no two parts of one campaign share."""
        return self.row, self.shard.index

    @property
    def name(self) -> str:
        """The part for a person."""
        return part_name(self.targets, self.shard)

    @property
    def is_whole(self) -> bool:
        """Whether it ran to its end on every target."""
        is_over = self.verdict not in {Verdict.INTERRUPTED, Verdict.NOT_RUN}
        return is_over and not any(target.not_run for target in self.ran)

    @property
    def base_names(self) -> tuple[str, ...]:
        """Names of the base's targets, as they ran."""
        return tuple(target.name for target in self.ran[: len(self.base)])


def part_name(targets: tuple[str, ...], shard: Shard) -> str:
    """Return what a person calls a part of a campaign."""
    return f"shard {shard} of {', '.join(targets)}"


def bare(bucket: Bucket) -> Bucket:
    """Return a bucket without what comparing, grouping and writing scripts has added."""
    return replace(bucket, comparison=Comparison.NEW, reproducer="", cause=None)


def part_to_json(part: Part) -> dict[str, Json]:
    """Return a part's file form. The same part, the same text: everything unordered is sorted."""
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
        "replayed": {name: sorted(on) for name, on in sorted(part.replayed.items())},
        "shown_on": {
            name: sorted(map(list, every)) for name, every in sorted(part.shown_on.items())
        },
        "explored": {
            name: [far.batches, far.learned] for name, far in sorted(part.explored.items())
        },
        "stages": dict(part.stages),
        "buckets": [bucket_to_json(bucket) for bucket in part.buckets],
        "documentation": [documentation_to_json(finding) for finding in part.documentation],
    }


def gap_to_json(gap: Gap) -> dict[str, Json]:
    """Return a gap's file form: merging once more must not forget it."""
    return {"schema": PART_SCHEMA, "missing": gap.name, "reason": gap.reason}


def line_from_json(data: object) -> Part | Gap:
    """Return what a line of the file holds, which may be damaged or hostile.

    Raises:
        ValueError: it is neither; the message names the key.
    """
    read = Untrusted(data, "the part")
    if (schema := read.of("schema", int)) != PART_SCHEMA:
        message = f"the part: 'schema' is {schema}; this ciguard reads {PART_SCHEMA}"
        raise ValueError(message)
    if "missing" in read.data:
        return Gap(read.text("missing"), read.text("reason"))
    return _part_from(read)


def _part_from(read: Untrusted) -> Part:
    try:
        return Part(
            ciguard=read.text("ciguard"),
            campaign=_campaign(read.inner("campaign")),
            targets=read.names("targets"),
            base=read.names("base"),
            shard=parse_shard(read.of("shard", str)),
            verdict=Verdict(read.of("verdict", str)),
            budget_s=read.seconds("budget_s"),
            explored_in_s=read.seconds("explored_in_s"),
            jobs=read.count("jobs"),
            ran=read.rows("ran", _target_from),
            exercised=_name_sets(read, "exercised"),
            replayed=_name_sets(read, "replayed"),
            shown_on=_shown_on(read),
            explored=_explored(read),
            stages=_stages(read.inner("stages")),
            buckets=read.rows("buckets", _bucket_from),
            documentation=read.rows("documentation", _documentation_from),
        )
    except (LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        message = f"the part: not readable ({error!r:.200})"
        raise ValueError(message) from error


def _campaign(read: Untrusted) -> dict[str, Json]:
    numbers = {key: read.count(key) for key in SHARED_NUMBERS}
    own: dict[str, Json] = numbers | {key: list(read.texts(key)) for key in SHARED_LISTS}
    return own | {key: _plain(read, key) for key in read.members() if key not in own}


def _plain(read: Untrusted, key: str) -> Json:
    """Return a setting of a level, whose type its own package knows."""
    match read.data[key]:
        case bool() | float() as value:
            return value
        case int():
            return read.count(key)
        case str():
            return read.text(key)
        case _:
            return list(read.texts(key))


def _checked(pattern: re.Pattern[str], text: str, key: str) -> str:
    if not pattern.fullmatch(text):
        message = f"{key} is {text!r:.60}"
        raise ValueError(message)
    return text


def _name_sets(read: Untrusted, key: str) -> dict[str, frozenset[str]]:
    every = read.inner(key)
    return {name: frozenset(every.texts(name)) for name in every.members()}


def _shown_on(read: Untrusted) -> dict[str, frozenset[tuple[str, ...]]]:
    every = read.inner("shown_on")
    found: dict[str, frozenset[tuple[str, ...]]] = {}
    for name in every.data:
        lists = [Untrusted({"targets": one}, "'shown_on'") for one in every.of(name, list)]
        found[name] = frozenset(one.texts("targets") for one in lists)
    return found


def _explored(read: Untrusted) -> dict[str, StreamProgress]:
    every = read.inner("explored")
    found = {}
    for name in every.data:
        batches, learned = every.of(name, list)
        far = Untrusted({"batches": batches, "learned": learned}, "'explored'")
        digest = far.of("learned", str)
        found[_checked(_KEY, name, "a stream")] = StreamProgress(
            batches=far.count("batches"), learned=digest and _checked(_KEY, digest, "a digest")
        )
    return found


def _stages(read: Untrusted) -> dict[str, float]:
    return {_checked(_NAME, name, "a stage"): read.seconds(name) for name in read.data}


def _target_from(read: Untrusted) -> TargetSummary:
    target = target_from_json(read)
    _checked(_NAME, target.library, "'library'")
    return target


def _bucket_from(read: Untrusted) -> Bucket:
    for key in ("count", "shown", "tried"):
        read.count(key)
    bucket = bare(bucket_from_json(read.data))
    finding = bucket.finding
    for name in (bucket.fingerprint, *bucket.aliases):
        _checked(_FINGERPRINT, name, "a fingerprint")
    for text in (finding.library, finding.oracle, finding.kind):
        _checked(_NAME, text, "a name in a bucket")
    read.names("targets")
    read.inner("outcomes").members()
    _check_subject(finding)
    if bucket.confirmation is Confirmation.CONFIRMED and not set(finding.targets) <= set(
        finding.outcomes
    ):
        message = "a bucket was met on a target of which it has no outcome"
        raise ValueError(message)
    if not finding.targets or finding.case.api != finding.api or bucket.count < 1:
        message = f"the bucket {bucket.fingerprint} contradicts itself"
        raise ValueError(message)
    if not bucket.shown <= bucket.tried <= _MAX_REPETITIONS:
        message = f"the bucket {bucket.fingerprint} was shown more often than it was tried"
        raise ValueError(message)
    return bucket


def _check_subject(finding: Finding) -> None:
    """Refuse what is no name of an API or a function; programs were looked at with their case."""
    if isinstance(finding.case, AppCase):
        _checked(_FUNCTION, finding.case.function, "a function")
    elif not isinstance(finding.case, FunctionCase):
        _checked(_DOTTED, finding.api, "an API")
    elif finding.case.function:
        _checked(_FUNCTION, finding.case.function, "a function")


def _documentation_from(read: Untrusted) -> DocumentationFinding:
    texts: dict[str, Any] = {
        key: read.of(key, str) for key in ("library", "api", "parameter", "message", "evidence")
    }
    _checked(_NAME, texts["library"], "'library'")
    return DocumentationFinding(check=DocumentationCheck(read.of("check", str)), **texts)
