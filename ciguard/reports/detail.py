"""Buckets as text for a terminal: a table of several buckets, or all details of one bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.findings import Bucket, PairKind, cause_name
from ciguard.domain.outcomes import Crashed, Passed
from ciguard.domain.policy import class_of
from ciguard.domain.text import visible, visible_lines
from ciguard.reports.wording import (
    cause_text,
    counts_text,
    evidence_rows,
    in_display_order,
    issue_text,
    message_without_api,
    outcome_text,
    short_fingerprint,
    stack_of,
    state,
)
from ciguard.triage import derivation_diff, origin_rows, realism, tested_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.baseline import BaselineRecord, Decision, Sighting
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome

_OUTPUT_LIMIT = 600
_CAUSE_LIMIT = 400
_MAX_DIFF_LINES = 40
_ORIGIN_LIMIT = 800
"""Maximum length of the text about a case's origin; ciguard itself writes shorter texts."""


def table_lines(buckets: Iterable[Bucket]) -> Iterator[str]:
    """Yield a heading, one line per bucket in display order, and the number of buckets by state."""
    rows = [
        (
            short_fingerprint(bucket.fingerprint),
            state(bucket),
            bucket.finding.severity.label,
            f"{bucket.finding.oracle}/{bucket.finding.kind}",
            visible(bucket.finding.api, limit=60),
            visible(message_without_api(bucket.finding), limit=100),
        )
        for bucket in in_display_order(buckets)
    ]
    heading = ("BUCKET", "STATE", "SEVERITY", "KIND", "API", "MESSAGE")
    widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
    for row in (heading, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()
    yield ""
    yield f"Buckets: {counts_text(buckets)}"


def bucket_lines(
    bucket: Bucket, script: str, record: BaselineRecord | None = None
) -> Iterator[str]:
    """Yield all details of one bucket.

    Args:
        bucket: the bucket, from a run or from the baseline.
        script: the text of its reproducer; empty if there is none.
        record: the baseline's record of the bucket; None if it has none.
    """
    finding = bucket.finding
    yield f"{bucket.fingerprint}  {visible(finding.api)}"
    yield f"  {visible(finding.message)}"
    yield ""
    evidence = evidence_rows(finding.evidence)
    if evidence:
        yield from (f"{name}:".ljust(11) + visible(text) for name, text in evidence)
        yield ""
    yield from _fact_lines(bucket)
    yield from _difference_lines(finding)
    yield ""
    yield "Outcomes"
    for name, outcome in finding.outcomes.items():
        mark = "*" if name in finding.targets else " "
        yield f" {mark} {visible(name)}: {visible(outcome_text(outcome))}"
        yield from _outcome_details(outcome)
    yield from _native_lines(bucket)
    yield ""
    yield from grouping_lines(bucket)
    yield from _timeline_lines(record)
    yield ""
    if script:
        status = "verified: fails in the same way" if bucket.reproduced else "not verified"
        yield f"Reproducer: {visible(bucket.reproducer)} ({status})"
        yield ""
        yield visible_lines(script, limit=100_000)
    else:
        yield (
            "No reproducer. To run the case: ciguard reproduce "
            f"{short_fingerprint(bucket.fingerprint)}"
        )


def _fact_lines(bucket: Bucket) -> Iterator[str]:
    """Yield a line for each property of a bucket, such as its state and severity."""
    finding = bucket.finding
    yield f"State:     {state(bucket)}, {bucket.confirmation.value}"
    yield f"Severity:  {finding.severity.label}"
    yield f"Class:     {class_of(finding).words}"
    yield f"Realism:   {visible(realism(finding).words)}"
    yield f"Oracle:    {finding.oracle}/{finding.kind}"
    if finding.pair is not PairKind.NONE:
        yield f"Between:   targets that differ in {finding.pair.value}"
    yield f"Level:     {finding.case.level}"
    yield f"Tested:    {visible(tested_part(finding))}"
    for name, text in origin_rows(finding.case):
        yield f"{name}:".ljust(11) + visible(text, limit=_ORIGIN_LIMIT)
    yield f"Findings:  {bucket.count}"
    if bucket.attribution:
        yield f"Seen:      {bucket.attribution.words}"
    if bucket.issue:
        yield f"Issue:     {visible(issue_text(bucket.issue))}"


def _difference_lines(finding: Finding) -> Iterator[str]:
    """Yield the difference of a derived program from its parent program."""
    lines = derivation_diff(finding.case, most=_MAX_DIFF_LINES)
    if lines:
        yield ""
        yield "Difference from the parent program"
    for line in lines:
        mark = ">" if line.is_changed_call else " "
        yield f" {mark} {visible(str(line))}"


def grouping_lines(bucket: Bucket) -> Iterator[str]:
    """Yield the values that a bucket's fingerprint is made from, its aliases, and its cause."""
    yield "Fingerprint made from"
    yield from (f"   {visible(name)}: {visible(text)}" for name, text in bucket.grouping)
    if bucket.aliases:
        yield f"Older fingerprints: {', '.join(bucket.aliases)}"
    if cause := cause_text(bucket):
        yield f"Cause: {visible(cause, limit=_CAUSE_LIMIT)} ({cause_name(bucket)})"


def _native_lines(bucket: Bucket) -> Iterator[str]:
    """Yield the first affected release and the native stack, if they are known."""
    if bucket.onset:
        yield ""
        yield f"Seen {bucket.onset.words}"
    if bucket.native_stack:
        yield ""
        yield "Native stack, innermost first"
        yield from (f"   {visible(f.function)} ({visible(f.file)})" for f in bucket.native_stack)


def _timeline_lines(record: BaselineRecord | None) -> Iterator[str]:
    """Yield the history of a bucket in the baseline."""
    if record is not None:
        yield ""
        yield "Timeline"
        yield from (f"   {time}  {visible(text)}" for time, text in _timeline(record))


def _timeline(record: BaselineRecord) -> Iterator[tuple[str, str]]:
    """Yield time and text of each event in a bucket's history, the oldest first."""
    entries = [
        (record.first_seen.time, f"first seen{_sighting_text(record.first_seen)}"),
        *((decision.changed, _decision_text(decision)) for decision in record.history[1:]),
        (record.last_seen.time, f"last seen{_sighting_text(record.last_seen)}"),
    ]
    yield from sorted(entries, key=lambda entry: entry[0])


def _sighting_text(sighting: Sighting) -> str:
    """Return commit and versions of a run in which a bucket was seen."""
    versions = ", ".join(f"{target} ({version})" for target, version in sighting.versions)
    commit = f", commit {sighting.commit}" if sighting.commit else ""
    return f"{commit}{': ' if versions else ''}{versions}"


def _decision_text(decision: Decision) -> str:
    """Return the state that a decision gave a bucket, and its reason."""
    return f"{decision.state.value}: {decision.because}" if decision.because else decision.state


def _outcome_details(outcome: Outcome) -> Iterator[str]:
    """Yield stack, log or output of an outcome."""
    for frame in stack_of(outcome):
        yield f"     in {visible(frame.function)} ({visible(frame.file)})"
    if isinstance(outcome, Crashed) and outcome.log.strip():
        yield from (f"     | {line}" for line in visible_lines(outcome.log.strip()).split("\n"))
    if isinstance(outcome, Passed):
        yield f"     {visible(outcome.encoded.decode('utf-8', 'replace'), limit=_OUTPUT_LIMIT)}"
