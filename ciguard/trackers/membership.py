"""The members of a group in its issue: a table, and the scripts of all but the shown member."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.policy import class_of
from ciguard.domain.text import html_code, markdown_block, markdown_code, markdown_text, visible
from ciguard.trackers.reproduction import MAX_SCRIPT
from ciguard.triage import without_local_paths

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ciguard.domain.causes import Cause
    from ciguard.domain.findings import Finding
    from ciguard.trackers.context import Context, IssueRow

_MAX_ROWS = 100
_MAX_CAUSE = 400
_STATE_TEXTS = {"": "", "fixed": "✓ fixed", "accepted": "accepted"}
_DAY = len("2026-01-31")


def title_of(finding: Finding, cause: Cause, apis: int, *, limit: int) -> str:
    """Return the title of a group's issue.

    Args:
        finding: the finding of the shown member.
        cause: the cause of the group.
        apis: the number of APIs that show the cause.
        limit: the maximum number of characters of the title.
    """
    count = f" ({apis} APIs)"
    text = without_local_paths(f"{finding.library}: {cause.kind} {cause.text}".rstrip())
    plain = visible(text, limit=4 * limit)
    if len(plain) + len(count) > limit:
        plain = plain[: limit - len(count) - 1].rstrip() + "…"
    return plain + count


def introduction(cause: Cause | None, context: Context) -> str:
    """Return the first sentences of a group's issue; empty for a group of one bucket."""
    parts = []
    if context.split_from:
        issues = " and ".join(map(_linked, context.split_from))
        parts.append(f"Split from {issues}, because the cause turned out to be different.")
    if len(context.rows) > 1:
        subject = f"{context.apis} APIs" if context.apis > 1 else f"{len(context.rows)} findings"
        fixed = sum(row.state == "fixed" for row in context.rows)
        progress = f" Fixed so far: {fixed} of {len(context.rows)}." if fixed else ""
        sentence = f"{subject} probably have the same cause{_cause(cause)}.{progress}"
        parts.append(f"{sentence} The simplest case:")
    return "\n\n".join(parts)


def _cause(cause: Cause | None) -> str:
    if cause is None:
        return ""
    return f": {markdown_code(without_local_paths(cause.words), limit=_MAX_CAUSE)}"


def _linked(issue: str) -> str:
    return f"#{issue}" if issue.isascii() and issue.isdecimal() else markdown_code(issue, limit=200)


def table(context: Context, folded: Collection[str]) -> str:
    """Return the table of all members; empty for a group of one bucket.

    Args:
        context: the context with the rows.
        folded: the fingerprints of other members whose script the issue contains.
    """
    rows = context.rows
    if len(rows) < 2:  # noqa: PLR2004 - a table needs at least two rows to be useful
        return ""
    has_states = any(row.state for row in rows)
    head = [
        "API",
        "severity",
        "since",
        *(["state"] if has_states else []),
        "script",
        "fingerprint",
    ]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for row in rows[:_MAX_ROWS]:
        state = [_STATE_TEXTS[row.state]] if has_states else []
        place = "above" if row is rows[0] and row.script else _place(row, folded)
        cells = [*_facts(row), *state, place, f"`{row.bucket.fingerprint}`"]
        lines.append(f"| {' | '.join(cells)} |")
    more = len(rows) - _MAX_ROWS
    rest = f"\n\n… and {more} more; `ciguard show` lists all of them." if more > 0 else ""
    return "### Affected APIs\n\n" + "\n".join(lines) + rest


def _facts(row: IssueRow) -> list[str]:
    finding, onset = row.bucket.finding, row.bucket.onset
    since = markdown_text(onset.words.removeprefix("since ")) if onset else ""
    day = row.first_seen[:_DAY]
    return [
        markdown_code(without_local_paths(finding.api)),
        f"{finding.severity.label}, {class_of(finding).words}",
        since or (f"seen {markdown_text(day)}" if day else ""),
    ]


def _place(row: IssueRow, folded: Collection[str]) -> str:
    if not row.script:
        return ""
    return "below" if row.bucket.fingerprint in folded else "in the results"


def folded_scripts(rows: Sequence[IssueRow], *, max_characters: int) -> tuple[str, frozenset[str]]:
    """Return the scripts of the members that the issue does not show.

    Args:
        rows: the rows of the group, the shown member first.
        max_characters: the maximum number of characters; further scripts are left out.

    Returns:
        Markdown, and the fingerprints of the members whose scripts it contains.
    """
    heading = "### Scripts of the other cases"
    parts = [heading]
    included: list[str] = []
    for row in rows[1:]:
        if not row.script or row.state or len(row.script) > MAX_SCRIPT:
            continue
        part = _folded(row)
        if sum(map(len, parts)) + len(part) + 2 * (len(parts) + 1) > max_characters:
            break
        parts.append(part)
        included.append(row.bucket.fingerprint)
    return ("\n\n".join(parts), frozenset(included)) if included else ("", frozenset())


def _folded(row: IssueRow) -> str:
    block = markdown_block(row.script.rstrip("\n"), language="python", limit=MAX_SCRIPT)
    name = html_code(without_local_paths(row.bucket.finding.api))
    return f"<details><summary>{name}</summary>\n\n{block}\n\n</details>"
