"""`junit.xml` for test dashboards: one test case per target and per cause."""

from __future__ import annotations

import io
from collections import Counter
from typing import TYPE_CHECKING
from xml.dom.minidom import parseString
from xml.etree.ElementTree import tostring

from junitparser import Failure, Skipped, TestCase, TestSuite

from ciguard.domain.baseline_status import BaselineState
from ciguard.domain.events import Event, RunFinished, RunStarted
from ciguard.domain.findings import Bucket, Comparison, TargetSummary, Verdict, cause_name
from ciguard.domain.policy import Action, class_of
from ciguard.domain.text import shortened, visible, visible_lines
from ciguard.reports.caveats import caveats, no_results_reason
from ciguard.reports.entries import Entry
from ciguard.reports.files import write_atomically
from ciguard.reports.wording import (
    UNCONFIRMED,
    by_cause,
    cause_text,
    evidence_rows,
    fixed_text,
    in_display_order,
    issue_text,
    outcome_text,
    publishable,
    short_fingerprint,
    state,
    tally_text,
)
from ciguard.triage import without_local_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.domain.plan import Plan, SkippedJob
    from ciguard.domain.policy import Policy
    from ciguard.reports.contract import Destination

_MAX_MESSAGE = 300
_MAX_TEXT = 32_000
_MAX_NAME = 200
_SKIPPED = {
    Comparison.KNOWN: "KNOWN: it is in the baseline, or the base shows it too",
    Comparison.ACCEPTED: "ACCEPTED: it is in the baseline and was accepted with a reason",
    Comparison.FLAKY: "FLAKY: it did not reproduce every time",
    Comparison.NOT_RUN: "NOT RUN: it is in the baseline, and this run did not exercise it",
}
_UNJUDGED = {
    Verdict.ESTABLISHED: "recorded: this run established the baseline",
    Verdict.PART: "found: this run is one part of a campaign, which `ciguard merge` judges",
}
"""Verdict of a run that compares nothing → message of its new buckets."""


class JunitReporter:
    """Writes `junit.xml`. All texts pass `visible`, since XML cannot represent some characters."""

    def __init__(self, destination: Destination) -> None:
        self._path = destination.folder / "junit.xml"
        self._policy = destination.policy
        self._plan: Plan | None = None

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        if isinstance(event, RunStarted):
            self._plan = event.plan
        if isinstance(event, RunFinished):
            write_atomically(self._path, _pieces(event, self._policy, self._plan))

    def close(self) -> None:
        """See `Reporter`."""


def _pieces(event: RunFinished, policy: Policy, plan: Plan | None) -> Iterator[str]:
    """Yield the file's text in pieces, since a large baseline has many test cases."""
    fixed = fixed_text(event, plan).upper()
    buckets = in_display_order(event.buckets)
    yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="ciguard">\n'
    target_cases = [
        *map(_target_case, event.targets),
        *map(_skipped_case, plan.skipped if plan else ()),
        *_baseline_cases(event),
    ]
    results: Counter[type] = Counter(type(case.result[0]) for case in target_cases if case.result)
    yield from _suite("ciguard.targets", len(target_cases), results, target_cases)
    for level in sorted({bucket.finding.case.level for bucket in buckets}):
        causes = by_cause(bucket for bucket in buckets if bucket.finding.case.level == level)
        results = Counter(type(_cause_result(group, event.verdict, policy)) for group in causes)
        cases = (
            _cause_case(group, _cause_result(group, event.verdict, policy), fixed)
            for group in causes
        )
        yield from _suite(f"ciguard.{level}", len(causes), results, cases)
    yield "</testsuites>\n"


def _suite(
    name: str, count: int, results: Mapping[type, int], cases: Iterable[TestCase]
) -> Iterator[str]:
    """Yield the XML of a suite in pieces.

    Args:
        name: name of the suite.
        count: number of its cases.
        results: number of failures and of skipped cases, by their class in `junitparser`.
        cases: the cases.
    """
    suite = TestSuite(name)
    suite.tests, suite.errors = count, 0
    suite.failures, suite.skipped = results[Failure], results[Skipped]
    suite.time = 0
    head = _xml(suite, depth=1)
    if not count:
        yield head
        return
    yield head.replace("/>", ">")
    yield from (_xml(case, depth=2) for case in cases)
    yield "\t</testsuite>\n"


def _xml(element: TestSuite | TestCase, *, depth: int) -> str:
    """Return an element as XML lines, indented by its depth in the file."""
    written = io.StringIO()
    document = parseString(tostring(element._elem))  # noqa: S318, SLF001 - it parses ciguard's own XML
    for node in document.childNodes:
        node.writexml(written, indent="\t" * depth, addindent="\t", newl="\n")
    return written.getvalue()


def _target_case(target: TargetSummary) -> TestCase:
    """Return the test case of a target: passed, or skipped if it has no results."""
    case = TestCase(visible(target.name), classname="ciguard.targets")
    if target.not_run:
        case.result = [Skipped(f"NOT RUN: {visible(target.not_run)}")]
    elif reason := no_results_reason(target):
        case.result = [Skipped(visible(reason))]
    else:
        case.system_out = f"{target.tally.total} cases: {tally_text(target.tally.as_dict())}"
    return case


def _skipped_case(row: SkippedJob) -> TestCase:
    case = TestCase(visible(row.name), classname="ciguard.plan")
    where = f"{', '.join(row.targets)} on {row.device}"
    case.result = [Skipped(visible(f"NOT RUN: {where}: {row.reason}"))]
    return case


def _baseline_cases(event: RunFinished) -> list[TestCase]:
    """Return a test case for the baseline, skipped if it is stale or missing; none without one."""
    if event.baseline is None:
        return []
    case = TestCase("baseline", classname="ciguard.baseline")
    if event.baseline.state is not BaselineState.FRESH:
        case.result = [Skipped(visible(caveats(event, None)[0].text))]
    return [case]


def _cause_case(buckets: list[Bucket], result: Failure | Skipped | None, fixed: str) -> TestCase:
    """Return the test case of a cause with its result; fixed causes have none."""
    bucket = buckets[0]
    finding = bucket.finding
    if len(buckets) == 1:
        name = f"{finding.api} {finding.kind} [{short_fingerprint(bucket.fingerprint)}]"
        kind = finding.oracle
    else:
        name = (
            f"{publishable(cause_text(bucket), limit=_MAX_NAME)} "
            f"[{short_fingerprint(cause_name(bucket))}]"
        )
        kind = "cause"
    place = f"ciguard.{finding.case.level}.{kind}.{finding.library}"
    case = TestCase(visible(name), classname=visible(place))
    if result is not None:
        case.result = [result]
    else:
        case.system_out = fixed
    return case


def _cause_result(
    buckets: list[Bucket], verdict: Verdict, policy: Policy
) -> Failure | Skipped | None:
    """Return the JUnit result of a cause: a failure if any of its buckets fails; None if fixed."""
    if len(buckets) == 1:
        return _result(buckets[0], verdict, policy)
    results = [_result(bucket, verdict, policy) for bucket in buckets]
    failures = [result for result in results if isinstance(result, Failure)]
    if failures:
        first = failures[0]
        text = "\n\n".join(failure.text or "" for failure in failures)
        first.text = visible_lines(shortened(text, _MAX_TEXT))
        return first
    skips = (result for result in results if isinstance(result, Skipped))
    first_skip = next(skips, None)
    others = Entry(tuple(buckets), cause_name(buckets[0])).others_text
    return first_skip and Skipped(f"{first_skip.message}; {others}")


def _result(bucket: Bucket, verdict: Verdict, policy: Policy) -> Failure | Skipped | None:
    """Return the JUnit result of one bucket; None if it is fixed."""
    finding = bucket.finding
    if bucket.comparison is Comparison.FIXED:
        return None
    if bucket.comparison is not Comparison.NEW:
        issue = f" ({visible(issue_text(bucket.issue))})" if bucket.issue else ""
        return Skipped(f"{_SKIPPED[bucket.comparison]}{issue}")
    if state(bucket) == UNCONFIRMED:
        return Skipped("UNCONFIRMED: the budget ended before all repetitions")
    if verdict in _UNJUDGED:
        return Skipped(_UNJUDGED[verdict])
    if policy.action(finding) is not Action.FAIL:
        kind = f"{finding.severity.label}, {class_of(finding).words}"
        return Skipped(f"NEW, but the policy does not fail the check for it: {kind}")
    return _failure(bucket)


def _failure(bucket: Bucket) -> Failure:
    """Return the JUnit failure of a bucket, with its details as text."""
    finding = bucket.finding
    kind = visible(f"{finding.oracle}.{finding.kind}")
    failure = Failure(publishable(finding.message, limit=_MAX_MESSAGE), kind)
    head = [f"API: {visible(finding.api)}", f"Bucket: {bucket.fingerprint}"]
    head += [f"Class: {class_of(finding).words}"]
    head += [f"{name}: {text}" for name, text in evidence_rows(finding.evidence)]
    outcomes = [f"{name}: {outcome_text(outcome)}" for name, outcome in finding.outcomes.items()]
    script = [f"Reproducer: {bucket.reproducer}"] if bucket.reproducer else []
    text = shortened("\n".join([*head, *outcomes, *script]), _MAX_TEXT)
    failure.text = visible_lines(without_local_paths(text))
    return failure
