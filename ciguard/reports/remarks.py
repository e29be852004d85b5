"""Remarks at lines of a pull request's sources: one per new cause, then the caveats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.findings import INCONCLUSIVE, Comparison, Confirmation, PairKind, Verdict
from ciguard.domain.policy import Action, class_of
from ciguard.domain.remarks import Remark, RemarkLevel
from ciguard.domain.text import command_text, shortened, visible
from ciguard.reports.caveats import caveats
from ciguard.reports.entries import entries
from ciguard.reports.wording import message_without_api, publishable, short_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.events import RunFinished
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.policy import Policy
    from ciguard.reports.entries import Entry
    from ciguard.reports.places import Places

LEVELS = {
    Action.FAIL: RemarkLevel.ERROR,
    Action.FILE: RemarkLevel.WARNING,
    Action.REPORT: RemarkLevel.NOTICE,
    Action.OFF: RemarkLevel.NOTICE,
}
"""Action of the policy → level of the remark."""
_COMPARED = INCONCLUSIVE | {Verdict.NEW_FINDINGS, Verdict.CLEAN}
"""Verdicts of runs that were compared with a baseline or a base."""
MAX_PER_LEVEL = 10
"""Maximum number of annotations per level that GitHub shows for one step."""
_MAX_COMMAND = 4_096
"""Maximum number of characters in one workflow command."""
_MAX_TITLE = 200
_MAX_TARGETS = 5
_LEVEL_ORDER = list(RemarkLevel)


def targets_text(finding: Finding) -> str:
    """Return the end of a sentence with the targets that show a finding, e.g. `on A, unlike B`."""
    names = [publishable(name, limit=80) for name in finding.targets]
    if finding.pair is not PairKind.NONE and len(names) > 1:
        return f"on {names[1]}, unlike {names[0]}"
    more = f" and {len(names) - _MAX_TARGETS} more" if len(names) > _MAX_TARGETS else ""
    return f"on {', '.join(names[:_MAX_TARGETS])}{more}"


def is_new(bucket: Bucket) -> bool:
    """Return whether a bucket is new and confirmed."""
    return bucket.comparison is Comparison.NEW and bucket.confirmation is Confirmation.CONFIRMED


def remarks(event: RunFinished, places: Places, policy: Policy) -> list[Remark]:
    """Return the remarks of a run, sorted by level; within a level, new causes precede caveats.

    A run that establishes the baseline, or is one part of a campaign, has no new causes.
    """
    is_compared = event.verdict in _COMPARED
    new = entries(bucket for bucket in event.buckets if is_new(bucket) and is_compared)
    all_remarks = [_cause_remark(entry, places, policy) for entry in new]
    all_remarks += [
        Remark(
            level=RemarkLevel.WARNING if caveat.is_grave else RemarkLevel.NOTICE,
            title="ciguard",
            message=publishable(caveat.text),
        )
        for caveat in caveats(event, places.plan)
    ]
    return sorted(all_remarks, key=lambda remark: _LEVEL_ORDER.index(remark.level))


def _cause_remark(entry: Entry, places: Places, policy: Policy) -> Remark:
    """Return the remark of a new cause, at the place of its most severe bucket."""
    bucket = entry.most_severe
    finding = bucket.finding
    api = publishable(finding.api, limit=120)
    message = publishable(message_without_api(finding), limit=600)
    also = f"{entry.others_text} " if entry.others_text else ""
    return Remark(
        level=LEVELS[max(policy.action(member.finding) for member in entry.buckets)],
        title=shortened(f"NEW {class_of(finding).words}: {api}", _MAX_TITLE),
        message=(
            f"{message} {targets_text(finding)} ({finding.severity.label}). {also}"
            f"Run it again: ciguard reproduce {short_fingerprint(bucket.fingerprint)}"
        ),
        place=places.locate(bucket)[0],
    )


def workflow_commands(remarks: list[Remark]) -> Iterator[str]:
    """Yield remarks as workflow commands, at most `MAX_PER_LEVEL` of each level.

    If a level has more, its last command states how many are omitted.
    """
    for level in RemarkLevel:
        shown = [remark for remark in remarks if remark.level is level]
        more = len(shown) - MAX_PER_LEVEL
        if more > 0:
            message = (
                f"{more + 1} more findings are not shown here, because GitHub limits "
                "annotations: see the summary."
            )
            shown = [
                *shown[: MAX_PER_LEVEL - 1],
                Remark(level=level, title="ciguard", message=message),
            ]
        yield from map(_command, shown)


def _command(remark: Remark) -> str:
    """Return a remark as a workflow command, shortened to the maximum length."""
    properties = {"title": remark.title}
    if remark.place is not None:
        properties = {
            "file": visible(remark.place.path, limit=500),
            "line": str(remark.place.line),
            **properties,
        }
    encoded = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    max_length = _MAX_COMMAND - len(encoded)
    message = remark.message
    while len(command_text(message)) > max_length:
        message = message[: len(message) // 2]
    return f"::{remark.level.value} {encoded}::{command_text(message)}"


def _property(text: str) -> str:
    """Return a property of a workflow command, with its separators escaped."""
    return command_text(text).replace(":", "%3A").replace(",", "%2C")
