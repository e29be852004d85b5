"""How reports name things: outcomes, counts, buckets. The same words in every report."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ciguard.domain.findings import (
    Bucket,
    Comparison,
    Confirmation,
    Evidence,
    Finding,
    Severity,
    TargetSummary,
    cause_name,
)
from ciguard.domain.outcomes import (
    Crashed,
    Errored,
    Exhausted,
    Frame,
    Hung,
    Outcome,
    Passed,
    Rejected,
    Stage,
)
from ciguard.domain.plan import PlanMode
from ciguard.domain.text import shortened, visible
from ciguard.triage import realism, without_local_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.domain.events import RunFinished
    from ciguard.domain.plan import Plan

UNCONFIRMED = "unconfirmed"
"""State of a bucket whose confirmation the budget cut short: it may be new, nobody knows."""

STATES = (Comparison.NEW.value, UNCONFIRMED, *(item.value for item in list(Comparison)[1:]))
"""What people see of a bucket's comparison, in the order they want to see it."""

_GITHUB = re.compile(
    r"github:(?:https://(?P<host>[A-Za-z0-9.-]{1,100})/)?(?P<name>[\w-][\w.-]{0,99}/[\w.-]{1,100})",
    re.ASCII,
)
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")

_STAGES = {
    Stage.BUILD: " (while building what it is given)",
    Stage.CALL: "",
    Stage.MODE: " (its mode cannot express it)",
}

MET = frozenset({Comparison.NEW, Comparison.KNOWN, Comparison.ACCEPTED})
"""Comparisons of buckets that this run met and reproduced."""


@dataclass(frozen=True, slots=True)
class LibrarySection:
    """The buckets that a run met in one library, of one severity."""

    library: str
    severity: Severity
    buckets: tuple[Bucket, ...]


def publishable(text: str, *, limit: int = 1_000) -> str:
    """Return fuzzed text on one line: bounded, printable, without what only this machine knows.

    It is no markup yet: who puts it into a page, a file or a command escapes it there.
    """
    cut = shortened(text, 4 * limit)
    return visible(without_local_paths(cut) if "/" in cut else cut, limit=limit)


def outcome_text(outcome: Outcome) -> str:
    """Return what happened as one phrase. May hold fuzzed text."""
    match outcome:
        case Passed():
            return "passed"
        case Rejected(exception, message, stage):
            where = _STAGES[stage]
            return f"rejected{where}: {exception}: {message}"
        case Errored(exception, message):
            return f"errored: {exception}: {message}"
        case Crashed(cause):
            return f"crashed: {cause}"
        case Hung(limit_s):
            return f"hung: no return within {limit_s:g} s"
        case Exhausted(resource, message):
            return f"exhausted: {resource.value}" + (f": {message}" if message else "")
        case _:
            assert_never(outcome)


def stack_of(outcome: Outcome) -> tuple[Frame, ...]:
    """Return the frames that an outcome came with, innermost first."""
    return outcome.stack if isinstance(outcome, Errored | Crashed | Hung) else ()


def evidence_rows(evidence: Evidence) -> list[tuple[str, str]]:
    """Return what is known of a finding beside its message. May hold fuzzed text."""
    source = f" ({evidence.source})" if evidence.source else ""
    rows = (
        ("Expected", evidence.expected),
        ("Observed", evidence.observed),
        ("Law", f"{evidence.law}{source}" if evidence.law else ""),
        ("Reach", evidence.unreachable),
        ("Call", f"not as documented: {evidence.breach}" if evidence.breach else ""),
    )
    return [(name, text) for name, text in rows if text]


def claim(finding: Finding) -> str:
    """Return the finding's message without the API that it begins with. May hold fuzzed text."""
    return finding.message.removeprefix(finding.api).lstrip(": ") or finding.message


def short(fingerprint: str) -> str:
    """Return the part of a fingerprint that people type: enough for `ciguard show`."""
    return fingerprint.rpartition(":")[2][:8]


def ordered(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Return buckets as people want to read them: new before known, worse before better.

    Of one severity, those come first that a plain program meets.
    """
    return sorted(
        buckets,
        key=lambda bucket: (
            STATES.index(state(bucket)),
            -bucket.finding.severity,
            -_points(bucket),
            bucket.finding.library,
            bucket.finding.api,
            bucket.fingerprint,
        ),
    )


def _points(bucket: Bucket) -> int:
    """Return how realistic a bucket is that this run met; a large baseline has many others."""
    return realism(bucket.finding).points if bucket.comparison in MET else 0


def grouped(buckets: Iterable[Bucket]) -> list[LibrarySection]:
    """Return the buckets that this run met, by severity and library, the worst first."""
    groups: dict[tuple[int, str], list[Bucket]] = {}
    for bucket in ordered(bucket for bucket in buckets if bucket.comparison in MET):
        key = (-bucket.finding.severity, bucket.finding.library)
        groups.setdefault(key, []).append(bucket)
    return [
        LibrarySection(library, Severity(-negative), tuple(members))
        for (negative, library), members in sorted(groups.items())
    ]


def state(bucket: Bucket) -> str:
    """Return the bucket's comparison as people see it."""
    is_pending = bucket.confirmation is Confirmation.PENDING
    if bucket.comparison is Comparison.NEW and is_pending:
        return UNCONFIRMED
    return bucket.comparison.value


def by_cause(buckets: Iterable[Bucket]) -> list[list[Bucket]]:
    """Return the buckets of each cause, each list and the whole in the order of the buckets."""
    causes: dict[str, list[Bucket]] = {}
    for bucket in buckets:
        causes.setdefault(cause_name(bucket), []).append(bucket)
    return list(causes.values())


def cause_text(bucket: Bucket) -> str:
    """Return what a bucket's cause is taken for; empty if it has one of its own."""
    return bucket.cause.words if bucket.cause else ""


def counts_by_state(buckets: Iterable[Bucket]) -> dict[str, int]:
    """Return how many buckets there are of every state, zeros included."""
    counts = Counter(map(state, buckets))
    return {name: counts[name] for name in STATES}


def counts_text(buckets: Iterable[Bucket], *, fixed: str = Comparison.FIXED.value) -> str:
    """Return e.g. `3 new, 12 known, 1 not run`; `new` is always said.

    Args:
        buckets: of one run.
        fixed: what people see of those that are fixed, see `fixed_text`.
    """
    return ", ".join(
        f"{count} {fixed if name == Comparison.FIXED.value else name}"
        for name, count in counts_by_state(buckets).items()
        if count or name == Comparison.NEW.value
    )


def is_pull_request(event: RunFinished, plan: Plan | None) -> bool:
    """Return whether the run judges a pull request: what is fixed is fixed by it."""
    planned = plan is not None and plan.mode is PlanMode.PULL_REQUEST
    return planned or bool(event.parameters.get("base"))


def fixed_text(event: RunFinished, plan: Plan | None) -> str:
    """Return what people see of a bucket that is gone."""
    return "fixed by this pull request" if is_pull_request(event, plan) else Comparison.FIXED.value


def issue_text(issue: str) -> str:
    """Return a bucket's issue as plain text: `#12`, or the path of a file; empty if none."""
    return f"#{issue}" if issue.isdecimal() else issue


def issue_address(issue: str, tracker: object) -> str:
    """Return the address of an issue; empty where it has none.

    Args:
        issue: as the baseline knows it.
        tracker: the setting `issues` of the run, which may be anybody's.
    """
    found = _GITHUB.fullmatch(tracker) if isinstance(tracker, str) else None
    if found is None or not _NUMBER.fullmatch(issue):
        return ""
    return f"https://{found['host'] or 'github.com'}/{found['name']}/issues/{issue}"


def tally_text(counts: Mapping[str, int]) -> str:
    """Return e.g. `1,200 passed, 310 rejected, 2 crashed`, without what did not occur."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "no cases"


def clock_text(seconds: float) -> str:
    """Return a span as `2:05` or `1:02:05`."""
    minutes, second = divmod(max(0, int(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def target_text(target: TargetSummary) -> str:
    """Return what a target is, in one phrase."""
    confined = f", confined by {', '.join(target.confined_by)}" if target.confined_by else ""
    if target.unconfined:
        confined += f", not refused: {', '.join(target.unconfined)}"
    return (
        f"{target.library} {target.version}, Python {target.python}, {target.device}, "
        f"{target.apis:,} APIs{confined}"
    )


NO_APIS = "none"


def apis_text(event: RunFinished, target: TargetSummary) -> str:
    """Return how much of a target's catalogue was called; functions of users are not of it."""
    called = event.apis_exercised.get(target.name, 0)
    return f"{called:,} of {target.apis:,}" if target.apis and called else NO_APIS
