"""The text of an issue for the library's maintainers. Text from fuzzed calls is escaped."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from ciguard.domain.findings import PairKind
from ciguard.domain.function_calls import locate_failure
from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Hung, Passed, Rejected
from ciguard.domain.policy import class_of
from ciguard.domain.text import markdown_block, markdown_code, markdown_text, shortened, visible
from ciguard.oracles import traits_of
from ciguard.trackers.contract import Report, marker
from ciguard.trackers.footer import footer
from ciguard.trackers.membership import folded_scripts, introduction, table, title_of
from ciguard.trackers.reproduction import reproduction
from ciguard.trackers.template import built_in
from ciguard.triage import (
    derivation_diff,
    origin_rows,
    presentable,
    subject_phrase,
    summary_line,
    without_local_paths,
)

if TYPE_CHECKING:
    from ciguard.domain.case import Case
    from ciguard.domain.findings import Bucket, Evidence, Finding
    from ciguard.domain.outcomes import Frame, Outcome
    from ciguard.trackers.context import Context
    from ciguard.trackers.template import IssueTemplate

MAX_BODY = 60_000
"""Maximum number of characters of an issue; GitHub rejects more than 65,536."""
_MAX_LOG = 4_000
_MAX_TITLE = 120
_MAX_FRAMES = 30
_MAX_ROWS = 40
_MAX_DIFF_LINES = 30
_RESERVE = 2_000
"""Number of characters by which the table grows when it shows the place of each script."""
_REGRESSION = "This defect was fixed before and has returned."
_SHORTENED = (
    "Parts of this report are too long for an issue. The results of the run have all parts."
)


def report(bucket: Bucket, context: Context, *, template: IssueTemplate | None = None) -> Report:
    """Return the title and text of a group's issue, which shows one of the group's buckets.

    Args:
        bucket: the bucket to show, the simplest of the group.
        context: the context, including the other members of the group.
        template: the template of the text; None for the built-in template.

    Raises:
        ConfigurationError: if the template cannot be filled.
    """
    name = context.name or bucket.fingerprint
    body = f"{marker(name)}\n\n{_text(bucket, context, template or built_in())}"
    return Report(
        fingerprint=name,
        title=title(bucket, apis=context.apis),
        body=body,
        slug=slug(bucket.finding.api),
        aliases=context.aliases,
    )


def _text(bucket: Bucket, context: Context, template: IssueTemplate) -> str:
    """Return the filled template, without some details if the text would be too long."""
    finding = bucket.finding
    origin = origin_rows(finding.case, lambda name: markdown_code(_local(name)))
    values = {
        **_facts(bucket, context),
        "summary": _introduction_and_summary(bucket, context),
        "members": table(context, ()),
        "expected": _comparison(finding.evidence),
        "origin": "\n\n".join(f"{name}: {text}" for name, text in origin),
        "difference": _difference(finding),
        "outcomes": _outcomes(finding, context),
        "since": f"Seen {markdown_text(bucket.onset.words)}." if bucket.onset else "",
        "script": reproduction(bucket, context),
        "evidence": _evidence(bucket),
        "cause": _cause(bucket),
        "others": "",
        "grouping": _grouping(bucket),
        "note": "",
        "footer": footer(bucket, context),
    }
    text = template.fill(values)
    for detail in ("grouping", "evidence", "script", "difference", "outcomes"):
        if len(text) <= MAX_BODY:
            break
        values |= {detail: "", "note": _SHORTENED}
        text = template.fill(values)
    if len(text) > MAX_BODY:
        return f"{_SHORTENED}\n\n{values['footer']}"
    others, folded = folded_scripts(context.rows, max_characters=MAX_BODY - len(text) - _RESERVE)
    return template.fill({**values, "others": others, "members": table(context, folded)})


def _introduction_and_summary(bucket: Bucket, context: Context) -> str:
    summary = _summary(bucket.finding, context)
    return "\n\n".join(filter(None, [introduction(bucket.cause, context), summary]))


def _facts(bucket: Bucket, context: Context) -> dict[str, str]:
    finding = bucket.finding
    facts = {
        "api": finding.api,
        "library": finding.library,
        "level": finding.case.level,
        "oracle": finding.oracle,
        "kind": finding.kind,
        "severity": finding.severity.label,
        "class": class_of(finding).words,
        "fingerprint": bucket.fingerprint,
        "commit": context.commit,
        "first_seen": context.first_seen,
    }
    return {
        **{name: markdown_code(text, limit=100) if text else "" for name, text in facts.items()},
        "targets": " and ".join(map(_target, finding.targets)),
        "again": _REGRESSION if context.is_regression else "",
    }


def title(bucket: Bucket, *, apis: int = 1) -> str:
    """Return a title that identifies the bug in a list of issues.

    Args:
        bucket: the bucket to show.
        apis: the number of APIs with the same cause; above 1, the title names the cause.
    """
    if apis > 1 and bucket.cause is not None:
        plain = title_of(bucket.finding, bucket.cause, apis, limit=_MAX_TITLE)
    else:
        text = _local(f"{bucket.finding.api}: {_headline(bucket.finding)}")
        plain = visible(text, limit=4 * _MAX_TITLE)
    plain = plain.replace("`", "'")
    if len(plain) > _MAX_TITLE:
        plain = plain[: _MAX_TITLE - 1].rstrip() + "…"
    # Titles are plain text, but some trackers turn @names and #numbers in them into links.
    return re.sub(r"[@#]", lambda match: match[0] + "\u2060", plain)


def _headline(finding: Finding) -> str:
    if finding.pair is PairKind.NONE:
        outcome = _without_line(finding.case, _shown_outcome(finding))
        line = _LOCATION.sub("", summary_line(_bounded(outcome))) if outcome else finding.kind
        return line or finding.message.removeprefix(finding.api).lstrip(": ")
    reference, deviating = (*finding.targets, "", "")[:2]
    if traits_of(finding.oracle).second_target_fails:
        return f"fails on {deviating}, not on {reference}"
    match finding.kind:
        case "refused":
            return f"rejected on {deviating}, accepted on {reference}"
        case "accepted":
            return f"accepted on {deviating}, rejected on {reference}"
        case kind:
            return f"{kind} on {deviating} differs from {reference}"


def _without_line(case: Case, outcome: Outcome | None) -> Outcome | None:
    """Return an outcome without the line of the user's code, which edits change."""
    if case.is_user_code and isinstance(outcome, Errored):
        return replace(outcome, message=locate_failure(outcome.message).message)
    return outcome


_LOCATION = re.compile(r"(?<=: )[\w/.+-]+:\d+\] ")
"""Matches the location of a failed check in an error message, which is too long for a title."""


def slug(api: str) -> str:
    """Return an API's name as a part of a file name, with safe characters only."""
    return re.sub(r"[^A-Za-z0-9_.]+|\.\.+", "-", api).strip("-.")[:80]


def _shown_outcome(finding: Finding) -> Outcome | None:
    shown = [finding.outcomes[name] for name in finding.targets if name in finding.outcomes]
    return shown[-1] if shown else None


def line_of(finding: Finding) -> str:
    """Return one line about the defect: the outcome that shows it, else the finding's message."""
    outcome = _shown_outcome(finding)
    line = summary_line(_bounded(outcome)) if outcome is not None else ""
    return _local(line or finding.message or finding.kind)


def _target(name: str) -> str:
    """Return a target's name without local paths, such as the folder of a wheel."""
    return markdown_code(_local(name), limit=100)


def _local(text: str) -> str:
    """Return text without paths of this machine, shortened for an issue."""
    return without_local_paths(shortened(text, 2 * _MAX_LOG))


def _bounded(outcome: Outcome) -> Outcome:
    """Return an outcome with shortened texts, since texts of stored outcomes may be very long."""
    match outcome:
        case Rejected() | Errored() | Exhausted():
            return replace(outcome, message=shortened(outcome.message, 2 * _MAX_LOG))
        case Crashed():
            return replace(outcome, log=shortened(outcome.log, 2 * _MAX_LOG))
        case Passed() | Hung():
            return outcome
        case _:
            assert_never(outcome)


def _summary(finding: Finding, context: Context) -> str:
    regression = f"{_REGRESSION} " if context.is_regression else ""
    api = markdown_code(finding.api)
    if finding.pair is not PairKind.NONE:
        targets = " and ".join(map(_target, finding.targets))
        verb = (
            "fails on only one of these targets"
            if traits_of(finding.oracle).second_target_fails
            else "behaves differently"
        )
        sentence = f"{api} {verb} ({markdown_code(finding.kind)}): {targets}."
        return f"{regression}{sentence}\n\n{markdown_code(_local(finding.message))}"
    return f"{regression}{_claim(api, _shown_outcome(finding), finding)}"


def _claim(api: str, outcome: Outcome | None, finding: Finding) -> str:
    claim = presentable(finding.case).claim(finding)
    if claim is None:
        return _outcome_sentence(api, outcome, finding)
    words, quoted = claim
    return f"{api}{f' {words}' if words else ''}: {markdown_code(_local(quoted))}."


def _outcome_sentence(api: str, outcome: Outcome | None, finding: Finding) -> str:
    subject = subject_phrase(finding.case, api)
    match outcome:
        case Crashed() if outcome.is_memory_error:
            access = markdown_code(_local(finding.evidence.observed))
            return f"{subject} accesses memory out of its bounds, in silence: {access}."
        case Crashed():
            line = markdown_code(line_of(finding))
            return f"{subject} crashes the Python process instead of raising: {line}."
        case Errored():
            line = markdown_code(line_of(finding))
            return f"{api} raises an internal error: {line}."
        case Hung(limit_s):
            return f"{subject} does not return within {limit_s:g} s."
        case Exhausted():
            return f"{subject} with small {finding.case.given} exhausts all memory."
        case Passed() | Rejected() | None:
            return f"{api}: {markdown_code(_local(finding.message))}"
        case _:
            assert_never(outcome)


def _comparison(evidence: Evidence) -> str:
    """Return the expected and the observed behaviour side by side, and the violated invariant."""
    parts = []
    if evidence.announced:
        parts.append(f"Announced: {markdown_code(_local(evidence.announced), limit=600)}")
    if evidence.expected or evidence.observed:
        cells = (evidence.expected, evidence.observed)
        row = " | ".join(markdown_code(_local(text), limit=600) for text in cells)
        parts.append(f"| expected | observed |\n| --- | --- |\n| {row} |")
    if evidence.law:
        parts.append(f"Invariant: {markdown_code(_local(evidence.law), limit=400)}")
    if evidence.source:
        parts.append(f"Source: {markdown_code(_local(evidence.source), limit=400)}")
    return "\n\n".join(parts)


def _difference(finding: Finding) -> str:
    """Return the program's difference from its parent; empty if the parent is unknown."""
    lines = derivation_diff(finding.case, most=_MAX_DIFF_LINES)
    if not lines:
        return ""
    block = markdown_block(_local("\n".join(map(str, lines))), language="diff", limit=_MAX_LOG)
    return f"### Difference from the parent program\n\n{block}"


def _outcomes(finding: Finding, context: Context) -> str:
    if not finding.outcomes:
        return ""
    rows = [
        f"| {_target(name)} | {_version(context.versions.get(name, ''))} "
        f"| {_role(finding, name)} | {_outcome(finding.case, outcome)} |"
        for name, outcome in list(finding.outcomes.items())[:_MAX_ROWS]
    ]
    head = "| target | version | shows the defect | outcome |\n| --- | --- | --- | --- |"
    return "\n".join(["### Outcomes", "", head, *rows])


def _role(finding: Finding, target: str) -> str:
    if finding.pair is not PairKind.NONE and target == finding.targets[0]:
        return "reference"
    return "**yes**" if target in finding.targets else "no"


def _version(version: str) -> str:
    return markdown_code(version, limit=60) if version else ""


def _outcome(case: Case, outcome: Outcome) -> str:
    match outcome:
        case Passed():
            return presentable(case).passed_text(case)
        case Rejected():
            return f"raised {markdown_code(_shown_line(outcome))}"
        case Errored():
            prefix = "failed with" if case.is_user_code else "internal error"
            return f"{prefix} {markdown_code(_shown_line(outcome))}"
        case Crashed():
            return f"process crashed: {markdown_code(_shown_line(outcome))}"
        case Hung():
            return _shown_line(outcome)
        case Exhausted():
            return markdown_code(_shown_line(outcome))
        case _:
            assert_never(outcome)


def _shown_line(outcome: Outcome) -> str:
    return _local(summary_line(_bounded(outcome)))


def _evidence(bucket: Bucket) -> str:
    outcome = _shown_outcome(bucket.finding)
    stack = getattr(outcome, "stack", ())
    log = outcome.log if isinstance(outcome, Crashed) else ""
    parts = []
    if stack:
        parts.append(f"### Python stack, innermost first\n\n{_stack(stack)}")
    if bucket.native_stack:
        parts.append(f"### Native stack, innermost first\n\n{_stack(bucket.native_stack)}")
    if log.strip():
        shown = markdown_block(_local(log.strip()), limit=_MAX_LOG)
        parts.append(f"### End of the output\n\n{shown}")
    return "\n\n".join(parts)


def _cause(bucket: Bucket) -> str:
    if bucket.cause is None:
        return ""
    return f"### Cause\n\nProbable cause: {markdown_code(_local(bucket.cause.words), limit=400)}."


def _stack(stack: tuple[Frame, ...]) -> str:
    lines = [f"{_local(f.file)}: {_local(f.function)}" for f in stack[:_MAX_FRAMES]]
    return markdown_block("\n".join(lines), limit=_MAX_LOG)


def _grouping(bucket: Bucket) -> str:
    if not bucket.grouping:
        return ""
    rows = [
        f"| {markdown_code(_local(name))} | {markdown_code(_local(text))} |"
        for name, text in bucket.grouping
    ]
    return "\n".join(
        [
            "<details><summary>Fingerprint: what this bucket's findings have in common</summary>",
            "",
            "| ingredient | text |",
            "| --- | --- |",
            *rows[:_MAX_ROWS],
            "",
            "</details>",
        ]
    )
