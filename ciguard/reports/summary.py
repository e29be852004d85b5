"""`summary.md`: the run for a person, also as the step summary of a workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain import (
    Bucket,
    Comparison,
    DocumentationCheck,
    DocumentationChecked,
    DocumentationFinding,
    Event,
    RunFinished,
    Warned,
    class_of,
    html_code,
    markdown_block,
    markdown_code,
    markdown_text,
)
from ciguard.reports.documentation import DOCUMENTATION_FILE, documentation_counts
from ciguard.reports.files import write_atomically
from ciguard.reports.progress import STATUSES
from ciguard.reports.wording import (
    MET,
    apis_text,
    claim,
    counts_text,
    evidence_rows,
    ordered,
    outcome_text,
    short,
    state,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.reports.contract import Destination

LIMIT_BYTES = 1024 * 1024
"""A step summary that is larger is dropped whole by the workflow's runner."""
DETAILED_BUCKETS = 20
DETAILED_DOCUMENTATION = 10
MOST_LINKED = 5
"""Related buckets that the details of one name."""
_GRAVEST_FIRST = (
    DocumentationCheck.CONTRADICTION,
    DocumentationCheck.STRANGER,
    DocumentationCheck.DANGLING,
    DocumentationCheck.FORMATTING,
    DocumentationCheck.UNDESCRIBED,
)
"""What misleads comes before what is merely missing."""
MAX_WARNINGS = 20
_RESERVE_BYTES = 1_000
"""Room for the sentence that says what was left out."""


class SummaryReporter:
    """Writes `summary.md`, at most 1 MiB of it."""

    def __init__(self, destination: Destination) -> None:
        self._folder = destination.folder
        self._warnings: list[str] = []
        self._documentation: list[DocumentationFinding] = []

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        if isinstance(event, Warned) and len(self._warnings) < MAX_WARNINGS:
            self._warnings.append(event.message)
        if isinstance(event, DocumentationChecked):
            self._documentation += event.findings
        if isinstance(event, RunFinished):
            blocks = _lines(event, self._folder, self._warnings)
            text = _bounded((*blocks, *_documentation(self._documentation)))
            write_atomically(self._folder / "summary.md", text)

    def close(self) -> None:
        """See `Reporter`."""


def _bounded(blocks: Iterable[str]) -> str:
    kept: list[str] = []
    room = LIMIT_BYTES - _RESERVE_BYTES
    for block in blocks:
        room -= len(block.encode("utf-8")) + 1
        if room < 0:
            kept.append("\nThe rest is left out here; `buckets.jsonl` has every bucket.")
            break
        kept.append(block)
    return "\n".join(kept) + "\n"


def _lines(event: RunFinished, folder: Path, warnings: list[str]) -> Iterator[str]:
    yield f"# ciguard: {event.verdict.value}\n"
    yield f"{markdown_text(event.summary)}\n"
    yield f"Buckets: {counts_text(event.buckets)}.\n"
    yield from _targets(event)
    yield from _not_run(event)
    yield from _buckets(event.buckets)
    yield from _details(event.buckets, folder)
    if warnings:
        yield "\n## Warnings\n"
        yield from (f"- {markdown_code(warning)}" for warning in warnings)
    yield "\n## Seconds by stage\n"
    yield "| stage | seconds |\n| --- | ---: |"
    yield from (f"| {stage} | {spent_s:.1f} |" for stage, spent_s in event.stages.items())


def _targets(event: RunFinished) -> Iterator[str]:
    yield "## Targets\n"
    yield f"| target | version | APIs called | cases | {' | '.join(STATUSES)} |"
    yield "| --- | --- | ---: | ---: |" + " ---: |" * len(STATUSES)
    for target in event.targets:
        counts = target.tally.as_dict()
        cells = [markdown_code(target.name), markdown_text(target.version)]
        if target.not_run:
            cells += ["not run", "", *("" for _ in STATUSES)]
        else:
            cells += [apis_text(event, target), f"{target.tally.total:,}"]
            cells += [f"{counts[status]:,}" for status in STATUSES]
        yield f"| {' | '.join(cells)} |"


def _not_run(event: RunFinished) -> Iterator[str]:
    targets = [target for target in event.targets if target.not_run]
    buckets = [bucket for bucket in event.buckets if bucket.comparison is Comparison.NOT_RUN]
    if not targets and not buckets:
        return
    yield "\n## Not run\n"
    yield "Nothing is said about these: they are neither clean nor fixed.\n"
    for target in targets:
        yield f"- target {markdown_code(target.name)}: {markdown_code(target.not_run)}"
    if buckets:
        yield f"- buckets of the baseline, marked `not run` below: {len(buckets)}"


def _buckets(buckets: tuple[Bucket, ...]) -> Iterator[str]:
    if not buckets:
        return
    yield "\n## Buckets\n"
    yield "| | severity | class | bucket | API | what happened | on | reproducer |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for bucket in ordered(buckets):
        finding = bucket.finding
        cells = (
            state(bucket),
            finding.severity.label,
            class_of(finding).words,
            f"`{short(bucket.fingerprint)}`",
            markdown_code(finding.api, limit=120),
            f"{finding.oracle}/{finding.kind}: {markdown_code(claim(finding), limit=200)}",
            ", ".join(markdown_code(target, limit=80) for target in finding.targets),
            markdown_code(bucket.reproducer) if bucket.reproducer else "",
        )
        yield f"| {' | '.join(cells)} |"
    yield (
        "\n`ciguard show BUCKET` tells all about one; `ciguard reproduce BUCKET` runs its case "
        "again. A reproducer is a script that needs nothing but the library: "
        "`python REPRODUCER` in an environment that has it."
    )


def _details(buckets: tuple[Bucket, ...], folder: Path) -> Iterator[str]:
    met = [bucket for bucket in ordered(buckets) if bucket.comparison in MET]
    if met:
        yield f"\n## The first {min(len(met), DETAILED_BUCKETS)} in detail\n"
    for bucket in met[:DETAILED_BUCKETS]:
        finding = bucket.finding
        yield f"<details><summary>{short(bucket.fingerprint)}: "
        # Markdown is not read inside a summary's line; elements are.
        yield f"{html_code(finding.api)} {html_code(claim(finding))}</summary>\n"
        for name, text in evidence_rows(finding.evidence):
            yield f"- {name}: {markdown_code(text)}"
        for name, outcome in finding.outcomes.items():
            yield f"- {markdown_code(name)}: {markdown_code(outcome_text(outcome))}"
        if bucket.native_stack:
            frame = bucket.native_stack[0]
            yield f"- native: {markdown_code(f'{frame.function} ({frame.file})')}"
        if bucket.related:
            names = ", ".join(f"`{short(name)}`" for name in bucket.related[:MOST_LINKED])
            yield f"- the same native fault: {names}"
        script = _script(bucket, folder)
        if script:
            yield f"\n{markdown_block(script, language='python')}"
        yield "\n</details>\n"


def _documentation(findings: list[DocumentationFinding]) -> Iterator[str]:
    if not findings:
        return
    yield "\n## Documentation\n"
    yield (
        f"Read, not run, and never decisive: {documentation_counts(findings)}. "
        f"`{DOCUMENTATION_FILE}` has them all.\n"
    )
    gravest = sorted(findings, key=lambda finding: _GRAVEST_FIRST.index(finding.check))
    for finding in gravest[:DETAILED_DOCUMENTATION]:
        yield f"- {markdown_code(finding.api)} {markdown_text(finding.message)}"


def _script(bucket: Bucket, folder: Path) -> str:
    path = folder / bucket.reproducer
    if not bucket.reproducer or not path.is_file():
        return ""
    return path.read_text(encoding="utf-8", errors="replace")
