"""The footer of an issue: links, and an explanation for readers who do not know ciguard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.policy import class_of
from ciguard.domain.text import markdown_code

if TYPE_CHECKING:
    from ciguard.domain.findings import Bucket
    from ciguard.trackers.context import Context

_GUIDE = "docs/trackers.md"
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_SHOWN_DIGITS = 10


def footer(bucket: Bucket, context: Context) -> str:
    """Return the links of an issue, and the origin of its finding."""
    return "\n\n".join(filter(None, ["---", _links(context), _origin(bucket, context)]))


def _links(context: Context) -> str:
    links = []
    if context.run_page:
        links.append(f"[the workflow run]({context.run_page})")
        links.append(f"[all its results]({context.run_page}#artifacts)")
    if context.repository_page and _COMMIT.fullmatch(context.commit):
        page = f"{context.repository_page}/commit/{context.commit}"
        links.append(f"[commit `{context.commit[:_SHOWN_DIGITS]}`]({page})")
    guide = context.project.document(_GUIDE)
    if guide:
        links.append(f"[how ciguard updates this issue, and how to silence it]({guide})")
    return f"See also: {', '.join(links)}." if links else ""


def _origin(bucket: Bucket, context: Context) -> str:
    page = context.project.page()
    name = f"[ciguard]({page})" if page else "ciguard"
    return (
        f"Found by {name}, which calls libraries with generated arguments and compares versions, "
        f"devices and documentation ({', '.join(_facts(bucket, context))}). In a folder with the "
        f"results or the baseline, `ciguard reproduce {bucket.fingerprint}` runs the case again."
    )


def _facts(bucket: Bucket, context: Context) -> list[str]:
    finding = bucket.finding
    facts = [
        f"severity {finding.severity.label}, {class_of(finding).words}",
        f"level {markdown_code(finding.case.level, limit=40)}",
        f"oracle {markdown_code(finding.oracle, limit=40)}",
        bucket.confirmation.value,
    ]
    if context.commit:
        facts.append(f"commit {markdown_code(context.commit, limit=60)}")
    if context.first_seen:
        facts.append(f"first seen {markdown_code(context.first_seen, limit=40)}")
    return facts
