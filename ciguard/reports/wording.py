"""Wording that all reports share for outcomes, counts and buckets."""

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
from ciguard.domain.parts import functions_of
from ciguard.domain.plan import PlanMode
from ciguard.domain.text import shortened, visible
from ciguard.triage import realism, tested_part, without_local_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.domain.events import RunFinished
    from ciguard.domain.plan import Plan

UNCONFIRMED = "unconfirmed"
"""State of a bucket that may be new: the budget ended before it was confirmed."""

STATES = (Comparison.NEW.value, UNCONFIRMED, *(item.value for item in list(Comparison)[1:]))
"""Displayed states of buckets, in display order."""

_GITHUB = re.compile(
    r"github:(?:https://(?P<host>[A-Za-z0-9.-]{1,100})/)?(?P<name>[\w-][\w.-]{0,99}/[\w.-]{1,100})",
    re.ASCII,
)
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")

_STAGES = {
    Stage.BUILD: " (while building its arguments)",
    Stage.CALL: "",
    Stage.MODE: " (not supported by its mode)",
}

REPRODUCED = frozenset({Comparison.NEW, Comparison.KNOWN, Comparison.ACCEPTED})
"""Comparisons of buckets that this run reproduced."""


@dataclass(frozen=True, slots=True)
class Section:
    """The reproduced buckets of one tested part and one severity."""

    part: str
    """The library, or a part of the user's project; see `tested_part`."""
    severity: Severity
    buckets: tuple[Bucket, ...]


def publishable(text: str, *, limit: int = 1_000) -> str:
    """Return fuzzed text on one printable line, shortened, without paths of this machine.

    It is not escaped: the caller has to escape it for its page, file or command.
    """
    start = shortened(text, 4 * limit)
    return visible(without_local_paths(start) if "/" in start else start, limit=limit)


def outcome_text(outcome: Outcome) -> str:
    """Return a phrase that describes an outcome. It may hold fuzzed text."""
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
    """Return the Python frames of an outcome, innermost first; empty if it has none."""
    return outcome.stack if isinstance(outcome, Errored | Crashed | Hung) else ()


def evidence_rows(evidence: Evidence) -> list[tuple[str, str]]:
    """Return label and text of each part of a finding's evidence. They may hold fuzzed text."""
    source = f" ({evidence.source})" if evidence.source else ""
    rows = (
        ("Announced", evidence.announced),
        ("Expected", evidence.expected),
        ("Observed", evidence.observed),
        ("Invariant", f"{evidence.law}{source}" if evidence.law else ""),
        ("Caveat", evidence.unreachable),
        ("Call", f"not as documented: {evidence.breach}" if evidence.breach else ""),
    )
    return [(name, text) for name, text in rows if text]


def message_without_api(finding: Finding) -> str:
    """Return a finding's message without the leading API name. It may hold fuzzed text."""
    return finding.message.removeprefix(finding.api).lstrip(": ") or finding.message


def short_fingerprint(fingerprint: str) -> str:
    """Return the first 8 digits of a fingerprint, which `ciguard show` accepts."""
    return fingerprint.rpartition(":")[2][:8]


def in_display_order(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Return buckets in display order: by state, new ones first, then by severity.

    Within one severity, the most realistic buckets come first.
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
    """Return the realism of a reproduced bucket; 0 for other buckets, as a baseline has many."""
    return realism(bucket.finding).points if bucket.comparison in REPRODUCED else 0


def by_severity_and_part(buckets: Iterable[Bucket]) -> list[Section]:
    """Return the buckets that this run reproduced by severity, the highest first, and part."""
    groups: dict[tuple[int, str], list[Bucket]] = {}
    for bucket in in_display_order(bucket for bucket in buckets if bucket.comparison in REPRODUCED):
        key = (-bucket.finding.severity, tested_part(bucket.finding))
        groups.setdefault(key, []).append(bucket)
    return [
        Section(part, Severity(-negative), tuple(group))
        for (negative, part), group in sorted(groups.items())
    ]


def state(bucket: Bucket) -> str:
    """Return a bucket's displayed state, one of `STATES`."""
    is_pending = bucket.confirmation is Confirmation.PENDING
    if bucket.comparison is Comparison.NEW and is_pending:
        return UNCONFIRMED
    return bucket.comparison.value


def by_cause(buckets: Iterable[Bucket]) -> list[list[Bucket]]:
    """Return the buckets grouped by cause; groups and their buckets are in the given order."""
    causes: dict[str, list[Bucket]] = {}
    for bucket in buckets:
        causes.setdefault(cause_name(bucket), []).append(bucket)
    return list(causes.values())


def cause_text(bucket: Bucket) -> str:
    """Return the description of a bucket's cause; empty if no other bucket has the same cause."""
    return bucket.cause.words if bucket.cause else ""


def counts_by_state(buckets: Iterable[Bucket]) -> dict[str, int]:
    """Return the number of buckets in each state, including zeros."""
    counts = Counter(map(state, buckets))
    return {name: counts[name] for name in STATES}


def counts_text(buckets: Iterable[Bucket], *, fixed: str = Comparison.FIXED.value) -> str:
    """Return the number of buckets in each state, e.g. `3 new, 12 known, 1 not run`.

    States without a bucket are omitted, except `new`.

    Args:
        buckets: the buckets of one run.
        fixed: the displayed state of fixed buckets; see `fixed_text`.
    """
    return ", ".join(
        f"{count} {fixed if name == Comparison.FIXED.value else name}"
        for name, count in counts_by_state(buckets).items()
        if count or name == Comparison.NEW.value
    )


def is_pull_request(event: RunFinished, plan: Plan | None) -> bool:
    """Return whether the run tests a pull request: then this has fixed the fixed buckets."""
    is_planned = plan is not None and plan.mode is PlanMode.PULL_REQUEST
    return is_planned or bool(event.parameters.get("base"))


def fixed_text(event: RunFinished, plan: Plan | None) -> str:
    """Return the displayed state of a fixed bucket."""
    return "fixed by this pull request" if is_pull_request(event, plan) else Comparison.FIXED.value


def issue_text(issue: str) -> str:
    """Return a bucket's issue as plain text: `#12`, or the path of a file; empty without one."""
    return f"#{issue}" if issue.isdecimal() else issue


def issue_address(issue: str, tracker: object) -> str:
    """Return the URL of an issue on GitHub; empty for other issues.

    Args:
        issue: the issue that the baseline records.
        tracker: the setting `issues` of the run, which is not trusted.
    """
    match = _GITHUB.fullmatch(tracker) if isinstance(tracker, str) else None
    if match is None or not _NUMBER.fullmatch(issue):
        return ""
    return f"https://{match['host'] or 'github.com'}/{match['name']}/issues/{issue}"


def tally_text(counts: Mapping[str, int]) -> str:
    """Return the number of outcomes by status, e.g. `1,200 passed, 2 crashed`, without zeros."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "no cases"


def plural(count: int, noun: str) -> str:
    """Return a count and a regular noun, e.g. `1 bucket`, `1,200 buckets`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def clock_text(seconds: float) -> str:
    """Return a duration as `2:05` or `1:02:05`."""
    minutes, second = divmod(max(0, int(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def target_text(target: TargetSummary) -> str:
    """Return the description of a target as one phrase."""
    confined = f", confined by {', '.join(target.confined_by)}" if target.confined_by else ""
    if target.unconfined:
        confined += f", not blocked: {', '.join(target.unconfined)}"
    apis = f", {plural(target.apis, 'API')}" if target.apis else ""
    return (
        f"{target.library} {target.version}, Python {target.python}, {target.device}{apis}"
        f"{confined}"
    )


def apis_text(event: RunFinished, target: TargetSummary) -> str:
    """Return how many of a target's APIs were called, e.g. `208 of 1,915`.

    The result is empty if none was called, as in a run that tests only functions of the user.
    """
    called = event.apis_exercised.get(target.name, 0)
    return f"{called:,} of {target.apis:,}" if target.apis and called else ""


def functions_text(event: RunFinished) -> str:
    """Return how many of the user's annotated functions were tested, e.g. `4 of 5`; else empty."""
    reasons = functions_of(part.functions for part in event.parts)
    return f"{list(reasons.values()).count('')} of {len(reasons):,}" if reasons else ""
