"""The page: the whole run in one self-contained file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

import ciguard
from ciguard.domain.findings import Comparison, Severity, Verdict, cause_name
from ciguard.domain.policy import FindingClass
from ciguard.errors import ExitCode
from ciguard.reports.caveats import Caveat, caveats
from ciguard.reports.html.buckets import CHUNK, BucketEncoder
from ciguard.reports.html.inputs import mishandled_records
from ciguard.reports.html.pictures import pictures, slug
from ciguard.reports.html.templates import file_markup, style_hash, template_named
from ciguard.reports.html.trees import forest_view
from ciguard.reports.html.upgrade import upgrade_view
from ciguard.reports.html.values import values_view
from ciguard.reports.upgrade import upgrade_of
from ciguard.reports.wording import (
    STATES,
    apis_text,
    by_cause,
    clock_text,
    counts_by_state,
    fixed_text,
    functions_text,
    in_display_order,
    publishable,
    tally_text,
)
from ciguard.triage import tested_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from ciguard.domain.events import RunFinished
    from ciguard.domain.findings import Bucket, TargetSummary
    from ciguard.domain.plan import Plan
    from ciguard.reports.html.observed import RunObservations

_MAX_TARGETS = 100
_MAX_LISTED = 40
_TONES = {
    Verdict.NEW_FINDINGS: "bad",
    Verdict.CLEAN: "good",
    Verdict.ESTABLISHED: "calm",
    Verdict.NOT_RUN: "doubt",
    Verdict.NOT_TESTED: "doubt",
    Verdict.INTERRUPTED: "doubt",
}
_MARKS = {
    "passed": ("P", "returned"),
    "rejected": ("R", "rejected the arguments with an exception"),
    "errored": ("E", "raised an internal error"),
    "crashed": ("C", "crashed the process"),
    "hung": ("H", "did not return in time"),
    "exhausted": ("X", "exceeded a limit of memory or output"),
}
"""Status of an outcome → its mark on the page, and the meaning of the mark."""


def page(
    event: RunFinished, observed: RunObservations, folder: Path, *, now: datetime
) -> Iterator[str]:
    """Yield the HTML of the page in pieces, since it may have 40 MB for a large baseline.

    Args:
        event: the last event of the run.
        observed: the data that the reporter collected from earlier events.
        folder: the output folder of the run, which holds the reproducers.
        now: the time at which the run ends, in UTC.
    """
    template = template_named("page.html.j2")
    plan = observed.started.plan if observed.started else None
    run_caveats = _caveats(event, observed, plan)
    forest = forest_view(observed.forest, in_display_order(event.buckets))
    script, style = file_markup("page.js"), _style()
    return template.generate(
        policy="; ".join(
            (
                "default-src 'none'",
                f"script-src {style_hash(script)}",
                f"style-src {style_hash(style)}",
                "img-src data:",
                "media-src data:",
                "base-uri 'none'",
                "form-action 'none'",
            )
        ),
        script=script,
        style=style,
        tone=_tone(event, run_caveats),
        event=event,
        summary=publishable(event.summary),
        facts=_facts(event, observed, now),
        states=_states(event, fixed_text(event, plan)),
        caveats=[publishable(caveat.text) for caveat in run_caveats],
        warnings=[publishable(warning) for warning in observed.warnings],
        more_warnings=observed.warning_count - len(observed.warnings),
        plan=None if plan is None else _plan_variables(plan),
        pictures=list(pictures(event, observed, now=now)),
        targets=[_target(event, number) for number in range(len(event.targets[:_MAX_TARGETS]))],
        functions=functions_text(event),
        documentation_count=len(observed.documentation),
        upgrade=upgrade_view(upgrade_of(event, plan, observed.documentation)),
        mishandled=mishandled_records(observed.mishandled),
        marks=_MARKS,
        forest=forest,
        values=values_view(event.values),
        **_buckets(event, folder, plan, nodes=forest.nodes if forest else {}),
    )


def _style() -> Markup:
    names = ("page.css", "inputs.css", "upgrade.css", "values.css")
    return Markup("").join(map(file_markup, names))


def _tone(event: RunFinished, run_caveats: list[Caveat]) -> str:
    """Return the page's colour class; `good` becomes `doubt` if there is a grave caveat."""
    tone = _TONES.get(event.verdict, "calm")
    is_grave = any(caveat.is_grave for caveat in run_caveats)
    if event.exit_code == ExitCode.INTERNAL or (tone == "good" and is_grave):
        return "doubt"
    return tone


def _buckets(
    event: RunFinished, folder: Path, plan: Plan | None, *, nodes: Mapping[str, str]
) -> dict[str, Any]:
    """Return the template's variables about buckets: JSON for the page's script, and counts."""
    buckets = in_display_order(event.buckets)
    fixed = fixed_text(event, plan)
    encoder = BucketEncoder(
        folder=folder,
        history=event.history,
        issues=event.parameters.get("issues", ""),
        plan=plan,
        nodes=nodes,
        fingerprints={
            cause_name(group[0]): [bucket.fingerprint for bucket in group]
            for group in by_cause(buckets)
        },
    )
    rows, chunks = encoder.rows_and_details(buckets)
    head = {
        "targets": list(encoder.targets),
        "chunk": CHUNK,
        "severities": [severity.label for severity in sorted(Severity, reverse=True)],
        "states": {name: _state_words(name, fixed) for name in STATES},
        "marks": {name: mark for name, (mark, _) in _MARKS.items()},
        "classes": {item.value: item.words for item in FindingClass},
        "parts": sorted({publishable(tested_part(bucket.finding), limit=60) for bucket in buckets}),
        "kinds": _kinds(buckets),
    }
    return {
        "head": htmlsafe_json_dumps(head),
        "rows": map(Markup, rows),  # each is escaped JSON
        "chunks": map(Markup, chunks),  # each is escaped JSON
        "left_out": len(buckets) - len(rows),
        "total": len(buckets),
    }


def _kinds(buckets: Sequence[Bucket]) -> list[str]:
    kinds = {publishable(f"{b.finding.oracle}/{b.finding.kind}", limit=80) for b in buckets}
    return sorted(kinds)[:200]


def _state_words(name: str, fixed: str) -> str:
    return (fixed if name == Comparison.FIXED.value else name).upper()


def _states(event: RunFinished, fixed: str) -> list[dict[str, Any]]:
    """Return the template's variables for the filter buttons, one per state."""
    return [
        {"name": name, "slug": slug(name), "words": _state_words(name, fixed), "count": count}
        for name, count in counts_by_state(event.buckets).items()
        if count or name == Comparison.NEW.value
    ]


def _facts(event: RunFinished, observed: RunObservations, now: datetime) -> list[tuple[str, str]]:
    """Return name and value of each property of the run in the page's head."""
    started = observed.started
    cases = sum(target.tally.total for target in event.targets)
    facts = [
        ("finished", now.strftime("%Y-%m-%d %H:%M UTC")),
        # For a merge, the time is meaningless; the table of stages has the time of its parts.
        ("merged from", f"{len(event.parts):,} parts")
        if len(event.parts) > 1
        else ("took", clock_text((now - observed.started_at).total_seconds())),
        ("cases", f"{cases:,}"),
        ("targets", f"{len(event.targets):,}"),
    ]
    if started is not None:
        mode = [("mode", started.plan.mode.value)] if started.plan else []
        facts += [
            *mode,
            ("levels", publishable(", ".join(started.levels))),
            ("seed", str(started.seed)),
        ]
    if event.baseline is not None:
        baseline_text = f"{event.baseline.state.value} {event.baseline.updated_at[:10]}"
        facts.append(("baseline", publishable(baseline_text.strip())))
    return [*facts, ("exit code", str(event.exit_code)), ("ciguard", ciguard.__version__)]


def _caveats(event: RunFinished, observed: RunObservations, plan: Plan | None) -> list[Caveat]:
    """Return the caveats about the verdict, and one for each target that could not be set up."""
    target_names = {target.name for target in event.targets}
    unavailable = [
        Caveat(f"NOT RUN: {name}: {reason}")
        for name, reason in list(observed.unavailable.items())[:_MAX_LISTED]
        if name not in target_names
    ]
    return [*caveats(event, plan), *unavailable]


def _plan_variables(plan: Plan) -> dict[str, Any]:
    """Return the template's variables about the plan."""
    return {
        "mode": plan.mode.value,
        "reasons": [publishable(reason) for reason in plan.reasons[:_MAX_LISTED]],
        "changes": [
            {
                "package": publishable(change.package, limit=100),
                "base": publishable(change.base or "not required", limit=60),
                "head": publishable(change.head or "not required", limit=60),
                "place": publishable(f"{change.place.path}:{change.place.line}", limit=200),
            }
            for change in plan.changes[:_MAX_LISTED]
        ],
        "focus": [publishable(glob, limit=120) for glob in plan.focus[:_MAX_LISTED]],
        "more_focus": max(0, len(plan.focus) - _MAX_LISTED),
    }


def _confinement(target: TargetSummary) -> str:
    """Return a phrase: the mechanisms that confine a target's workers, and unblocked attempts."""
    confined = ", ".join(target.confined_by) or "nothing"
    if not target.unconfined:
        return confined
    return f"{confined}; not blocked: {', '.join(target.unconfined)}"


def _target(event: RunFinished, number: int) -> dict[str, str]:
    """Return the template's variables about one target."""
    target = event.targets[number]
    counts = target.tally.as_dict()
    return {
        "name": publishable(target.name, limit=100),
        "what": publishable(
            f"{target.library} {target.version} · Python {target.python} · {target.device}"
        ),
        "confined": publishable(_confinement(target)),
        "apis": apis_text(event, target),
        "cases": tally_text(counts),
        "not_run": publishable(target.not_run),
    }
