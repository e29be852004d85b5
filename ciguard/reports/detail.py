"""Buckets as text for a person at a terminal: a table of all, or everything about one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain import (
    Bucket,
    Crashed,
    PairKind,
    Passed,
    class_of,
    visible,
    visible_lines,
)
from ciguard.reports.wording import (
    claim,
    counts_text,
    evidence_rows,
    ordered,
    outcome_text,
    short,
    stack_of,
    state,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain import Outcome

_OUTPUT_LIMIT = 600


def table_lines(buckets: Iterable[Bucket]) -> Iterator[str]:
    """Return one line per bucket under a heading, as people want to read them."""
    rows = [
        (
            short(bucket.fingerprint),
            state(bucket),
            bucket.finding.severity.label,
            f"{bucket.finding.oracle}/{bucket.finding.kind}",
            visible(bucket.finding.api, limit=60),
            visible(claim(bucket.finding), limit=100),
        )
        for bucket in ordered(buckets)
    ]
    heading = ("BUCKET", "STATE", "SEVERITY", "KIND", "API", "MESSAGE")
    widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
    for row in (heading, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()
    yield ""
    yield f"Buckets: {counts_text(buckets)}"


def bucket_lines(bucket: Bucket, script: str) -> Iterator[str]:
    """Return everything about one bucket; `script` is its reproducer, empty if there is none."""
    finding = bucket.finding
    yield f"{bucket.fingerprint}  {visible(finding.api)}"
    yield f"  {visible(finding.message)}"
    yield ""
    evidence = evidence_rows(finding.evidence)
    if evidence:
        yield from (f"{name}:".ljust(11) + visible(text) for name, text in evidence)
        yield ""
    yield f"State:     {state(bucket)}, {bucket.confirmation.value}"
    yield f"Severity:  {finding.severity.label}"
    yield f"Class:     {class_of(finding).words}"
    yield f"Oracle:    {finding.oracle}/{finding.kind}"
    if finding.pair is not PairKind.NONE:
        yield f"Between:   targets that differ in {finding.pair.value}"
    yield f"Level:     {finding.case.level}"
    yield f"Library:   {visible(finding.library)}"
    yield f"Findings:  {bucket.count}"
    yield ""
    yield "Outcomes"
    for name, outcome in finding.outcomes.items():
        mark = "*" if name in finding.targets else " "
        yield f" {mark} {visible(name)}: {visible(outcome_text(outcome))}"
        yield from _evidence(outcome)
    yield ""
    yield "Grouped by"
    yield from (f"   {visible(name)}: {visible(text)}" for name, text in bucket.grouping)
    yield ""
    if script:
        proved = "fails in the same way" if bucket.reproduced else "has not been seen to fail"
        yield f"Reproducer: {visible(bucket.reproducer)} ({proved})"
        yield ""
        yield visible_lines(script, limit=100_000)
    else:
        yield f"No reproducer. Run the case: ciguard reproduce {short(bucket.fingerprint)}"


def _evidence(outcome: Outcome) -> Iterator[str]:
    for frame in stack_of(outcome):
        yield f"     in {visible(frame.function)} ({visible(frame.file)})"
    if isinstance(outcome, Crashed) and outcome.log.strip():
        yield from (f"     | {line}" for line in visible_lines(outcome.log.strip()).split("\n"))
    if isinstance(outcome, Passed):
        yield f"     {visible(outcome.encoded.decode('utf-8', 'replace'), limit=_OUTPUT_LIMIT)}"
