"""The record of one known bucket, and the merge of two copies of a record."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.domain.case import Case, case_to_json
from ciguard.domain.events import BucketHistory
from ciguard.domain.findings import (
    Bucket,
    Comparison,
    Confirmation,
    Evidence,
    Finding,
    PairKind,
    Severity,
    evidence_to_json,
)
from ciguard.triage import is_fingerprint, simplicity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.onset import Onset
    from ciguard.domain.outcomes import Frame
    from ciguard.domain.values import Json
    from ciguard.triage import Simplicity

TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
"""Format of `Sighting.time` in UTC. Texts in this format sort by time."""
_TIME = re.compile(r"2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


MAX_DECISIONS = 50
"""Maximum number of decisions in a record's history; the oldest decisions are dropped."""


class State(StrEnum):
    """State of a known bucket."""

    OPEN = "open"
    FIXED = "fixed"
    """The bucket was not reproduced in several consecutive runs that exercised it."""
    ACCEPTED = "accepted"
    """The user decided, with a reason, that the bucket need not be fixed."""
    FLAKY = "flaky"
    """The bucket was reproduced in some, but never in all repetitions."""


_RANKS = {state: rank for rank, state in enumerate(reversed(State))}
"""Rank of a state; of decisions at the same time, the decision with the highest rank counts."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Sighting:
    """Time, commit and library versions of a run. Sightings sort by time."""

    time: str
    """Time of the run in UTC, such as `2026-01-31T23:59:00Z`."""
    commit: str = ""
    """Tested commit; empty if it is unknown."""
    versions: tuple[tuple[str, str], ...] = ()
    """Library version by target, sorted by target."""

    def __post_init__(self) -> None:
        if not _is_time(self.time):
            msg = f"{self.time!r} is not a time such as 2026-01-31T23:59:00Z"
            raise ValueError(msg)


def _is_time(text: str) -> bool:
    if not _TIME.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Representative:
    """The finding that represents a bucket in the baseline, without its outcomes."""

    level: str
    oracle: str
    kind: str
    severity: Severity
    library: str
    api: str
    pair: PairKind = PairKind.NONE
    message: str = ""
    evidence: Evidence = field(default_factory=Evidence)
    case: Case
    grouping: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision on the state of a bucket; of two decisions, the later decision counts."""

    changed: str
    """Time of the decision, in the format of `Sighting.time`."""
    state: State = State.OPEN
    because: str = ""
    """Reason why the bucket is accepted; empty for other states."""
    clean_runs: int = 0
    """Number of consecutive runs that exercised the bucket without reproducing it."""
    clean_on: tuple[Sighting, ...] = ()
    """The clean runs with the versions of the bucket's targets, the latest run last."""

    def order(self) -> tuple[str, int, str, int, tuple[Sighting, ...]]:
        """Return the sort key of the decision; decisions with equal keys are equal."""
        return self.changed, _RANKS[self.state], self.because, -self.clean_runs, self.clean_on


@dataclass(frozen=True, slots=True, kw_only=True)
class RepetitionCounts:
    """Number of repetitions of a flaky bucket's case, and how many showed the defect."""

    shown: int = 0
    """Number of repetitions that showed the defect."""
    tried: int = 0
    """Number of repetitions, in confirmations and replays."""

    def __post_init__(self) -> None:
        if not 0 <= self.shown <= self.tried:
            msg = f"'shown' is {self.shown}, which is not between 0 and 'tried' ({self.tried})"
            raise ValueError(msg)

    def plus(self, *, shown: int, tried: int) -> RepetitionCounts:
        """Return the counts with further repetitions added."""
        return RepetitionCounts(shown=self.shown + shown, tried=self.tried + tried)

    def order(self) -> tuple[int, int]:
        """Return the sort key of the counts, which is greater for more repetitions."""
        return self.tried, self.shown


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRecord:
    """One known bucket."""

    fingerprint: str
    aliases: tuple[str, ...] = ()
    """Fingerprints that older recipes give the bucket, sorted."""
    decision: Decision
    """Latest decision on the bucket."""
    representative: Representative
    """Finding that represents the bucket."""
    targets: tuple[str, ...]
    """Targets that showed the bucket, sorted; for a difference, both targets."""
    first_seen: Sighting
    """First run that saw the bucket."""
    last_seen: Sighting
    """Last run that saw the bucket."""
    history: tuple[Decision, ...] = ()
    """Decisions that changed the state, including the latest decision, oldest first."""
    native_stack: tuple[Frame, ...] = ()
    """Native frames of a crash; empty without a debugger."""
    issue: str = ""
    """Number of the issue, or name of the issue's file; empty if no issue was filed."""
    onset: Onset | None = None
    """First release that shows the bucket; None if it was not bisected."""
    flakes: RepetitionCounts = RepetitionCounts()
    """Counts of repetitions while the bucket was flaky."""

    def __post_init__(self) -> None:
        for name in (self.fingerprint, *self.aliases):
            if not is_fingerprint(name):
                msg = f"{name!r} is not a fingerprint such as v1:0123456789abcdef"
                raise ValueError(msg)

    @property
    def state(self) -> State:
        """State of the bucket by the latest decision."""
        return self.decision.state


def record_of(bucket: Bucket, sighting: Sighting, *, state: State = State.OPEN) -> BaselineRecord:
    """Return the record of a new bucket that a run saw."""
    decision = Decision(changed=sighting.time, state=state)
    return BaselineRecord(
        fingerprint=bucket.fingerprint,
        aliases=tuple(sorted(bucket.aliases)),
        decision=decision,
        history=(decision,),
        native_stack=bucket.native_stack,
        onset=bucket.onset,
        representative=representative_of(bucket),
        targets=tuple(sorted(bucket.finding.targets)),
        first_seen=sighting,
        last_seen=sighting,
        flakes=RepetitionCounts(shown=bucket.shown, tried=bucket.tried),
    )


def representative_of(bucket: Bucket) -> Representative:
    """Return the bucket's finding without outcomes."""
    finding = bucket.finding
    return Representative(
        level=finding.case.level,
        oracle=finding.oracle,
        kind=finding.kind,
        severity=finding.severity,
        library=finding.library,
        api=finding.api,
        pair=finding.pair,
        message=finding.message,
        evidence=finding.evidence,
        case=finding.case,
        grouping=bucket.grouping,
    )


def with_representative(record: BaselineRecord, bucket: Bucket) -> BaselineRecord:
    """Return the record with the better representative: its own, or the bucket's finding."""
    return replace(record, representative=_better(record.representative, representative_of(bucket)))


def _better(representative: Representative, other: Representative) -> Representative:
    """Return the more severe representative; of equal severities, that with the simpler case."""
    # Most representatives are equal, and the sort key is slow to compute.
    if representative == other:
        return representative
    return min(representative, other, key=representative_order)


def bucket_of(record: BaselineRecord, comparison: Comparison) -> Bucket:
    """Return the bucket of a record that this run did not reproduce, without outcomes."""
    representative = record.representative
    is_flaky = record.state is State.FLAKY
    return Bucket(
        fingerprint=record.fingerprint,
        grouping=representative.grouping,
        finding=Finding(
            oracle=representative.oracle,
            kind=representative.kind,
            severity=representative.severity,
            library=representative.library,
            api=representative.api,
            case=representative.case,
            outcomes={},
            targets=record.targets,
            pair=representative.pair,
            message=representative.message,
            evidence=representative.evidence,
        ),
        count=0,
        aliases=record.aliases,
        native_stack=record.native_stack,
        confirmation=Confirmation.FLAKY if is_flaky else Confirmation.CONFIRMED,
        comparison=comparison,
        shown=record.flakes.shown,
        tried=record.flakes.tried,
        issue=record.issue,
        onset=record.onset,
    )


def history_of(record: BaselineRecord) -> BucketHistory:
    """Return the history of a record, for reports."""
    decisions = record.history or (record.decision,)
    return BucketHistory(
        first_seen=record.first_seen.time,
        last_seen=record.last_seen.time,
        states=_states(decisions),
    )


@lru_cache(maxsize=4096)
def _states(decisions: tuple[Decision, ...]) -> tuple[tuple[str, str], ...]:
    """Return one shared object for equal histories, to save memory."""
    return tuple((decision.changed, decision.state.value) for decision in decisions)


def merge_records(record: BaselineRecord, other: BaselineRecord) -> BaselineRecord:
    """Merge two copies of a record; the operation is commutative, associative and idempotent.

    Each field is the minimum, maximum or union of the two copies' fields.

    Raises:
        ValueError: if the records belong to different buckets.
    """
    if record == other:
        return record
    if record.fingerprint != other.fingerprint:
        msg = f"{record.fingerprint} and {other.fingerprint} are different buckets"
        raise ValueError(msg)
    return replace(
        record,
        aliases=_union(record.aliases, other.aliases),
        decision=max(record.decision, other.decision, key=Decision.order),
        history=merge_histories(record.history, other.history),
        native_stack=max(record.native_stack, other.native_stack, key=_stack_order),
        onset=min((onset for onset in (record.onset, other.onset) if onset), default=None),
        representative=_better(record.representative, other.representative),
        targets=_union(record.targets, other.targets),
        first_seen=min(record.first_seen, other.first_seen),
        last_seen=max(record.last_seen, other.last_seen),
        # A sum would count repetitions twice that both copies contain.
        flakes=max(record.flakes, other.flakes, key=RepetitionCounts.order),
        # If two jobs filed issues, the older issue stays, which has the lower number.
        issue=min(filter(None, (record.issue, other.issue)), key=_issue_order, default=""),
    )


def with_decision(record: BaselineRecord, decision: Decision) -> BaselineRecord:
    """Return the record after a decision; the history gets the decision if the state changes.

    The decision's time is changed to be later than the time of the previous decision, if a clock is
    wrong. Otherwise, a merge with an older copy of the record would lose the decision.
    """
    before = record.decision
    if decision == before:
        return record
    decision = replace(decision, changed=_later(decision.changed, before.changed))
    history = record.history
    if (before.state, before.because) != (decision.state, decision.because):
        history = merge_histories(history, (before, replace(decision, clean_runs=0)))
    return replace(record, decision=decision, history=history)


def _later(time: str, before: str) -> str:
    if time > before:
        return time
    return (datetime.fromisoformat(before) + timedelta(seconds=1)).strftime(TIME_FORMAT)


def merge_histories(
    history: tuple[Decision, ...], other: tuple[Decision, ...]
) -> tuple[Decision, ...]:
    """Return the decisions of two histories, sorted by time."""
    decisions = {replace(decision, clean_runs=0) for decision in (*history, *other)}
    return tuple(sorted(decisions, key=Decision.order))[-MAX_DECISIONS:]


def with_fingerprint(record: BaselineRecord, fingerprint: str) -> BaselineRecord:
    """Return a record under another fingerprint, with its old fingerprint as an alias."""
    if record.fingerprint == fingerprint:
        return record
    aliases = {*record.aliases, record.fingerprint} - {fingerprint}
    return replace(record, fingerprint=fingerprint, aliases=tuple(sorted(aliases)))


def _stack_order(stack: tuple[Frame, ...]) -> tuple[int, list[tuple[str, str]]]:
    return len(stack), [(frame.file, frame.function) for frame in stack]


def representative_order(representative: Representative) -> tuple[int, Simplicity, str]:
    """Return the sort key of representatives, which is less for a better representative."""
    text = json.dumps([representative_to_json(representative), case_to_json(representative.case)])
    return -representative.severity, simplicity(representative.case), text


def representative_to_json(representative: Representative) -> dict[str, Json]:
    """Return the JSON form of a representative without its case."""
    return {
        "level": representative.level,
        "oracle": representative.oracle,
        "kind": representative.kind,
        "severity": representative.severity.label,
        "library": representative.library,
        "api": representative.api,
        "pair": representative.pair.value,
        "message": representative.message,
        "evidence": evidence_to_json(representative.evidence),
        "grouping": [list(pair) for pair in representative.grouping],
    }


def _issue_order(issue: str) -> tuple[int, str]:
    return len(issue), issue


def _union(names: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*names, *other}))
