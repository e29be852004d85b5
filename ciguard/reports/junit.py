"""`junit.xml` for test dashboards: one test case per target and per bucket."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from ciguard.domain import (
    Action,
    Bucket,
    Comparison,
    Event,
    RunFinished,
    TargetSummary,
    Verdict,
    class_of,
    visible,
    visible_lines,
)
from ciguard.reports.files import write_atomically
from ciguard.reports.wording import (
    UNCONFIRMED,
    evidence_rows,
    ordered,
    outcome_text,
    short,
    state,
    tally_text,
)

if TYPE_CHECKING:
    from ciguard.domain import Policy
    from ciguard.reports.contract import Destination

_SKIPPED = {
    Comparison.KNOWN: "known: it is in the baseline",
    Comparison.ACCEPTED: "accepted: it is in the baseline and may stay",
    Comparison.FLAKY: "flaky: it did not reproduce every time",
    Comparison.NOT_RUN: "not run: it is in the baseline, and this run did not get to it",
}


class JunitReporter:
    """Writes `junit.xml`. `visible` leaves printable text only, so XML can hold all of it."""

    def __init__(self, destination: Destination) -> None:
        self._path = destination.folder / "junit.xml"
        self._policy = destination.policy

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        if isinstance(event, RunFinished):
            document = _document(event, self._policy)
            write_atomically(self._path, _xml(document))

    def close(self) -> None:
        """See `Reporter`."""


def _xml(document: JUnitXml) -> str:
    written = io.BytesIO()
    document.write(written, pretty=True)
    return written.getvalue().decode("utf-8")


def _document(event: RunFinished, policy: Policy) -> JUnitXml:
    targets = TestSuite("ciguard.targets")
    targets.add_testcases([_target_case(target) for target in event.targets])
    levels = sorted({bucket.finding.case.level for bucket in event.buckets})
    suites = [targets]
    for level in levels:
        suite = TestSuite(f"ciguard.{level}")
        suite.add_testcases(
            [
                _bucket_case(bucket, event.verdict, policy)
                for bucket in ordered(event.buckets)
                if bucket.finding.case.level == level
            ]
        )
        suites.append(suite)
    document = JUnitXml("ciguard")
    for suite in suites:
        document.add_testsuite(suite)
    return document


def _target_case(target: TargetSummary) -> TestCase:
    case = TestCase(visible(target.name), classname="ciguard.targets")
    if target.not_run:
        case.result = [Skipped(f"not run: {visible(target.not_run)}")]
    else:
        case.system_out = f"{target.tally.total} cases: {tally_text(target.tally.as_dict())}"
    return case


def _bucket_case(bucket: Bucket, verdict: Verdict, policy: Policy) -> TestCase:
    finding = bucket.finding
    case = TestCase(
        f"{visible(finding.api)} {finding.kind} [{short(bucket.fingerprint)}]",
        classname=f"ciguard.{finding.case.level}.{finding.oracle}.{visible(finding.library)}",
    )
    if bucket.comparison is Comparison.NEW:
        case.result = [_new(bucket, verdict, policy)]
    elif bucket.comparison in _SKIPPED:
        case.result = [Skipped(_SKIPPED[bucket.comparison])]
    return case


def _new(bucket: Bucket, verdict: Verdict, policy: Policy) -> Failure | Skipped:
    finding = bucket.finding
    if state(bucket) == UNCONFIRMED:
        return Skipped("not confirmed: the budget ended before all repetitions")
    if verdict is Verdict.PART:
        return Skipped("met: this run is a part of a campaign, which `ciguard merge` judges")
    if verdict is Verdict.ESTABLISHED:
        return Skipped("recorded: this run established the baseline")
    if policy.action(finding) is not Action.FAIL:
        kind = f"{finding.severity.label}, {class_of(finding).words}"
        return Skipped(f"new, but not what fails the check: {kind}")
    failure = Failure(visible(finding.message), f"{finding.oracle}.{finding.kind}")
    head = [f"Bucket: {bucket.fingerprint}", f"Class: {class_of(finding).words}"]
    head += [f"{name}: {text}" for name, text in evidence_rows(finding.evidence)]
    outcomes = [f"{name}: {outcome_text(out)}" for name, out in finding.outcomes.items()]
    script = [f"Reproducer: {bucket.reproducer}"] if bucket.reproducer else []
    failure.text = visible_lines("\n".join([*head, *outcomes, *script]))
    return failure
