"""What a pull request shows at lines of its sources: one remark per new cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.findings import Comparison, Confirmation, PairKind, Verdict
from ciguard.domain.policy import Action, class_of
from ciguard.domain.remarks import Remark, RemarkLevel
from ciguard.domain.text import command_text, shortened, visible
from ciguard.reports.caveats import caveats
from ciguard.reports.entries import entries
from ciguard.reports.wording import claim, publishable, short

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
"""By what is done about a finding."""
_COMPARED = frozenset({Verdict.NEW_FINDINGS, Verdict.CLEAN, Verdict.NOT_RUN, Verdict.INTERRUPTED})
"""Verdicts of runs that were compared with something."""
MAX_PER_LEVEL = 10
"""Of one level that GitHub shows for one step."""
_MAX_COMMAND = 4_096
"""Characters of a command's message."""
_MAX_TITLE = 200
_MAX_TARGETS = 5
_LOUDEST_FIRST = list(RemarkLevel)


def where_text(finding: Finding) -> str:
    """Return on which targets something was found, as the end of a sentence."""
    names = [publishable(name, limit=80) for name in finding.targets]
    if finding.pair is not PairKind.NONE and len(names) > 1:
        return f"on {names[1]}, unlike {names[0]}"
    more = f" and {len(names) - _MAX_TARGETS} more" if len(names) > _MAX_TARGETS else ""
    return f"on {', '.join(names[:_MAX_TARGETS])}{more}"


def is_new(bucket: Bucket) -> bool:
    """Return whether a bucket is new for certain."""
    return bucket.comparison is Comparison.NEW and bucket.confirmation is Confirmation.CONFIRMED


def remarks(event: RunFinished, places: Places, policy: Policy) -> list[Remark]:
    """Return the remarks of a run, the loudest and gravest first: new causes, then caveats.

    A run that establishes the baseline remarks none, nor does one that is to be judged later.
    """
    compares = event.verdict in _COMPARED
    new = entries(bucket for bucket in event.buckets if is_new(bucket) and compares)
    made = [_of_cause(entry, places, policy) for entry in new]
    made += [
        Remark(
            level=RemarkLevel.WARNING if caveat.is_grave else RemarkLevel.NOTICE,
            title="ciguard",
            message=publishable(caveat.text),
        )
        for caveat in caveats(event, places.plan)
    ]
    return sorted(made, key=lambda remark: _LOUDEST_FIRST.index(remark.level))


def _of_cause(entry: Entry, places: Places, policy: Policy) -> Remark:
    bucket = entry.shown
    finding = bucket.finding
    api = publishable(finding.api, limit=120)
    says = publishable(claim(finding), limit=600)
    also = f"{entry.others} " if entry.others else ""
    return Remark(
        level=LEVELS[max(policy.action(each.finding) for each in entry.buckets)],
        title=shortened(f"NEW {class_of(finding).words}: {api}", _MAX_TITLE),
        message=(
            f"{says} {where_text(finding)} ({finding.severity.label}). {also}"
            f"Run it again: ciguard reproduce {short(bucket.fingerprint)}"
        ),
        place=places.of(bucket)[0],
    )


def workflow_commands(said: list[Remark]) -> Iterator[str]:
    """Yield remarks as commands of a workflow's log, as many as GitHub shows for one step.

    Where there are more of a level, its last one says how many.
    """
    for level in RemarkLevel:
        ours = [remark for remark in said if remark.level is level]
        more = len(ours) - MAX_PER_LEVEL
        if more > 0:
            message = f"{more + 1} more, which GitHub does not show here: see the summary."
            ours = [
                *ours[: MAX_PER_LEVEL - 1],
                Remark(level=level, title="ciguard", message=message),
            ]
        yield from map(_command, ours)


def _command(remark: Remark) -> str:
    properties = {"title": remark.title}
    if remark.place is not None:
        properties = {
            "file": visible(remark.place.path, limit=500),
            "line": str(remark.place.line),
            **properties,
        }
    stated = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    room = _MAX_COMMAND - len(stated)
    message = remark.message
    while len(command_text(message)) > room:
        message = message[: len(message) // 2]
    return f"::{remark.level.value} {stated}::{command_text(message)}"


def _property(text: str) -> str:
    return command_text(text).replace(":", "%3A").replace(",", "%2C")
