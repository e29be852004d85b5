"""`summary.md`: the run as markdown, which is also the step summary of a workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.documentation import DocumentationCheck, DocumentationFinding
from ciguard.domain.events import DocumentationChecked, Event, RunFinished, RunStarted, Warned
from ciguard.domain.findings import Bucket, Comparison
from ciguard.domain.policy import class_of
from ciguard.domain.text import html_code, markdown_block, markdown_code, markdown_text
from ciguard.reports.caveats import caveats
from ciguard.reports.documentation import DOCUMENTATION_FILE, documentation_counts
from ciguard.reports.files import write_atomically
from ciguard.reports.progress import STATUSES
from ciguard.reports.upgrade import upgrade_blocks, upgrade_of
from ciguard.reports.wording import (
    UNCONFIRMED,
    apis_text,
    by_cause,
    cause_text,
    counts_text,
    evidence_rows,
    fixed_text,
    functions_text,
    in_display_order,
    issue_address,
    issue_text,
    message_without_api,
    outcome_text,
    plural,
    publishable,
    short_fingerprint,
    state,
)
from ciguard.triage import origin_rows, read_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ciguard.domain.plan import Plan
    from ciguard.reports.contract import Destination

LIMIT_BYTES = 1024 * 1024
"""Maximum size of the file; GitHub drops a larger step summary."""
MAX_ROWS = 200
"""Maximum number of rows in one table."""
DETAILED_BUCKETS = 20
DETAILED_DOCUMENTATION = 10
MAX_LINKED = 5
"""Maximum number of related buckets that the details of a bucket name."""
_DOCUMENTATION_ORDER = (
    DocumentationCheck.REMOVED,
    DocumentationCheck.CHANGED_ALONE,
    DocumentationCheck.CONTRADICTION,
    DocumentationCheck.UNDECLARED,
    DocumentationCheck.DANGLING,
    DocumentationCheck.FORMATTING,
    DocumentationCheck.UNDESCRIBED,
)
"""Checks in display order: those for misleading documentation precede those for missing texts."""
MAX_WARNINGS = 20
_MAX_REASONS = 50
_MAX_TARGETS = 20
_MAX_NAMED = 8
"""Maximum number of buckets with the same cause that a row names."""
_MAX_CAVEAT = 2_000
_RESERVE_BYTES = 1_000
"""Size that is reserved for the sentence about omitted blocks."""


class SummaryReporter:
    """Writes `summary.md`, at most 1 MiB."""

    def __init__(self, destination: Destination) -> None:
        self._folder = destination.folder
        self._plan: Plan | None = None
        self._warnings: list[str] = []
        self._documentation: list[DocumentationFinding] = []

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        if isinstance(event, RunStarted):
            self._plan = event.plan
        if isinstance(event, Warned) and len(self._warnings) < MAX_WARNINGS:
            self._warnings.append(event.message)
        if isinstance(event, DocumentationChecked):
            self._documentation += event.findings
        if isinstance(event, RunFinished):
            blocks = (
                *summary_blocks(event, self._plan, self._folder, self._documentation),
                *_documentation(self._documentation),
                *_warnings(self._warnings),
                *_stages(event),
            )
            write_atomically(self._folder / "summary.md", first_blocks(blocks, LIMIT_BYTES))

    def close(self) -> None:
        """See `Reporter`."""


def first_blocks(blocks: Iterable[str], limit_bytes: int) -> str:
    """Return the first blocks, as many as fit into the limit, and a note if blocks are omitted."""
    kept: list[str] = []
    bytes_left = limit_bytes - _RESERVE_BYTES
    for block in blocks:
        bytes_left -= len(block.encode("utf-8")) + 1
        if bytes_left < 0:
            kept.append("\nThe rest does not fit here; `buckets.jsonl` has every bucket.")
            break
        kept.append(block)
    return "\n".join(kept) + "\n"


def summary_blocks(
    event: RunFinished,
    plan: Plan | None,
    folder: Path,
    documentation: Iterable[DocumentationFinding] = (),
) -> Iterator[str]:
    """Yield the blocks of a run's summary as markdown, the most important first.

    Each block is complete, so that a caller with less space can omit the last blocks.

    Args:
        event: the last event of the run.
        plan: the plan of the run; None if it has none.
        folder: the folder of the run, which holds the reproducers.
        documentation: the findings about documentation, if they are known.
    """
    yield f"# ciguard: {event.verdict.value}\n"
    yield f"{markdown_text(event.summary)}\n"
    fixed = fixed_text(event, plan)
    yield f"Buckets: {counts_text(event.buckets, fixed=fixed)}.\n"
    for caveat in caveats(event, plan):
        yield f"> {markdown_text(caveat.text, limit=_MAX_CAVEAT)}\n"
    upgrade = upgrade_of(event, plan, documentation)
    if upgrade is not None:
        yield from upgrade_blocks(upgrade)
    sections = {
        "NEW": [Comparison.NEW.value],
        fixed.upper(): [Comparison.FIXED.value],
        "KNOWN": [Comparison.KNOWN.value, Comparison.ACCEPTED.value],
        "FLAKY": [Comparison.FLAKY.value],
        "UNCONFIRMED": [UNCONFIRMED],
    }
    details = _Details(folder)
    for title, states in sections.items():
        buckets = [bucket for bucket in in_display_order(event.buckets) if state(bucket) in states]
        yield from _section(title, buckets, event)
        if title in _DETAILED:
            yield from details.blocks(buckets)
    yield from _not_run(event, plan)
    yield (
        "\n`ciguard show BUCKET` shows all details of a bucket; `ciguard reproduce BUCKET` runs "
        "its case again.\n"
    )
    yield from _targets(event)
    yield from _plan_section(plan)


_DETAILED = frozenset({"NEW", "KNOWN"})
_EXPLAINED = {
    "NEW": "Defects that neither the baseline nor the base shows. A reproducer is a script that "
    "needs only the library.",
    "FIXED": "Defects in the baseline whose cases ran without showing them.",
    "FIXED BY THIS PULL REQUEST": "Defects of the base or the baseline whose cases ran without "
    "showing them.",
    "KNOWN": "Defects that the baseline or the base shows too. They do not fail the check.",
    "FLAKY": "Defects that did not reproduce every time. They do not fail the check.",
    "UNCONFIRMED": "Defects that may be new: the budget ended before all repetitions, or before "
    "base and head were compared. They do not fail the check.",
}
"""Title of a section → sentence below it."""
_OF_FUNCTIONS = " A script of a function also needs the project."
_NOUNS = {"API": False, "function": True}
"""True for the noun of the user's own code, by the nouns of what buckets are about."""


def _section(title: str, buckets: list[Bucket], event: RunFinished) -> Iterator[str]:
    """Yield the section of the buckets in some states; nothing without buckets."""
    if not buckets:
        return
    causes = len(by_cause(buckets))
    count = f"{len(buckets)}" if causes == len(buckets) else f"{len(buckets)}, {causes} causes"
    has_functions = any(bucket.finding.case.is_user_code for bucket in buckets)
    also = _OF_FUNCTIONS if title == "NEW" and has_functions else ""
    yield f"\n## {title} ({count})\n\n{_EXPLAINED[title]}{also}\n"
    yield from _table(buckets, event)


def _rate_text(bucket: Bucket) -> str:
    """Return how often a bucket reproduced, e.g. `3 of 3`; empty if it was not counted."""
    if bucket.attribution:
        return bucket.attribution.words
    return f"{bucket.shown} of {bucket.tried}" if bucket.tried else ""


def _noun_of(buckets: list[Bucket]) -> str:
    """Return the noun of what buckets are about: APIs, functions of the user, or both."""
    of_users = {bucket.finding.case.is_user_code for bucket in buckets}
    return " or ".join(noun for noun, is_users in _NOUNS.items() if is_users in of_users)


def _table(buckets: list[Bucket], event: RunFinished) -> Iterator[str]:
    """Yield a table of buckets; optional columns that are empty in every row are omitted."""
    tracker = event.parameters.get("issues")
    optional: dict[str, Callable[[Bucket], str]] = {
        "issue": lambda bucket: _issue(bucket, tracker),
        "reproduced": _rate_text,
        "reproducer": lambda bucket: _code(bucket.reproducer),
    }
    columns = {name: text_of for name, text_of in optional.items() if any(map(text_of, buckets))}
    headings = ["bucket", "severity", "class", _noun_of(buckets), "what happened", "on", *columns]
    yield f"| {' | '.join(headings)} |\n|{' --- |' * len(headings)}"
    groups = by_cause(buckets)
    for bucket, *others in groups[:MAX_ROWS]:
        finding = bucket.finding
        kind = _code(f"{finding.oracle}/{finding.kind}")
        cells = [
            f"`{short_fingerprint(bucket.fingerprint)}`",
            finding.severity.label,
            class_of(finding).words,
            f"{markdown_code(finding.api, limit=120)}{_others(others)}",
            f"{kind} {markdown_code(publishable(message_without_api(finding)), limit=200)}",
            ", ".join(markdown_code(target, limit=80) for target in finding.targets[:_MAX_TARGETS]),
            *(text_of(bucket) for text_of in columns.values()),
        ]
        yield f"| {' | '.join(cells)} |"
    if len(groups) > MAX_ROWS:
        omitted = sum(map(len, groups[MAX_ROWS:]))
        yield f"\n… and {omitted:,} more in `buckets.jsonl`."


def _others(buckets: list[Bucket]) -> str:
    """Return the end of a cell, which names the other buckets with the same cause."""
    if not buckets:
        return ""
    named = ", ".join(
        f"`{short_fingerprint(bucket.fingerprint)}`" for bucket in buckets[:_MAX_NAMED]
    )
    more = f" and {len(buckets) - _MAX_NAMED} more" if len(buckets) > _MAX_NAMED else ""
    return f" and {len(buckets)} with the same cause: {named}{more}"


def _code(text: str) -> str:
    return markdown_code(text) if text else ""


def _code_of_name(name: str) -> str:
    return markdown_code(publishable(name))


def _issue(bucket: Bucket, tracker: object) -> str:
    """Return a bucket's issue as a link, or as text if its address is unknown."""
    address = issue_address(bucket.issue, tracker)
    if address:
        return f"[{issue_text(bucket.issue)}]({address})"
    return _code(issue_text(bucket.issue))


def _not_run(event: RunFinished, plan: Plan | None) -> Iterator[str]:
    """Yield the section of all targets, rows and buckets that were not run."""
    targets = [target for target in event.targets if target.not_run]
    rows = plan.skipped if plan else ()
    buckets = [b for b in in_display_order(event.buckets) if b.comparison is Comparison.NOT_RUN]
    if not (targets or rows or buckets):
        return
    yield f"\n## NOT RUN ({len(targets) + len(rows) + len(buckets)})\n"
    yield "The following have no result: they count neither as clean nor as fixed.\n"
    for target in targets[:MAX_ROWS]:
        yield f"- target {markdown_code(target.name)}: {markdown_code(target.not_run)}"
    for row in rows[:MAX_ROWS]:
        names = ", ".join(markdown_code(name, limit=80) for name in row.targets[:_MAX_TARGETS])
        yield (
            f"- {markdown_code(row.name)} ({names} on {markdown_code(row.device)}): "
            f"{markdown_code(row.reason)}"
        )
    if buckets:
        yield f"- {plural(len(buckets), 'known bucket')} that this run did not exercise:\n"
        yield from _table(buckets, event)


def _plan_section(plan: Plan | None) -> Iterator[str]:
    if plan is None or not plan.reasons:
        return
    yield f"\n## Plan: what was tested and why\n\nMode: {plan.mode.value}.\n"
    yield from (f"- {markdown_text(reason)}" for reason in plan.reasons[:_MAX_REASONS])
    if len(plan.reasons) > _MAX_REASONS:
        yield f"- … and {len(plan.reasons) - _MAX_REASONS:,} more in `run.json`"


def _warnings(warnings: list[str]) -> Iterator[str]:
    if warnings:
        yield "\n## Warnings\n"
        yield from (f"- {markdown_code(warning)}" for warning in warnings)


def _stages(event: RunFinished) -> Iterator[str]:
    yield "\n## Seconds by stage\n"
    yield "| stage | seconds |\n| --- | ---: |"
    yield from (f"| {stage} | {spent_s:.1f} |" for stage, spent_s in event.stages.items())


class _Details:
    """Yields the details of the first `DETAILED_BUCKETS` buckets, with their scripts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._buckets_left = DETAILED_BUCKETS

    def blocks(self, buckets: list[Bucket]) -> Iterator[str]:
        """Yield details of buckets until this object has shown `DETAILED_BUCKETS` buckets."""
        shown = [group[0] for group in by_cause(buckets)][: self._buckets_left]
        self._buckets_left -= len(shown)
        for bucket in shown:
            yield "\n".join(self._lines(bucket))

    def _lines(self, bucket: Bucket) -> Iterator[str]:
        finding = bucket.finding
        # GitHub renders HTML inside `<summary>`, but no markdown.
        yield (
            f"\n<details><summary>{short_fingerprint(bucket.fingerprint)}: "
            f"{html_code(finding.api)} "
            f"{html_code(publishable(message_without_api(finding)))}</summary>\n"
        )
        for name, text in evidence_rows(finding.evidence):
            yield f"- {name}: {markdown_code(publishable(text))}"
        for name, text in origin_rows(finding.case, _code_of_name):
            yield f"- {name}: {text}"
        for name, outcome in list(finding.outcomes.items())[:_MAX_TARGETS]:
            yield f"- {markdown_code(name)}: {markdown_code(publishable(outcome_text(outcome)))}"
        if bucket.attribution:
            yield f"- seen: {bucket.attribution.words}"
        if bucket.onset:
            yield f"- seen {bucket.onset.words}"
        if bucket.native_stack:
            frame = bucket.native_stack[0]
            yield f"- native: {markdown_code(f'{frame.function} ({frame.file})')}"
        if cause := cause_text(bucket):
            yield f"- cause: {markdown_code(publishable(cause))}"
        script = read_script(self._folder, bucket)
        if script:
            yield f"\n{markdown_block(script, language='python')}"
        yield "\n</details>\n"


def _targets(event: RunFinished) -> Iterator[str]:
    has_apis = any(target.apis for target in event.targets)
    yield "\n## Targets\n"
    columns = [*(["APIs called"] if has_apis else []), "cases", *STATUSES]
    yield f"| target | version | {' | '.join(columns)} |"
    yield "| --- | --- |" + " ---: |" * len(columns)
    for target in event.targets:
        counts = target.tally.as_dict()
        cells = [markdown_code(target.name), markdown_text(target.version)]
        if target.not_run:
            cells += ["NOT RUN", *("" for _ in columns[1:])]
        else:
            cells += [apis_text(event, target) or "none"] if has_apis else []
            cells += [f"{target.tally.total:,}", *(f"{counts[status]:,}" for status in STATUSES)]
        yield f"| {' | '.join(cells)} |"
    if functions := functions_text(event):
        yield f"\nAnnotated functions: {functions} tested."


def _documentation(findings: list[DocumentationFinding]) -> Iterator[str]:
    if not findings:
        return
    yield "\n## Documentation\n"
    yield (
        f"Documentation defects, which never fail the check: {documentation_counts(findings)}. "
        f"`{DOCUMENTATION_FILE}` lists all of them.\n"
    )
    by_check = sorted(findings, key=lambda finding: _DOCUMENTATION_ORDER.index(finding.check))
    for finding in by_check[:DETAILED_DOCUMENTATION]:
        yield f"- {markdown_code(finding.api)} {markdown_text(finding.message)}"
