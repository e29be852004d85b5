"""The roll-up issue, which lists all groups without an issue of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.policy import class_of
from ciguard.domain.text import markdown_code
from ciguard.trackers.body import MAX_BODY, line_of
from ciguard.trackers.contract import ROLL_UP, Report, marker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.trackers.groups import BucketGroup

_MAX_LISTED = 300


def roll_up(groups: Iterable[BucketGroup]) -> Report:
    """Return the text of the roll-up issue, which lists groups without an issue of their own."""
    listed = list(groups)
    rows = [_listed(group) for group in listed[:_MAX_LISTED]]
    more = len(listed) - len(rows)
    is_one = len(listed) == 1
    subject = "1 known finding has" if is_one else f"{len(listed)} known findings have"
    introduction = (
        f"{subject} no issue of {'its' if is_one else 'their'} own. "
        "`ciguard show` lists all findings; `ciguard reproduce FINGERPRINT` runs a case again."
    )
    text = [
        marker(ROLL_UP),
        introduction,
        "| severity | API | what happens | fingerprint |\n| --- | --- | --- | --- |\n"
        + "\n".join(rows),
        f"… and {more} more." if more else "",
    ]
    body = "\n\n".join(part for part in text if part)
    while len(body) > MAX_BODY:
        body = body[: body.rstrip("\n").rfind("\n")]
    return Report(
        fingerprint=ROLL_UP,
        title=f"ciguard: {len(listed)} further finding{'' if is_one else 's'}",
        body=body,
        slug="further-findings",
    )


def _listed(group: BucketGroup) -> str:
    bucket = group.shown_member.bucket
    others = len({member.bucket.finding.api for member in group.members}) - 1
    return (
        f"| {bucket.finding.severity.label}, {class_of(bucket.finding).words} "
        f"| {markdown_code(bucket.finding.api)}{f' and {others} more' if others else ''} "
        f"| {markdown_code(line_of(bucket.finding), limit=100)} | `{bucket.fingerprint}` |"
    )
