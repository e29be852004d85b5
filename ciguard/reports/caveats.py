"""Caveats about a verdict: a stale or missing baseline, and everything that was not run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.baseline_status import BaselineState
from ciguard.domain.findings import Comparison, Verdict
from ciguard.reports.wording import UNCONFIRMED, plural, state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.events import RunFinished
    from ciguard.domain.findings import TargetSummary
    from ciguard.domain.plan import Plan

_MAX_LISTED = 5


@dataclass(frozen=True, slots=True)
class Caveat:
    """One sentence that qualifies the verdict. It may quote untrusted names, so escape it."""

    text: str
    is_grave: bool = True
    """True if the verdict could be wrong because of the caveat."""


def caveats(event: RunFinished, plan: Plan | None) -> list[Caveat]:
    """Return the caveats to show with the verdict, the most important first."""
    without_results = tuple(filter(None, map(no_results_reason, event.targets)))
    grave = [
        *_baseline_caveats(event),
        *_own_code_caveats(event),
        *_not_run_caveats(event, plan),
        *_first_items(without_results),
    ]
    minor = (*_added_caveats(event), *_unfinished_buckets(event), *_detection_caveats(event))
    return [*map(Caveat, grave), *(Caveat(text, is_grave=False) for text in minor)]


def _baseline_caveats(event: RunFinished) -> Iterator[str]:
    """Yield a sentence about a stale or missing baseline."""
    status = event.baseline
    if status is None or status.state is BaselineState.FRESH:
        return
    if status.state is BaselineState.STALE:
        since = f", last updated {status.updated_at[:10]}" if status.updated_at else ""
        yield (
            f"The baseline is STALE{since}: {'; '.join(_first_items(status.reasons))}. "
            "Buckets reported as new may be older than this change."
        )
    elif event.verdict is Verdict.ESTABLISHED:
        yield "The baseline was MISSING. This run establishes it, so nothing was compared."
    elif event.parameters.get("base"):
        yield (
            "The baseline is MISSING, so only buckets that the base shows in this run are known. "
            "Buckets reported as new may be older than this change."
        )
    else:
        yield "The baseline is MISSING, so nothing was compared."


def _own_code_caveats(event: RunFinished) -> Iterator[str]:
    """Yield a sentence if only the base shows that buckets of the user's code are known.

    The base has another version of the library, but the same sources of the user.
    """
    known = [
        bucket
        for bucket in event.buckets
        if bucket.comparison is Comparison.KNOWN
        and bucket.finding.case.is_user_code
        and event.history.keys().isdisjoint((bucket.fingerprint, *bucket.aliases))
    ]
    if known and event.parameters.get("base"):
        count = plural(len(known), "known bucket")
        yield (
            f"The base runs the functions of this checkout, and {count} of functions "
            f"{'is' if len(known) == 1 else 'are'} not in the baseline: this change may have "
            "added the defect. A run on the default branch records the older ones."
        )


def _added_caveats(event: RunFinished) -> Iterator[str]:
    """Yield a sentence about new buckets of the user's code that the base shows, too."""
    base = event.parameters.get("base")
    names = frozenset(map(str, base)) if isinstance(base, list | tuple) else frozenset()
    added = [
        bucket
        for bucket in event.buckets
        if bucket.comparison is Comparison.NEW
        and bucket.finding.case.is_user_code
        and not names.isdisjoint(bucket.finding.targets)
    ]
    if added:
        yield (
            f"The base shows {plural(len(added), 'new bucket')} of functions, too, since it runs "
            "the functions of this checkout. The baseline tested them with the base's version and "
            "without the defect, or does not know them, and their files have changed since: this "
            "change added the defect."
        )


def _not_run_caveats(event: RunFinished, plan: Plan | None) -> Iterator[str]:
    """Yield a sentence for each target and row of the plan that was not run."""
    targets = [f"{target.name}: {target.not_run}" for target in event.targets if target.not_run]
    rows = [
        f"{row.name} ({', '.join(row.targets)} on {row.device}): {row.reason}"
        for row in (plan.skipped if plan else ())
    ]
    yield from (f"NOT RUN: {text}" for text in _first_items((*targets, *rows)))


def no_results_reason(target: TargetSummary) -> str:
    """Return the reason why a target that ran has no results to compare; empty if it has some."""
    counts = target.tally
    if target.not_run or counts.rejected < counts.total:
        return ""
    if counts.total:
        return (
            f"NOTHING RETURNED on {target.name}: all {counts.total:,} cases were rejected, "
            "so nothing was compared."
        )
    reason = (
        f"none of its {target.apis:,} APIs was selected"
        if target.apis
        else "it had nothing to test"
    )
    return f"NOTHING RUN on {target.name}: no case was run, because {reason}."


def _unfinished_buckets(event: RunFinished) -> Iterator[str]:
    """Yield sentences about buckets that were not exercised or not confirmed."""
    not_run = sum(bucket.comparison is Comparison.NOT_RUN for bucket in event.buckets)
    if not_run:
        counts = "it counts" if not_run == 1 else "they count"
        yield (
            f"NOT RUN: this run did not exercise {plural(not_run, 'known bucket')}; "
            f"{counts} neither as clean nor as fixed."
        )
    pending = sum(state(bucket) == UNCONFIRMED for bucket in event.buckets)
    if pending:
        verb = "was" if pending == 1 else "were"
        yield (
            f"UNCONFIRMED: the budget ended before {plural(pending, 'bucket')} {verb} confirmed."
        )


def _detection_caveats(event: RunFinished) -> Iterator[str]:
    """Yield sentences about the planted defects that the run has noticed and missed."""
    detection = event.detection
    if detection is None:
        if event.parameters.get("min_detection"):
            yield "No defects were planted in this run, so min-detection was not checked."
        return
    low, high = detection.interval
    kinds = ", ".join(
        f"{kind.value} {caught}/{planted}"
        for kind, (caught, planted) in detection.by_kind().items()
    )
    yield (
        f"This run noticed {len(detection.caught)} of "
        f"{plural(detection.planted, 'planted defect')} "
        f"({detection.rate:.0%}; 95 % confidence: {low:.0%} to {high:.0%}): {kinds}."
    )
    missed = tuple(
        dict.fromkeys(f"{defect.kind.value} of {defect.api}" for defect in detection.missed)
    )
    uncalled = tuple(dict.fromkeys(defect.api for defect in detection.uncalled))
    without = sum(part.detection is None for part in event.parts)
    if without:
        parts = plural(len(event.parts), "part")
        yield f"This excludes {without} of {parts} of the campaign, which planted no defects."
    if missed:
        yield f"Planted defects that it missed: {', '.join(_first_items(missed))}."
    if uncalled:
        names = ", ".join(_first_items(uncalled))
        yield f"APIs with planted defects that it did not call: {names}."


def was_cut_short(event: RunFinished, plan: Plan | None) -> bool:
    """Return whether the verdict lacks a whole target or row of the plan, which was not run."""
    return any(target.not_run for target in event.targets) or bool(plan and plan.skipped)


def _first_items(texts: tuple[str, ...]) -> list[str]:
    """Return the first texts, and the number of the others."""
    more = len(texts) - _MAX_LISTED
    return [*texts[:_MAX_LISTED], *([f"and {more} more"] if more > 0 else [])]
