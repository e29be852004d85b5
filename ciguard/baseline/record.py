"""One known bucket, and how two copies of it become one."""

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
"""Of `Sighting.time`, which is UTC: as text it sorts as time does."""
_TIME = re.compile(r"2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


MAX_DECISIONS = 50
"""Of one record's history; the oldest go."""


class State(StrEnum):
    """What is decided about a known bucket."""

    OPEN = "open"
    FIXED = "fixed"
    """Not met in several runs that exercised it."""
    ACCEPTED = "accepted"
    """A person said why it may stay."""
    FLAKY = "flaky"
    """Never reproduced every time."""


_RANKS = {state: rank for rank, state in enumerate(reversed(State))}
"""Which of two decisions of one moment holds: the one that hides least."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Sighting:
    """When and where a bucket was met. The order is that of time."""

    time: str
    """UTC, `2026-01-31T23:59:00Z`."""
    commit: str = ""
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
class Exhibit:
    """What stands for the bucket: one finding without its outcomes."""

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
    """What is decided about the bucket; the later one of two holds."""

    changed: str
    """When it was decided, as `Sighting.time`."""
    state: State = State.OPEN
    because: str = ""
    """Why it is accepted."""
    clean_runs: int = 0
    """Runs in a row that exercised it and did not meet it."""
    clean_on: tuple[Sighting, ...] = ()
    """These runs, the latest last, each with the versions of the targets where it used to be."""

    def order(self) -> tuple[str, int, str, int, tuple[Sighting, ...]]:
        """Return the key by which decisions are compared; total."""
        return self.changed, _RANKS[self.state], self.because, -self.clean_runs, self.clean_on


@dataclass(frozen=True, slots=True, kw_only=True)
class Flakes:
    """How often a flaky bucket showed itself when it was repeated."""

    shown: int = 0
    tried: int = 0
    """Repetitions, of confirmations and replays."""

    def __post_init__(self) -> None:
        if not 0 <= self.shown <= self.tried:
            msg = f"shown {self.shown} times of {self.tried}"
            raise ValueError(msg)

    def plus(self, *, shown: int, tried: int) -> Flakes:
        """Return the counts with more repetitions."""
        return Flakes(shown=self.shown + shown, tried=self.tried + tried)

    def order(self) -> tuple[int, int]:
        """Return the key by which the copy that knows more is the greater."""
        return self.tried, self.shown


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRecord:
    """One known bucket."""

    fingerprint: str
    aliases: tuple[str, ...] = ()
    """Its fingerprints by older recipes, sorted."""
    decision: Decision
    exhibit: Exhibit
    targets: tuple[str, ...]
    """Where it was met, sorted; for a differential bucket both sides."""
    first_seen: Sighting
    last_seen: Sighting
    history: tuple[Decision, ...] = ()
    """Every decision that changed its state, the last one included, the oldest first."""
    native_stack: tuple[Frame, ...] = ()
    """Its native frames, where a debugger told them."""
    issue: str = ""
    """Number of its issue, or path of its file; empty while none was filed."""
    onset: Onset | None = None
    """Since which release it shows; None where nobody has bisected it."""
    flakes: Flakes = Flakes()
    """Measured while it was flaky; nothing is counted for what shows every time."""

    def __post_init__(self) -> None:
        for name in (self.fingerprint, *self.aliases):
            if not is_fingerprint(name):
                msg = f"{name!r} is not a fingerprint such as v1:0123456789abcdef"
                raise ValueError(msg)

    @property
    def state(self) -> State:
        """True if it is open, fixed, accepted or flaky."""
        return self.decision.state


def record_of(bucket: Bucket, sighting: Sighting, *, state: State = State.OPEN) -> BaselineRecord:
    """Return the record of a bucket that is met for the first time."""
    decision = Decision(changed=sighting.time, state=state)
    return BaselineRecord(
        fingerprint=bucket.fingerprint,
        aliases=tuple(sorted(bucket.aliases)),
        decision=decision,
        history=(decision,),
        native_stack=bucket.native_stack,
        onset=bucket.onset,
        exhibit=exhibit_of(bucket),
        targets=tuple(sorted(bucket.finding.targets)),
        first_seen=sighting,
        last_seen=sighting,
        flakes=Flakes(shown=bucket.shown, tried=bucket.tried),
    )


def exhibit_of(bucket: Bucket) -> Exhibit:
    """Return what a record keeps of a bucket's representative."""
    finding = bucket.finding
    return Exhibit(
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


def with_exhibit(record: BaselineRecord, bucket: Bucket) -> BaselineRecord:
    """Return the record shown by the better of its own case and the bucket's."""
    return replace(record, exhibit=_better(record.exhibit, exhibit_of(bucket)))


def _better(one: Exhibit, other: Exhibit) -> Exhibit:
    # Mostly they are equal, and the order is dear.
    return one if one == other else min(one, other, key=exhibit_order)


def bucket_of(record: BaselineRecord, comparison: Comparison) -> Bucket:
    """Return a bucket for a record that this run did not meet. It has no outcomes."""
    shown = record.exhibit
    is_flaky = record.state is State.FLAKY
    return Bucket(
        fingerprint=record.fingerprint,
        grouping=shown.grouping,
        finding=Finding(
            oracle=shown.oracle,
            kind=shown.kind,
            severity=shown.severity,
            library=shown.library,
            api=shown.api,
            case=shown.case,
            outcomes={},
            targets=record.targets,
            pair=shown.pair,
            message=shown.message,
            evidence=shown.evidence,
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
    """Return what those who report on a run may know of a record."""
    decisions = record.history or (record.decision,)
    return BucketHistory(
        first_seen=record.first_seen.time,
        last_seen=record.last_seen.time,
        states=_states(decisions),
    )


@lru_cache(maxsize=4096)
def _states(decisions: tuple[Decision, ...]) -> tuple[tuple[str, str], ...]:
    """Return one object for equal histories, which most records of a large baseline share."""
    return tuple((decision.changed, decision.state.value) for decision in decisions)


def merge_records(one: BaselineRecord, other: BaselineRecord) -> BaselineRecord:
    """Return what both copies of a record know. Commutative, associative, idempotent.

    Every part is a least or a greatest of the two, so the order of merging cannot matter.

    Raises:
        ValueError: if they are records of different buckets.
    """
    if one == other:
        return one
    if one.fingerprint != other.fingerprint:
        msg = f"{one.fingerprint} and {other.fingerprint} are different buckets"
        raise ValueError(msg)
    return replace(
        one,
        aliases=_union(one.aliases, other.aliases),
        decision=max(one.decision, other.decision, key=Decision.order),
        history=united_history(one.history, other.history),
        native_stack=max(one.native_stack, other.native_stack, key=_stack_order),
        onset=min((o for o in (one.onset, other.onset) if o), default=None),
        exhibit=_better(one.exhibit, other.exhibit),
        targets=_union(one.targets, other.targets),
        first_seen=min(one.first_seen, other.first_seen),
        last_seen=max(one.last_seen, other.last_seen),
        # Sums would count twice what both copies know; the longer count is the better measured one.
        flakes=max(one.flakes, other.flakes, key=Flakes.order),
        # When two jobs filed at once, the older issue stays: numbers grow.
        issue=min((i for i in (one.issue, other.issue) if i), key=_issue_order, default=""),
    )


def decided(record: BaselineRecord, decision: Decision) -> BaselineRecord:
    """Return the record after a decision, which its history keeps if the state changed by it.

    A decision is later than the one that it changes, whatever the clocks say, else it would be
    lost where two copies become one.
    """
    before = record.decision
    if decision == before:
        return record
    decision = replace(decision, changed=_later(decision.changed, before.changed))
    history = record.history
    if (before.state, before.because) != (decision.state, decision.because):
        history = united_history(history, (before, replace(decision, clean_runs=0)))
    return replace(record, decision=decision, history=history)


def _later(time: str, before: str) -> str:
    if time > before:
        return time
    return (datetime.fromisoformat(before) + timedelta(seconds=1)).strftime(TIME_FORMAT)


def united_history(one: tuple[Decision, ...], other: tuple[Decision, ...]) -> tuple[Decision, ...]:
    """Return both histories in one, by time."""
    every = {replace(decision, clean_runs=0) for decision in (*one, *other)}
    return tuple(sorted(every, key=Decision.order))[-MAX_DECISIONS:]


def renamed(record: BaselineRecord, fingerprint: str) -> BaselineRecord:
    """Return a record under its name by a newer recipe; the name that it had is an alias."""
    if record.fingerprint == fingerprint:
        return record
    aliases = {*record.aliases, record.fingerprint} - {fingerprint}
    return replace(record, fingerprint=fingerprint, aliases=tuple(sorted(aliases)))


def _stack_order(stack: tuple[Frame, ...]) -> tuple[int, list[tuple[str, str]]]:
    return len(stack), [(frame.file, frame.function) for frame in stack]


def exhibit_order(exhibit: Exhibit) -> tuple[int, Simplicity, str]:
    """Return the key by which the better exhibit is the lesser; total."""
    text = json.dumps([exhibit_to_json(exhibit), case_to_json(exhibit.case)])
    return -exhibit.severity, simplicity(exhibit.case), text


def exhibit_to_json(exhibit: Exhibit) -> dict[str, Json]:
    """Return the JSON form of an exhibit without its case."""
    return {
        "level": exhibit.level,
        "oracle": exhibit.oracle,
        "kind": exhibit.kind,
        "severity": exhibit.severity.label,
        "library": exhibit.library,
        "api": exhibit.api,
        "pair": exhibit.pair.value,
        "message": exhibit.message,
        "evidence": evidence_to_json(exhibit.evidence),
        "grouping": [list(pair) for pair in exhibit.grouping],
    }


def _issue_order(issue: str) -> tuple[int, str]:
    return len(issue), issue


def _union(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*one, *other}))
