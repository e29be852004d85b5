"""What a verdict must not be read without: an old baseline, and everything that was not run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.findings import Comparison, Verdict
from ciguard.domain.standing import BaselineState
from ciguard.reports.wording import UNCONFIRMED, state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.events import RunFinished
    from ciguard.domain.findings import TargetSummary
    from ciguard.domain.plan import Plan

_MAX_LISTED = 5


@dataclass(frozen=True, slots=True)
class Caveat:
    """One sentence. It may hold names from outside: escape it where it is shown."""

    text: str
    is_grave: bool = True
    """Whether the verdict might be another one without it."""


def caveats(event: RunFinished, plan: Plan | None) -> list[Caveat]:
    """Return what must be said beside the verdict, the most important first."""
    silent = tuple(filter(None, map(silence, event.targets)))
    grave = [*_of_baseline(event), *_lost(event, plan), *_listed(silent)]
    return [*map(Caveat, grave), *(Caveat(text, is_grave=False) for text in _left(event))]


def _of_baseline(event: RunFinished) -> Iterator[str]:
    standing = event.baseline
    if standing is None or standing.state is BaselineState.FRESH:
        return
    if standing.state is BaselineState.STALE:
        since = f", last updated {standing.updated_at[:10]}" if standing.updated_at else ""
        yield (
            f"The baseline is STALE{since}: {'; '.join(_listed(standing.reasons))}. "
            "What is called new may be older than this change."
        )
    elif event.verdict is Verdict.ESTABLISHED:
        yield "The baseline was MISSING: this run establishes it, so nothing was compared."
    elif event.parameters.get("base"):
        yield (
            "The baseline is MISSING: only what the base shows in this run is known. What is "
            "called new may be older than this change."
        )
    else:
        yield "The baseline is MISSING: nothing was compared."


def _lost(event: RunFinished, plan: Plan | None) -> Iterator[str]:
    targets = [f"{target.name}: {target.not_run}" for target in event.targets if target.not_run]
    rows = [
        f"{row.name} ({', '.join(row.targets)} on {row.device}): {row.reason}"
        for row in (plan.skipped if plan else ())
    ]
    yield from (f"NOT RUN: {text}" for text in _listed((*targets, *rows)))


def silence(target: TargetSummary) -> str:
    """Return why a target reports nothing although it ran: that is no good sign. Empty if not."""
    counts = target.tally
    if target.not_run or counts.rejected < counts.total:
        return ""
    if counts.total:
        return (
            f"NOTHING RETURNED on {target.name}: each of its {counts.total:,} cases was refused, "
            "so nothing was compared."
        )
    why = f"none of its {target.apis:,} APIs was chosen" if target.apis else "it has no API"
    return f"NOTHING RUN on {target.name}: no case was run, since {why}."


def _left(event: RunFinished) -> Iterator[str]:
    left = sum(bucket.comparison is Comparison.NOT_RUN for bucket in event.buckets)
    if left:
        yield (
            f"NOT RUN: {left} known {_buckets(left)}, which this run did not get to; "
            "neither clean nor fixed."
        )
    pending = sum(state(bucket) == UNCONFIRMED for bucket in event.buckets)
    if pending:
        yield f"NOT RUN to the end: {pending} {_buckets(pending)} could not be confirmed in time."


def was_cut_short(event: RunFinished, plan: Plan | None) -> bool:
    """Return whether a whole target or row is missing, so that a clean verdict is no full one."""
    return any(target.not_run for target in event.targets) or bool(plan and plan.skipped)


def _listed(texts: tuple[str, ...]) -> list[str]:
    more = len(texts) - _MAX_LISTED
    return [*texts[:_MAX_LISTED], *([f"and {more} more"] if more > 0 else [])]


def _buckets(count: int) -> str:
    return "bucket" if count == 1 else "buckets"
